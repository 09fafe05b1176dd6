// MatMulInteger and ConvInteger, exact. Constant weights lose their zero points when they are
// packed; the source's zero point is read by every run.
#include "ir/ops/conv/conv.h"
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

struct MatMulIntegerInput {
  enum : size_t { kX, kW, kXZeroPoint, kWZeroPoint };
};

const char* why_unsupported_integer(const KernelRequest& request) {
  if (!is_byte(request.inputs[MatMulIntegerInput::kX].dtype) ||
      !is_byte(request.inputs[MatMulIntegerInput::kW].dtype))
    return "no bytes";
  if (!has_exact_byte_products()) return "this CPU's sums of byte products are not exact";
  if (!request.inputs[MatMulIntegerInput::kW].constant) return "the weights are no constant";
  if (request.has(MatMulIntegerInput::kXZeroPoint) &&
      element_count(request.inputs[MatMulIntegerInput::kXZeroPoint].shape) != 1) {
    return "more than one zero point of the source";
  }
  if (request.has(MatMulIntegerInput::kWZeroPoint) &&
      !request.inputs[MatMulIntegerInput::kWZeroPoint].constant) {
    return "the zero points of the weights are no constants";
  }
  return nullptr;
}

// Builds either kernel from the layout of the weights in memory (`stored`) and the dim of the
// channels. Long products are computed in blocks of rows, long convolutions in tiles.
struct IntegerLayer {
  Desc src, stored, dst;  // src and dst as the request has them
};

// The weights of two channels are `channel_step` elements apart.
std::optional<CenteredWeights> centered_weights(const KernelRequest& request,
                                                int64_t channel_step) {
  const bool has_zeros = request.has(MatMulIntegerInput::kWZeroPoint);
  return CenteredWeights::of(
      *request.inputs[MatMulIntegerInput::kW].constant,
      has_zeros ? request.inputs[MatMulIntegerInput::kWZeroPoint].constant : nullptr, channel_step);
}

std::optional<CenteredWeights> moved_weights(const KernelRequest& request) {
  const bool has_zero = request.has(MatMulIntegerInput::kWZeroPoint);
  return CenteredWeights::moved(
      *request.inputs[MatMulIntegerInput::kW].constant,
      has_zero ? request.inputs[MatMulIntegerInput::kWZeroPoint].constant : nullptr);
}

Prepared build(const KernelRequest& request, const IntegerLayer& layer,
               const CenteredWeights& weights, const Primitive& primitive, const Work& work,
               const TiledConvolution* whole = nullptr, const std::vector<ConvTile>& tiles = {}) {
  SequenceBuilder builder(request);
  SequenceBuilder::Args args{
      {DNNL_ARG_WEIGHTS,
       place_weights(builder, MatMulIntegerInput::kW, weights, layer.stored, primitive.weights())}};
  if (request.has(MatMulIntegerInput::kXZeroPoint)) {
    const auto zero = builder.scratch(plain_desc(memory::data_type::s32, {1}));
    builder.copy(builder.input(MatMulIntegerInput::kXZeroPoint,
                               plain_desc(request.inputs[MatMulIntegerInput::kX].dtype, {1})),
                 zero);
    args.emplace_back(kSourceZeroPoint, zero);
  }
  if (!tiles.empty()) {
    add_tiles(builder, *whole, tiles, args);
    return builder.finish(primitive.implementation() + " in tiles");
  }
  args.emplace_back(DNNL_ARG_SRC, builder.input(MatMulIntegerInput::kX, layer.src));
  args.emplace_back(DNNL_ARG_DST, builder.output(0, layer.dst));
  builder.step(primitive, args, work);
  return builder.finish(primitive.implementation());
}

dnnl::primitive_attr attributes_of(const KernelRequest& request) {
  return attributes(
      IntegerScaling{.source_zero_at_run = request.has(MatMulIntegerInput::kXZeroPoint)});
}

Prepared prepare_matmul_integer(const KernelRequest& request) {
  if (const char* why = why_unsupported_integer(request)) return Prepared::refuse(why);
  const MatMulDims dims = matmul_dims(request.inputs[MatMulIntegerInput::kX].shape,
                                      request.inputs[MatMulIntegerInput::kW].shape);
  if (dims.a.size() > kMaxRank) return Prepared::refuse("too many batch dims");
  const int64_t zeros = request.has(MatMulIntegerInput::kWZeroPoint)
                            ? element_count(request.inputs[MatMulIntegerInput::kWZeroPoint].shape)
                            : 1;
  if (zeros != 1 && (dims.b.size() != 2 || zeros != dims.b.back())) {
    return Prepared::refuse("zero points of the weights that differ between matrices");
  }
  const auto centered = centered_weights(request, 1);
  const auto moved = centered ? std::nullopt : moved_weights(request);
  if (!centered && !moved) return Prepared::refuse(kNoInt8);
  cpu::GemmU8S8 bytes{.a = MatMulIntegerInput::kX,
                      .b = MatMulIntegerInput::kW,
                      .weights = centered ? *centered : *moved,
                      .scales = {1}};
  if (request.has(MatMulIntegerInput::kXZeroPoint))
    bytes.a_zero_input = MatMulIntegerInput::kXZeroPoint;
  Prepared own = noted(request, cpu::kGemmU8S8[0],
                       centered && onednn_uses_amx() ? Prepared::refuse(kAmxIsFaster)
                                                     : cpu::prepare_gemm_u8s8(request, bytes));
  if (own.kernel) return own;
  if (!centered) return Prepared::refuse(kNoInt8);
  const Desc src = plain_desc(data_type_of(request.inputs[MatMulIntegerInput::kX].dtype), dims.a);
  const Desc dst = plain_desc(memory::data_type::s32, dims.dst);
  const MatMulSpec product{src, plain_desc(memory::data_type::s8, dims.b), dst};
  return prepare_in_blocks(request, product, [&](const KernelRequest& part, const MatMulSpec& own) {
    if (!part.inputs[MatMulIntegerInput::kW].constant)
      return Prepared::refuse("long batches of weights");
    ProductSpec spec{own.a, any_desc(memory::data_type::s8, own.b.dims()), {}, own.dst};
    const auto make = [&](const ProductSpec& one, const std::vector<Desc>&) {
      return matmul(one, attributes_of(part));
    };
    const MaybePrimitive primitive = make(spec, {});
    if (!primitive || primitive->is_reference()) return Prepared::refuse("no fast form in oneDNN");
    spec.weights = primitive->weights();
    return build(part, {own.a, own.b, own.dst}, *centered, *primitive,
                 work_of_product(spec, {}, make));
  });
}

Prepared prepare_conv_integer(const KernelRequest& request) {
  if (const char* why = why_unsupported_integer(request)) return Prepared::refuse(why);
  const Shape& x = request.inputs[MatMulIntegerInput::kX].shape;
  const Shape& w = request.inputs[MatMulIntegerInput::kW].shape;
  if (x.size() < 3 || x.size() > 5) return Prepared::refuse("only 1 to 3 spatial axes");
  const auto& attrs = request.attrs<ops::ConvAttrs>();
  const ops::Window window = ops::conv_window(request.op.name, attrs, x, w);
  const Extents weights = grouped_weights(w, attrs.group);
  ConvolutionSpec spec;
  spec.src = any_desc(data_type_of(request.inputs[MatMulIntegerInput::kX].dtype), x);
  spec.weights = any_desc(memory::data_type::s8, weights);
  spec.dst = any_desc(memory::data_type::s32, request.outputs[0].shape);
  spec.strides = window.strides;
  spec.dilations = window.dilations;
  spec.pads_begin = window.pads_begin;
  spec.pads_end = window.pads_end;
  MaybePrimitive primitive = convolution(spec, attributes_of(request));
  if (!primitive || primitive->is_reference()) return Prepared::refuse("no fast form in oneDNN");
  if (!primitive->can_be_made()) return Prepared::refuse("oneDNN can't generate code for it");
  const auto centered = centered_weights(request, element_count(w) / w[0]);
  if (!centered) return Prepared::refuse(kNoInt8);
  TiledConvolution whole;
  whole.spec = spec;
  whole.from = primitive->src(), whole.weights = primitive->weights();
  whole.made = primitive->dst();
  whole.layouts = request.layouts;
  whole.make = [&](const ConvolutionSpec& part) -> MaybePrimitive {
    MaybePrimitive made = convolution(part, attributes_of(request));
    return made && made->can_be_made() ? made : std::nullopt;
  };
  spec.src = primitive->src(), spec.weights = primitive->weights(), spec.dst = primitive->dst();
  return build(request, {spec.src, plain_desc(memory::data_type::s8, weights), spec.dst}, *centered,
               *primitive, work_of_convolution(spec, whole.make), &whole,
               tiles_of(whole, tile_size(whole)));
}

constexpr KernelEntry kIntegerKernels[] = {
    {"MatMulInteger", "matmul", guarded<prepare_matmul_integer>, cpu::kGemmU8S8},
    {"ConvInteger", "convolution", guarded<prepare_conv_integer>},
};

}  // namespace

std::span<const KernelEntry> matmul_integer_kernels() {
  return kIntegerKernels;
}

}  // namespace sardonyx::onednn
