// com.microsoft's MatMulIntegerToFloat: an int8 product, scaled to float, plus a bias. The scale
// and the zero point of A may be run-time inputs, as DynamicQuantizeLinear computes them.
#include "ir/ops/gemm/matmul.h"
#include "ir/ops/quantization/qlinear_attributes.h"
#include "providers/cpu/gemm/qgemm.h"
#include "providers/onednn/kernel_list.h"
#include "providers/onednn/matmul_row_blocks.h"
#include "providers/onednn/primitive/int8_weights.h"
#include "providers/onednn/primitive/partition_axes.h"
#include "providers/onednn/provider.h"

namespace sardonyx::onednn {
namespace {

using ToFloatInput = ops::MatMulIntegerToFloatInput;

const char* why_unsupported_to_float(const KernelRequest& request) {
  if (!is_byte(request.inputs[ToFloatInput::kA].dtype) ||
      !is_byte(request.inputs[ToFloatInput::kB].dtype))
    return "no bytes";
  if (request.outputs[0].dtype != DType::kFloat) return "only float is made here";
  if (!has_exact_byte_products()) return "this CPU's sums of byte products are not exact";
  for (const size_t slot : {ToFloatInput::kB, ToFloatInput::kBScale, ToFloatInput::kBZero}) {
    if (request.has(slot) && !request.inputs[slot].constant) {
      return "the weights, their scales or zero points are no constants";
    }
  }
  for (const size_t slot : {ToFloatInput::kAScale, ToFloatInput::kAZero}) {
    if (request.has(slot) && element_count(request.inputs[slot].shape) != 1) {
      return "more than one scale or zero point of the source";
    }
  }
  return nullptr;
}

Desc row_desc(size_t rank, int64_t size) {
  Extents dims(rank, 1);
  dims.back() = size;
  return plain_desc(memory::data_type::f32, dims);
}

Prepared prepare_block(const KernelRequest& request, const MatMulSpec& product,
                       const CenteredWeights& weights) {
  if (!request.inputs[ToFloatInput::kB].constant)
    return Prepared::refuse("long batches of weights");
  const auto b_scales = request.inputs[ToFloatInput::kBScale].constant->values<float>();
  const size_t rank = product.dst.dims().size();
  IntegerScaling scaling{.source_zero_at_run = request.has(ToFloatInput::kAZero)};
  scaling.scales.assign(b_scales.begin(), b_scales.end());
  scaling.scale_dim = static_cast<int>(rank) - 1;
  const Desc one = row_desc(rank, 1), row = row_desc(rank, product.dst.dims().back());
  scaling.post_ops = {{PostOp::Kind::kBinary, algorithm::binary_mul, 0, 0, one}};
  if (request.has(ToFloatInput::kBias)) {
    scaling.post_ops.push_back({PostOp::Kind::kBinary, algorithm::binary_add, 0, 0, row});
  }
  ProductSpec spec{product.a, any_desc(memory::data_type::s8, product.b.dims()), {}, product.dst};
  const auto make = [&](const ProductSpec& part, const std::vector<Desc>&) {
    return matmul(part, attributes(scaling));
  };
  const MaybePrimitive primitive = make(spec, {});
  if (!primitive || primitive->is_reference()) return Prepared::refuse("no fast form in oneDNN");
  SequenceBuilder builder(request);
  SequenceBuilder::Args args{{DNNL_ARG_SRC, builder.input(ToFloatInput::kA, product.a)},
                             {DNNL_ARG_WEIGHTS, place_weights(builder, ToFloatInput::kB, weights,
                                                              product.b, primitive->weights())},
                             {binary_argument(0), builder.input_as(ToFloatInput::kAScale, one)}};
  if (request.has(ToFloatInput::kBias))
    args.emplace_back(binary_argument(1), builder.input_as(ToFloatInput::kBias, row));
  if (request.has(ToFloatInput::kAZero)) {
    const auto zero = builder.scratch(plain_desc(memory::data_type::s32, {1}));
    builder.copy(builder.input_as(ToFloatInput::kAZero,
                                  plain_desc(request.inputs[ToFloatInput::kA].dtype, {1})),
                 zero);
    args.emplace_back(kSourceZeroPoint, zero);
  }
  args.emplace_back(DNNL_ARG_DST, builder.output(0, product.dst));
  // The work is split by rows only: the scales and bias of columns cannot be sliced.
  spec.weights = primitive->weights();
  Work work = work_of_product(spec, {}, make);
  keep_whole(work, DNNL_ARG_WEIGHTS);
  builder.step(*primitive, args, work);
  return builder.finish(primitive->implementation());
}

// Prepares the CPU provider's int8 GEMM, which is faster than oneDNN's without AMX.
Prepared prepare_own(const KernelRequest& request, const CenteredWeights& weights) {
  cpu::GemmU8S8 product{.a = ToFloatInput::kA,
                        .b = ToFloatInput::kB,
                        .weights = weights,
                        .a_scale_input = ToFloatInput::kAScale};
  if (request.has(ToFloatInput::kAZero)) product.a_zero_input = ToFloatInput::kAZero;
  if (request.has(ToFloatInput::kBias)) product.bias_input = ToFloatInput::kBias;
  const auto scales = request.inputs[ToFloatInput::kBScale].constant->values<float>();
  product.scales.assign(scales.begin(), scales.end());
  return cpu::prepare_gemm_u8s8(request, product);
}

Prepared prepare_to_float(const KernelRequest& request) {
  if (const char* why = why_unsupported_to_float(request)) return Prepared::refuse(why);
  const MatMulDims dims =
      matmul_dims(request.inputs[ToFloatInput::kA].shape, request.inputs[ToFloatInput::kB].shape);
  const size_t rank = dims.dst.size();
  const int64_t columns = dims.dst.back();
  if (rank > kMaxRank) return Prepared::refuse("too many batch dims");
  for (const size_t slot : {ToFloatInput::kBScale, ToFloatInput::kBZero}) {
    if (!request.has(slot)) continue;
    const int64_t count = element_count(request.inputs[slot].shape);
    if (count != 1 && (count != columns || request.inputs[ToFloatInput::kB].shape.size() != 2)) {
      return Prepared::refuse("scales or zero points of the weights that differ between matrices");
    }
  }
  if (request.has(ToFloatInput::kBias) &&
      !ops::is_row(request.inputs[ToFloatInput::kBias].shape, columns)) {
    return Prepared::refuse("the bias is not one row");
  }
  const Tensor& b = *request.inputs[ToFloatInput::kB].constant;
  const Tensor* b_zero =
      request.has(ToFloatInput::kBZero) ? request.inputs[ToFloatInput::kBZero].constant : nullptr;
  const auto weights = CenteredWeights::of(b, b_zero, 1);
  const auto moved = weights ? std::nullopt : CenteredWeights::moved(b, b_zero);
  if (!weights && !moved) return Prepared::refuse(kNoInt8);
  Prepared own =
      noted(request, cpu::kGemmU8S8[0],
            weights && onednn_uses_amx() ? Prepared::refuse(kAmxIsFaster)
                                         : prepare_own(request, weights ? *weights : *moved));
  if (own.kernel) return own;
  if (!weights) return Prepared::refuse(kNoInt8);
  const Desc src = plain_desc(data_type_of(request.inputs[ToFloatInput::kA].dtype), dims.a);
  const Desc stored = plain_desc(memory::data_type::s8, dims.b);
  const Desc dst = plain_desc(memory::data_type::f32, dims.dst);
  return prepare_in_blocks(request, {src, stored, dst},
                           [&](const KernelRequest& part, const MatMulSpec& block) {
                             return prepare_block(part, block, *weights);
                           });
}

constexpr KernelEntry kQuantizedToFloatKernels[] = {
    {"com.microsoft::MatMulIntegerToFloat", "matmul", guarded<prepare_to_float>, cpu::kGemmU8S8},
};

}  // namespace

std::span<const KernelEntry> matmul_integer_to_float_kernels() {
  return kQuantizedToFloatKernels;
}

}  // namespace sardonyx::onednn
