// QLinearConv, QLinearMatMul and com.microsoft's QGemm: sums of byte products, scaled, rounded half
// to even, moved by the zero point and saturated. Sums are exact; they are scaled in float, as the
// reference of QLinearConv does it.
#include <algorithm>

#include "ir/ops/conv/conv.h"
#include "ir/ops/gemm/matmul.h"
#include "ir/ops/quantization/qlinear_attributes.h"
#include "providers/cpu/conv/qconv_igemm.h"
#include "providers/cpu/gemm/qgemm.h"
#include "providers/onednn/conv/conv.h"
#include "providers/onednn/conv/conv_row_tiles.h"
#include "providers/onednn/kernel_list.h"
#include "providers/onednn/matmul_row_blocks.h"
#include "providers/onednn/primitive/int8_weights.h"
#include "providers/onednn/primitive/partition_axes.h"
#include "providers/onednn/provider.h"

namespace sardonyx::onednn {
namespace {

// The indices of the ops' inputs; SIZE_MAX where an op has no such input.
struct Slots {
  size_t x = 0, x_scale = 1, x_zero = 2, w = 3, w_scale = 4, w_zero = 5, y_scale = 6, y_zero = 7,
         bias = 8;
};
constexpr Slots kQLinear{};
constexpr Slots kQGemm{.y_scale = 7, .y_zero = 8, .bias = 6};

// The parameters of a request after all scales and zero points are read.
struct Parameters {
  IntegerScaling scaling;
  const Tensor* weight_zeros = nullptr;
  const char* refusal = nullptr;
};

const Tensor* constant_of(const KernelRequest& request, size_t slot) {
  return request.has(slot) ? request.inputs[slot].constant : nullptr;
}

const char* refusal(const KernelRequest& request, const Slots& slots) {
  if (!is_byte(request.inputs[slots.x].dtype) || !is_byte(request.inputs[slots.w].dtype)) {
    return "no bytes";
  }
  if (!has_exact_byte_products()) return "this CPU's sums of byte products are not exact";
  for (const size_t slot : {slots.x_scale, slots.x_zero, slots.w, slots.w_scale, slots.w_zero,
                            slots.y_scale, slots.y_zero}) {
    if (request.has(slot) && !request.inputs[slot].constant) {
      return "weights, scales or zero points are no constants";
    }
  }
  for (const size_t slot : {slots.x_scale, slots.w_scale, slots.y_scale}) {
    if (request.has(slot) && request.inputs[slot].dtype != DType::kFloat) {
      return "only scales of type float";
    }
  }
  for (const size_t slot : {slots.x_scale, slots.x_zero, slots.y_scale, slots.y_zero}) {
    if (request.has(slot) && element_count(request.inputs[slot].shape) != 1) {
      return "more than one scale or zero point of the source or the result";
    }
  }
  return nullptr;
}

// Reads scales and zero points. The result has `channels` channels along dim `scale_dim`, which may
// have scales of their own.
Parameters read_parameters(const KernelRequest& request, const Slots& slots, int64_t channels,
                           int scale_dim, float factor) {
  Parameters parameters;
  parameters.refusal = refusal(request, slots);
  if (parameters.refusal) return parameters;
  const auto one = [&](size_t slot) {
    const Tensor* value = constant_of(request, slot);
    return value ? static_cast<int32_t>(value->to_int64s()[0]) : 0;
  };
  const auto floats = [&](size_t slot) { return constant_of(request, slot)->values<float>(); };
  const auto weight_scales = floats(slots.w_scale);
  parameters.weight_zeros = constant_of(request, slots.w_zero);
  for (const size_t slot : {slots.w_scale, slots.w_zero}) {
    const Tensor* value = constant_of(request, slot);
    if (value && value->count() != 1 && value->count() != channels) {
      parameters.refusal = "scales or zero points of the weights that differ between matrices";
      return parameters;
    }
  }
  IntegerScaling& scaling = parameters.scaling;
  scaling.source_zero = one(slots.x_zero);
  scaling.destination_zero = one(slots.y_zero);
  scaling.scale_dim = scale_dim;
  scaling.scales.clear();
  for (const float weight_scale : weight_scales) {
    float scale = floats(slots.x_scale)[0] * weight_scale * factor;
    if (request.has(slots.y_scale)) scale /= floats(slots.y_scale)[0];
    scaling.scales.push_back(scale);
  }
  // Without a zero point the conversion to the destination's type rounds by itself.
  if (scaling.destination_zero != 0) {
    scaling.post_ops.push_back({PostOp::Kind::kEltwise, algorithm::eltwise_round, 0, 0, {}});
  }
  return parameters;
}

struct LayerDescs {
  Desc src, stored, bias, dst;  // as the request has them; bias: none where there is none
};

Prepared build(const KernelRequest& request, const Slots& slots, const CenteredWeights& weights,
               const LayerDescs& layer, const MaybePrimitive& primitive, const Work& work,
               const TiledConvolution* whole = nullptr, const std::vector<ConvTile>& tiles = {}) {
  if (!primitive || primitive->is_reference()) return Prepared::refuse("no fast form in oneDNN");
  SequenceBuilder builder(request);
  SequenceBuilder::Args args{{DNNL_ARG_WEIGHTS, place_weights(builder, slots.w, weights,
                                                              layer.stored, primitive->weights())}};
  if (!layer.bias.is_zero()) {
    args.emplace_back(DNNL_ARG_BIAS, builder.input_as(slots.bias, layer.bias));
  }
  if (!tiles.empty()) {
    add_tiles(builder, *whole, tiles, args);
    return builder.finish(primitive->implementation() + " in tiles");
  }
  args.emplace_back(DNNL_ARG_SRC, builder.input(slots.x, layer.src));
  args.emplace_back(DNNL_ARG_DST, builder.output(0, layer.dst));
  builder.step(*primitive, args, work);
  return builder.finish(primitive->implementation());
}

Prepared prepare_quantized_conv(const KernelRequest& request) {
  const Shape& x = request.inputs[kQLinear.x].shape;
  const Shape& w = request.inputs[kQLinear.w].shape;
  if (x.size() < 3 || x.size() > 5) return Prepared::refuse("only 1 to 3 spatial axes");
  const Parameters parameters = read_parameters(request, kQLinear, w[0], 1, 1);
  if (parameters.refusal) return Prepared::refuse(parameters.refusal);
  const auto& attrs = request.attrs<ops::ConvAttrs>();
  const ops::Window window = ops::conv_window(request.op.name, attrs, x, w);
  const auto centered = CenteredWeights::of(*request.inputs[kQLinear.w].constant,
                                            parameters.weight_zeros, element_count(w) / w[0]);
  if (!centered) return Prepared::refuse(kNoInt8);
  Prepared own = onednn_uses_amx()
                     ? noted(request, cpu::kQConvIgemm, Prepared::refuse(kAmxIsFaster))
                     : cpu::prepare_qconv({request,
                                           {kQLinear.x, kQLinear.w, kQLinear.bias},
                                           window,
                                           attrs.group,
                                           *centered,
                                           parameters.scaling.source_zero,
                                           parameters.scaling.destination_zero,
                                           parameters.scaling.scales});
  if (own.kernel) return own;
  const Extents weights = grouped_weights(w, attrs.group);
  ConvolutionSpec spec;
  spec.src = any_desc(data_type_of(request.inputs[kQLinear.x].dtype), x);
  spec.weights = any_desc(memory::data_type::s8, weights);
  spec.dst = any_desc(request.outputs[0].dtype, request.outputs[0].shape);
  if (request.has(kQLinear.bias)) spec.bias = plain_desc(memory::data_type::s32, {w[0]});
  spec.strides = window.strides;
  spec.dilations = window.dilations;
  spec.pads_begin = window.pads_begin;
  spec.pads_end = window.pads_end;
  MaybePrimitive primitive = convolution(spec, attributes(parameters.scaling));
  if (!primitive) return Prepared::refuse("no fast form in oneDNN");
  // oneDNN 2.6 fails to generate code for few channels of a group, for instance.
  if (!primitive->can_be_made()) return Prepared::refuse("oneDNN can't generate code for it");
  TiledConvolution whole;
  whole.spec = spec;
  whole.from = primitive->src(), whole.weights = primitive->weights();
  whole.made = primitive->dst();
  whole.layouts = request.layouts;
  whole.make = [&](const ConvolutionSpec& part) -> MaybePrimitive {
    MaybePrimitive made = convolution(part, attributes(parameters.scaling));
    return made && made->can_be_made() ? made : std::nullopt;
  };
  const LayerDescs layer{primitive->src(), plain_desc(memory::data_type::s8, weights), spec.bias,
                         primitive->dst()};
  spec.src = layer.src, spec.weights = whole.weights, spec.dst = layer.dst;
  Work work = work_of_convolution(spec, whole.make);
  if (parameters.scaling.scales.size() > 1) keep_whole(work, DNNL_ARG_WEIGHTS);
  return build(request, kQLinear, *centered, layer, primitive, work, &whole,
               tiles_of(whole, tile_size(whole)));
}

// A row-major tensor of `rank` dims, all 1 but the last, which is `size`.
Desc row_desc(memory::data_type type, size_t rank, int64_t size) {
  Extents dims(rank, 1);
  dims.back() = size;
  return plain_desc(type, dims);
}

Prepared prepare_product(const KernelRequest& request, const Slots& slots, bool transA, bool transB,
                         float alpha) {
  const MatMulDims dims =
      matmul_dims(request.inputs[slots.x].shape, request.inputs[slots.w].shape, transA, transB);
  if (dims.a.size() > kMaxRank) return Prepared::refuse("too many batch dims");
  const size_t rank = dims.dst.size();
  const int64_t columns = dims.dst.back();
  const bool is_one_matrix =
      element_count(request.inputs[slots.w].shape) == dims.b[rank - 2] * dims.b[rank - 1];
  const Parameters parameters = read_parameters(request, slots, is_one_matrix ? columns : 1,
                                                static_cast<int>(rank) - 1, alpha);
  if (parameters.refusal) return Prepared::refuse(parameters.refusal);
  const auto lying = [](memory::data_type type, Extents given, bool transposed) {
    if (!transposed) return plain_desc(type, given);
    std::swap(given[given.size() - 2], given[given.size() - 1]);
    return transposed_desc(type, given);
  };
  LayerDescs layer;
  layer.src = lying(data_type_of(request.inputs[slots.x].dtype), dims.a, transA);
  layer.stored = lying(memory::data_type::s8, dims.b, transB);
  layer.dst = plain_desc(data_type_of(request.outputs[0].dtype), dims.dst);
  const int64_t channel_step = transB ? dims.b[rank - 1] : 1;
  if (request.has(slots.bias)) {
    if (!ops::is_row(request.inputs[slots.bias].shape, columns))
      return Prepared::refuse("the bias is not one row");
    layer.bias = row_desc(memory::data_type::s32, rank, columns);
  }
  const auto centered =
      CenteredWeights::of(*request.inputs[slots.w].constant, parameters.weight_zeros, channel_step);
  const Tensor& w = *request.inputs[slots.w].constant;
  const auto moved = centered ? std::nullopt : CenteredWeights::moved(w, parameters.weight_zeros);
  if (!centered && !moved) return Prepared::refuse(kNoInt8);
  if (!transA) {
    cpu::GemmU8S8 own{.a = slots.x,
                      .b = slots.w,
                      .b_transposed = transB,
                      .weights = centered ? *centered : *moved};
    own.a_zero = parameters.scaling.source_zero;
    own.scales = parameters.scaling.scales;
    own.bias = constant_of(request, slots.bias);
    own.y_zero = parameters.scaling.destination_zero;
    const bool has_row = !request.has(slots.bias) || (own.bias && own.bias->count() == columns);
    Prepared prepared = noted(request, cpu::kGemmU8S8[0],
                              centered && onednn_uses_amx() ? Prepared::refuse(kAmxIsFaster)
                              : has_row                     ? cpu::prepare_gemm_u8s8(request, own)
                                        : Prepared::refuse("the bias is not one constant row"));
    if (prepared.kernel) return prepared;
  }
  if (!centered) return Prepared::refuse(kNoInt8);
  MatMulSpec product{layer.src, layer.stored, layer.dst, slots.x, slots.w};
  return prepare_in_blocks(request, product, [&](const KernelRequest& part, const MatMulSpec& own) {
    if (!part.inputs[slots.w].constant) return Prepared::refuse("long batches of weights");
    LayerDescs block = layer;
    block.src = own.a, block.stored = own.b, block.dst = own.dst;
    ProductSpec spec{own.a, any_desc(memory::data_type::s8, own.b.dims()), layer.bias, own.dst};
    const auto make = [&](const ProductSpec& one, const std::vector<Desc>&) {
      return matmul(one, attributes(parameters.scaling));
    };
    const MaybePrimitive primitive = make(spec, {});
    if (!primitive) return Prepared::refuse("oneDNN has no product of this form");
    spec.weights = primitive->weights();
    Work work = work_of_product(spec, {}, make);
    if (parameters.scaling.scales.size() > 1) keep_whole(work, DNNL_ARG_WEIGHTS);
    return build(part, slots, *centered, block, primitive, work);
  });
}

Prepared prepare_qmatmul(const KernelRequest& request) {
  return prepare_product(request, kQLinear, false, false, 1);
}

Prepared prepare_qgemm(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::QGemmAttrs>();
  return prepare_product(request, kQGemm, attrs.transA, attrs.transB, attrs.alpha);
}

constexpr KernelEntry kQuantizedKernels[] = {
    {"QLinearConv", "convolution", guarded<prepare_quantized_conv>, cpu::kQConvKernels},
    {"QLinearMatMul", "matmul", guarded<prepare_qmatmul>, cpu::kGemmU8S8},
    {"com.microsoft::QGemm", "matmul", guarded<prepare_qgemm>, cpu::kGemmU8S8},
};

}  // namespace

std::span<const KernelEntry> qlinear_kernels() {
  return kQuantizedKernels;
}

}  // namespace sardonyx::onednn
