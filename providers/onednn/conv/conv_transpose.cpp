// ConvTranspose and FusedConvTranspose in float32 and bfloat16.
#include "ir/ops/conv/conv.h"
#include "providers/cpu/conv/conv_transpose_params.h"
#include "providers/onednn/conv/conv.h"
#include "providers/onednn/conv/conv_row_tiles.h"
#include "providers/onednn/conv/deconv_channel_tiles.h"
#include "providers/onednn/kernel_list.h"
#include "providers/onednn/post_op_eltwise.h"
#include "providers/onednn/primitive/partition_axes.h"
#include "providers/onednn/primitive/primitive_sequence.h"

namespace sardonyx::onednn {
namespace {

// ONNX stores [group * inputs, outputs, kernel...]; oneDNN sees [group, outputs, inputs,
// kernel...].
Desc stored_weights(memory::data_type type, const Shape& weights, int64_t group) {
  Extents dims{group, weights[0] / group};
  dims.insert(dims.end(), weights.begin() + 1, weights.end());
  std::vector<int> exchanged(dims.size());
  for (size_t dim = 0; dim < dims.size(); ++dim)
    exchanged[dim] = static_cast<int>(dim);
  std::swap(exchanged[1], exchanged[2]);
  const Desc grouped = plain_desc(type, dims).permute_axes(exchanged);
  if (group > 1) return grouped;
  const Extents seen = grouped.dims();
  return grouped.reshape(Extents(seen.begin() + 1, seen.end()));
}

Prepared prepare_transpose(const KernelRequest& request) {
  if (const char* refusal = why_unsupported_conv(request)) return Prepared::refuse(refusal);
  const cpu::TransposedCall call = cpu::transposed_call(request);
  if (const char* why = why_unsupported_windows(request.inputs[1].shape, request.inputs[0].shape))
    return Prepared::refuse(why);
  if (!find_post_ops(call.activation)) return Prepared::refuse("oneDNN has no such activation");
  const KernelTensor& x = request.inputs[0];
  const KernelTensor& w = request.inputs[1];
  const ops::Window window =
      ops::conv_transpose_window(request.op.name, call.attrs, x.shape, w.shape);
  const auto type = data_type_of(x.dtype);
  const Desc stored_form = stored_weights(type, w.shape, call.attrs.group);
  ConvolutionSpec spec;
  spec.src = any_desc(type, x.shape);
  spec.weights = any_desc(type, stored_form.dims());
  spec.dst = any_desc(type, request.outputs[0].shape);
  if (request.has(2)) spec.bias = plain_desc(type, {w.shape[1] * call.attrs.group});
  spec.strides = window.strides;
  spec.dilations = window.dilations;
  spec.pads_begin = window.pads_begin;
  spec.pads_end = window.pads_end;
  const auto make = [&](const ConvolutionSpec& one) {
    return deconvolution(one, attributes(post_ops_of(call.activation)));
  };
  const MaybePrimitive primitive = make(spec);
  if (!primitive) return Prepared::refuse("oneDNN has no transposed convolution of this form");

  SequenceBuilder builder(request);
  const TiledConvolution whole{.kind = TiledConvolution::Kind::kTransposed,
                               .spec = spec,
                               .from = primitive->src(),
                               .weights = primitive->weights(),
                               .made = primitive->dst(),
                               .layouts = request.layouts,
                               .make = make};
  if (const auto channels = tile_channels(whole, call.attrs.group)) {
    if (add_channel_tiles(builder, {whole, stored_form, request.has(2)}, *channels))
      return builder.finish(primitive->implementation() + " in tiles of channels");
  }
  SequenceBuilder::Args args{
      {DNNL_ARG_WEIGHTS, builder.weights(1, stored_form, primitive->weights())}};
  if (request.has(2)) args.emplace_back(DNNL_ARG_BIAS, builder.input(2, spec.bias));
  const std::vector<ConvTile> tiles = tiles_of(whole, tile_size(whole));
  if (!tiles.empty()) {
    add_tiles(builder, whole, tiles, args);
    return builder.finish(primitive->implementation() + " in tiles");
  }
  args.emplace_back(DNNL_ARG_SRC, builder.input(0, primitive->src()));
  args.emplace_back(DNNL_ARG_DST, builder.output(0, primitive->dst()));
  spec.src = primitive->src(), spec.weights = primitive->weights(), spec.dst = primitive->dst();
  builder.step(*primitive, args, work_of_deconvolution(spec, make));
  return builder.finish();
}

constexpr KernelEntry kDeconvolutionKernels[] = {
    {"ConvTranspose", "deconvolution", guarded<prepare_transpose>},
    {"sardonyx::FusedConvTranspose", "deconvolution", guarded<prepare_transpose>},
};

}  // namespace

std::span<const KernelEntry> conv_transpose_kernels() {
  return kDeconvolutionKernels;
}

}  // namespace sardonyx::onednn
