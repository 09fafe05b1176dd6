// ConvTranspose and FusedConvTranspose in bfloat16 with windows that do not overlap: one GEMM of
// all pixels with all taps, whose result is then permuted into the output. oneDNN's own transposed
// convolution takes several times as long.
#include <cstring>

#include "ir/core/memory/evictable_buffer.h"
#include "ir/ops/conv/conv.h"
#include "providers/cpu/conv/conv_transpose_params.h"
#include "providers/onednn/conv/conv.h"
#include "providers/onednn/float_types.h"
#include "providers/onednn/kernel_list.h"
#include "providers/onednn/matmul_row_blocks.h"
#include "providers/onednn/post_op_eltwise.h"
#include "providers/onednn/primitive/partition_axes.h"
#include "providers/onednn/primitive/primitive_sequence.h"

namespace sardonyx::onednn {
namespace {

bool is_tiled(const ops::Window& window) {
  for (size_t axis = 0; axis < window.rank(); ++axis) {
    if (window.kernel[axis] != window.strides[axis] || window.dilations[axis] != 1 ||
        window.pads_begin[axis] != 0 || window.out[axis] != window.in[axis] * window.kernel[axis])
      return false;
  }
  return true;
}

const char* why_unsupported(const KernelRequest& request) {
  if (!request.layouts) return "layouts are not free";
  if (request.inputs[0].dtype != DType::kBFloat16 || !takes_bfloat16(request))
    return "only bfloat16 is computed here";
  if (!request.inputs[1].constant || (request.has(2) && !request.inputs[2].constant))
    return "the weights are not known ahead";
  return why_unsupported_conv(request);
}

// [pixels, inputs] * [inputs, taps * outputs]
struct DeconvSizes {
  int64_t pixels, inputs, taps, outputs;
  DeconvSizes(const Shape& x, const Shape& w)
      : pixels(element_count(x) / x[1]),
        inputs(x[1]),
        taps(element_count(w) / (w[0] * w[1])),
        outputs(w[1]) {}
  int64_t columns() const { return taps * outputs; }
  double products() const {
    return static_cast<double>(pixels) * static_cast<double>(inputs) *
           static_cast<double>(columns());
  }
};

constexpr auto kType = memory::data_type::bf16;

// Packs the model's weights [inputs, outputs, taps] as [inputs, taps, outputs] in the layout
// `wanted`.
void pack_weights(const Tensor& weights, const DeconvSizes& sizes, const Desc& wanted,
                  std::byte* to, int threads) {
  const int64_t taps = sizes.taps, outputs = sizes.outputs;
  const Extents dims{sizes.inputs, taps, outputs};
  const auto rows = Buffer::allocate(weights.bytes());
  reorder(weights, strided_desc(kType, dims, {outputs * taps, 1, taps}), plain_desc(kType, dims),
          rows->data(), threads);
  reorder(rows->data(), plain_desc(kType, {sizes.inputs, sizes.columns()}), wanted, to, threads);
}

// Repeats the bias for each tap.
void repeat(const Tensor& bias, int64_t taps, std::byte* to) {
  load_weight(bias);
  for (int64_t tap = 0; tap < taps; ++tap, to += bias.bytes())
    std::memcpy(to, bias.raw(), bias.bytes());
}

// The permutation from the product, [images, in..., kernel..., outputs], to the output,
// [images, in 0, kernel 0, in 1, kernel 1 ..., outputs]. Dims that are adjacent in both are merged
// to one.
struct Orders {
  Extents dims, product, output;
};

Orders orders_of(const ops::Window& window, int64_t images, int64_t outputs) {
  const size_t rank = window.rank();
  Extents in = window.in, kernel = window.kernel;
  in[0] *= images;
  kernel[rank - 1] *= outputs;
  Orders orders;
  orders.dims = in;
  orders.dims.insert(orders.dims.end(), kernel.begin(), kernel.end());
  orders.product.resize(2 * rank);
  orders.output.resize(2 * rank);
  int64_t step = 1;
  for (size_t dim = 2 * rank; dim-- > 0; step *= orders.dims[dim])
    orders.product[dim] = step;
  step = 1;
  for (size_t axis = rank; axis-- > 0; step *= in[axis]) {
    orders.output[rank + axis] = step;
    step *= kernel[axis];
    orders.output[axis] = step;
  }
  return orders;
}

Work work_of(ProductSpec spec, const Primitive& primitive,
             const std::function<MaybePrimitive(const ProductSpec&)>& make) {
  spec.weights = primitive.weights();
  return work_of_product(spec, {},
                         [make](const ProductSpec& part, const auto&) { return make(part); });
}

Prepared prepare_transpose_bf16(const KernelRequest& request) {
  if (const char* why = why_unsupported(request)) return Prepared::refuse(why);
  const auto [attrs, activation] = cpu::transposed_call(request);
  const Shape &x = request.inputs[0].shape, &w = request.inputs[1].shape;
  const ops::Window window = ops::conv_transpose_window(request.op.name, attrs, x, w);
  const DeconvSizes sizes(x, w);
  if (attrs.group != 1 || !is_tiled(window)) return Prepared::refuse("windows are not adjacent");
  if (!find_post_ops(activation)) return Prepared::refuse("oneDNN has no such activation");
  if (sizes.products() > static_cast<double>(kProductsPerBlock))
    return Prepared::refuse("long products are left to what looks at the deadline");

  ProductSpec spec;
  spec.src = plain_desc(kType, {sizes.pixels, sizes.inputs});
  spec.weights = any_desc(kType, {sizes.inputs, sizes.columns()});
  spec.dst = plain_desc(kType, {sizes.pixels, sizes.columns()});
  if (request.has(2)) spec.bias = plain_desc(kType, {1, sizes.columns()});
  const auto make = [&](const ProductSpec& part) {
    return matmul(part, attributes(post_ops_of(activation)));
  };
  const MaybePrimitive primitive = make(spec);
  if (!primitive) return Prepared::refuse("oneDNN has no matrix product of this form");

  SequenceBuilder builder(request);
  builder.require_layout(0, channels_last_desc(kType, x));
  const auto weights = builder.packed(
      1, primitive->weights(), text("tiles ", layout_text(primitive->weights())),
      [&](std::byte* to) {
        pack_weights(*request.inputs[1].constant, sizes, primitive->weights(), to, request.threads);
      });
  const auto product = builder.scratch(spec.dst);
  SequenceBuilder::Args args{{DNNL_ARG_SRC, builder.input_as(0, spec.src)},
                             {DNNL_ARG_WEIGHTS, weights},
                             {DNNL_ARG_DST, product}};
  if (request.has(2)) {
    args.emplace_back(
        DNNL_ARG_BIAS,
        builder.packed(2, spec.bias, text("for ", sizes.taps, " taps"), [&](std::byte* to) {
          repeat(*request.inputs[2].constant, sizes.taps, to);
        }));
  }
  builder.step(*primitive, std::move(args), work_of(spec, *primitive, make));
  const Orders orders = orders_of(window, x[0], sizes.outputs);
  builder.copy(builder.scratch_as(product, strided_desc(kType, orders.dims, orders.product)),
               builder.output_as(0, strided_desc(kType, orders.dims, orders.output)));
  Prepared prepared = builder.finish(primitive->implementation() + " of tiles");
  if (prepared.kernel)
    prepared.output_layouts = {layout_of(channels_last_desc(kType, request.outputs[0].shape))};
  return prepared;
}

constexpr KernelEntry kEntries[] = {
    {"ConvTranspose", "conv_transpose_bf16", guarded<prepare_transpose_bf16>},
    {"sardonyx::FusedConvTranspose", "conv_transpose_bf16", guarded<prepare_transpose_bf16>},
};

}  // namespace

std::span<const KernelEntry> conv_transpose_bf16_kernels() {
  return kEntries;
}

}  // namespace sardonyx::onednn
