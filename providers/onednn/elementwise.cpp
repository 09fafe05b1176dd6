// Elementwise ops on float32 values in a blocked layout, which the result keeps, so that a chain of
// convolutions stays blocked from end to end; row-major values are left to other providers. Also
// bfloat16 values in any layout, and Cast between both types.
#include <cmath>
#include <limits>

#include "ir/ops/elementwise/fused_elementwise.h"
#include "providers/onednn/float_types.h"
#include "providers/onednn/kernel_list.h"
#include "providers/onednn/post_op_eltwise.h"
#include "providers/onednn/primitive/partition_axes.h"
#include "providers/onednn/primitive/primitive_sequence.h"

namespace sardonyx::onednn {
namespace {

// Whether no other provider has a fast kernel for this tensor.
bool is_ours_alone(const KernelTensor& tensor) {
  return tensor.layout || tensor.dtype == DType::kBFloat16;
}

const char* why_unsupported_elementwise(const KernelRequest& request) {
  bool is_ours = false;
  for (const KernelTensor& input : request.inputs) {
    if (!input) continue;
    if (const char* why = why_unsupported_type(request, input.dtype)) return why;
    is_ours |= is_ours_alone(input);
  }
  return is_ours ? nullptr : "no input has a blocked layout";
}

// Runs the elementwise operations of `chain` one after the other, the later ones in place.
Prepared build_unary(const KernelRequest& request, const PostOps& chain) {
  const Desc data = desc_of(request.inputs[0]);
  SequenceBuilder builder(request);
  const auto source = builder.input(0, data), target = builder.output(0, data);
  if (!add_eltwise(builder, chain, data, source, target))
    return Prepared::refuse("oneDNN has no such elementwise operation");
  builder.allow_alias(0, 0);
  return builder.finish();
}

Prepared prepare_activation(const KernelRequest& request) {
  if (const char* why = why_unsupported_elementwise(request)) return Prepared::refuse(why);
  return build_unary(request,
                     post_ops_of({std::string(ops::grouped_name(request.op, request.raw_attrs)),
                                  ops::float_params(request.op, request.raw_attrs)}));
}

// A bound of Clip: `otherwise` where the input is omitted, nullopt where it is not constant.
std::optional<float> bound(const KernelRequest& request, size_t input, float otherwise) {
  if (!request.has(input)) return otherwise;
  const Tensor* value = request.inputs[input].constant;
  return value ? std::optional(static_cast<float>(value->to_doubles()[0])) : std::nullopt;
}

Prepared prepare_clip(const KernelRequest& request) {
  if (const char* why = why_unsupported_elementwise(request)) return Prepared::refuse(why);
  const auto low = bound(request, 1, -std::numeric_limits<float>::infinity());
  const auto high = bound(request, 2, std::numeric_limits<float>::infinity());
  if (!low || !high) return Prepared::refuse("the bounds are no constants");
  if (!(*low <= *high)) return Prepared::refuse("the bounds are out of order");
  return build_unary(request, post_ops_of({"Clip", {*low, *high}}));
}

template <algorithm op, int alpha = 0>
Prepared prepare_unary(const KernelRequest& request) {
  if (const char* why = why_unsupported_elementwise(request)) return Prepared::refuse(why);
  return build_unary(request, {{PostOp::Kind::kEltwise, op, alpha, 0, {}}});
}

Extents aligned_dims(const Shape& shape, size_t rank) {
  Extents dims = shape;
  dims.insert(dims.begin(), rank - shape.size(), 1);
  return dims;
}

template <algorithm op, bool commutes>
Prepared prepare_binary(const KernelRequest& request) {
  if (const char* why = why_unsupported_elementwise(request)) return Prepared::refuse(why);
  if (request.inputs.size() != 2) return Prepared::refuse("not two inputs");
  const Shape& result = request.outputs[0].shape;
  // The first operand must be whole and, if possible, the one whose layout stays.
  const auto is_model = [&](size_t index) {
    return is_ours_alone(request.inputs[index]) && request.inputs[index].shape == result;
  };
  const size_t model = is_model(0) ? 0 : 1;
  if (!is_model(model)) return Prepared::refuse("what has a layout is repeated");
  size_t first = request.inputs[0].shape == result ? 0 : 1;
  if (commutes) first = model;
  if (first == 1 && !commutes) return Prepared::refuse("the first operand is repeated");
  const Desc data = desc_of(request.inputs[model]);
  // A broadcast operand must have the same blocks.
  const Extents other_dims = aligned_dims(request.inputs[1 - first].shape, result.size());
  const auto other = other_dims == result ? data : same_format(data, other_dims);
  if (!other) return Prepared::refuse("an unusual layout");
  const MaybePrimitive primitive = binary(op, data, *other, data, attributes());
  if (!primitive || primitive->is_reference()) return Prepared::refuse("no fast form in oneDNN");
  SequenceBuilder builder(request);
  builder.step(
      *primitive,
      {{DNNL_ARG_SRC_0, builder.input(first, data)},
       {DNNL_ARG_SRC_1,
        builder.weights(1 - first, plain_desc(data.data_type(), other_dims), *other)},
       {DNNL_ARG_DST, builder.output(0, data)}},
      work_of_elements({{DNNL_ARG_SRC_0, data}, {DNNL_ARG_SRC_1, *other}, {DNNL_ARG_DST, data}},
                       data, [](const ArgumentDescs& own) {
                         return binary(op, own.at(DNNL_ARG_SRC_0), own.at(DNNL_ARG_SRC_1),
                                       own.at(DNNL_ARG_DST), attributes());
                       }));
  // The elements of partly filled blocks are computed twice, which must not happen in place.
  const bool is_padded =
      data.get_size() > bytes_for(request.outputs[0].dtype, element_count(result));
  if (!is_padded) builder.allow_alias(0, first);
  return builder.finish();
}

// Cast between float32 and bfloat16 in the layout of the input.
Prepared prepare_cast(const KernelRequest& request) {
  if (!request.inputs[0].layout) return Prepared::refuse("rows are left to who converts rows");
  const DType to = request.outputs[0].dtype;
  if (!takes_bfloat16(request) || !takes_float(request, request.inputs[0].dtype) ||
      !takes_float(request, to)) {
    return Prepared::refuse("only float32 and bfloat16, where it was chosen");
  }
  const Desc from = desc_of(request.inputs[0]);
  const Desc target = with_type(from, data_type_of(to));
  const MaybePrimitive primitive = reorder(from, target, attributes());
  if (!primitive) return Prepared::refuse("oneDNN has no such conversion");
  SequenceBuilder builder(request);
  builder.step(*primitive,
               {{DNNL_ARG_FROM, builder.input(0, from)}, {DNNL_ARG_TO, builder.output(0, target)}},
               work_of_copy(from, target));
  return builder.finish();
}

constexpr KernelEntry kElementwiseKernels[] = {
    {"Cast", "reorder", guarded<prepare_cast>},
    {"Relu", "eltwise", guarded<prepare_activation>},
    {"LeakyRelu", "eltwise", guarded<prepare_activation>},
    {"Sigmoid", "eltwise", guarded<prepare_activation>},
    {"Tanh", "eltwise", guarded<prepare_activation>},
    {"Elu", "eltwise", guarded<prepare_activation>},
    {"HardSigmoid", "eltwise", guarded<prepare_activation>},
    {"HardSwish", "eltwise", guarded<prepare_activation>},
    {"Swish", "eltwise", guarded<prepare_activation>},
    {"Gelu", "eltwise", guarded<prepare_activation>},
    {"Clip", "eltwise", guarded<prepare_clip>},
    {"Abs", "eltwise", guarded<prepare_unary<algorithm::eltwise_abs>>},
    {"Exp", "eltwise", guarded<prepare_unary<algorithm::eltwise_exp>>},
    {"Sqrt", "eltwise", guarded<prepare_unary<algorithm::eltwise_sqrt>>},
    {"Neg", "eltwise", guarded<prepare_unary<algorithm::eltwise_linear, -1>>},
    {"Mish", "eltwise", guarded<prepare_unary<algorithm::eltwise_mish>>},
    {"Add", "binary", guarded<prepare_binary<algorithm::binary_add, true>>},
    {"Sum", "binary", guarded<prepare_binary<algorithm::binary_add, true>>},
    {"Sub", "binary", guarded<prepare_binary<algorithm::binary_sub, false>>},
    {"Mul", "binary", guarded<prepare_binary<algorithm::binary_mul, true>>},
    {"Div", "binary", guarded<prepare_binary<algorithm::binary_div, false>>},
    {"Max", "binary", guarded<prepare_binary<algorithm::binary_max, true>>},
    {"Min", "binary", guarded<prepare_binary<algorithm::binary_min, true>>},
};

}  // namespace

std::span<const KernelEntry> elementwise_kernels() {
  return kElementwiseKernels;
}

}  // namespace sardonyx::onednn
