// LRN, BatchNormalization (inference) and LayerNormalization in float32.
#include "ir/ops/normalization.h"

#include "providers/onednn/entries.h"
#include "providers/onednn/program.h"

namespace sardonyx::onednn {
namespace {

constexpr auto kFloat = memory::data_type::f32;

Prepared prepare_lrn(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::LrnAttrs>();
  if (request.inputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  if (attrs.size % 2 == 0) return Prepared::refuse("only odd sizes lie even around a channel");
  // Nothing ends a sum over so many channels before it is done.
  constexpr double kManyChannels = 64, kManySquares = 1 << 30;
  const auto size = static_cast<double>(attrs.size);
  if (size > kManyChannels &&
      size * static_cast<double>(element_count(request.inputs[0].shape)) > kManySquares)
    return Prepared::refuse("large sizes are left to what looks at the deadline");
  const Desc data = desc_of(request.inputs[0]);
  const MaybePrimitive primitive =
      lrn(data, attrs.size, attrs.alpha, attrs.beta, attrs.bias, attributes());
  if (!primitive || primitive->is_reference()) return Prepared::refuse("no fast form in oneDNN");
  ProgramBuilder builder(request);
  builder.step(*primitive, {{DNNL_ARG_SRC, builder.input(0, data)},
                            {DNNL_ARG_DST, builder.output(0, primitive->dst())}});
  return builder.finish();
}

// The same elements with a height of 1 where they have a length alone, for which oneDNN has nothing
// fast.
Desc with_height(const Desc& data) {
  const Extents dims = data.dims();
  if (dims.size() != 3) return data;
  const Extents image{dims[0], dims[1], 1, dims[2]};
  if (data == blocked_desc(kFloat, dims)) return blocked_desc(kFloat, image);
  if (data == channels_last_desc(kFloat, dims)) return channels_last_desc(kFloat, image);
  return data;
}

Prepared prepare_batch_normalization(const KernelRequest& request) {
  if (!request.inputs[0].layout)
    return Prepared::refuse("rows of row-major channels are left to the portable loops");
  const auto& attrs = request.attrs<ops::BatchNormalizationAttrs>();
  for (const KernelTensor& input : request.inputs) {
    if (input.dtype != DType::kFloat) return Prepared::refuse("only float is computed here");
  }
  if (attrs.training_mode) return Prepared::refuse("training mode");
  const Shape& x = request.inputs[0].shape;
  if (x.size() < 2 || x.size() > 5) return Prepared::refuse("only ranks 2 to 5");
  const Desc data = desc_of(request.inputs[0]);
  const Desc channels = plain_desc(kFloat, {x[1]});
  const MaybePrimitive primitive =
      batch_normalization(with_height(data), attrs.epsilon, attributes());
  if (!primitive) return Prepared::refuse("oneDNN has no normalization of this form");
  ProgramBuilder builder(request);
  builder.step(*primitive, {{DNNL_ARG_SRC, builder.input(0, data)},
                            {DNNL_ARG_SCALE, builder.input(1, channels)},
                            {DNNL_ARG_SHIFT, builder.input(2, channels)},
                            {DNNL_ARG_MEAN, builder.input(3, channels)},
                            {DNNL_ARG_VARIANCE, builder.input(4, channels)},
                            {DNNL_ARG_DST, builder.output(0, data)}});
  builder.allow_alias(0, 0);
  return builder.finish();
}

// Is `shape` that of x's dims from `axis` on, perhaps behind ones?
bool covers_tail(const Shape& shape, const Shape& x, size_t axis) {
  const size_t tail = x.size() - axis;
  if (shape.size() < tail || shape.size() > x.size()) return false;
  const size_t ones = shape.size() - tail;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] != (dim < ones ? 1 : x[axis + dim - ones])) return false;
  }
  return true;
}

Prepared prepare_layer_normalization(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::LayerNormalizationAttrs>();
  if (request.inputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  if (request.wants(1) || request.wants(2)) return Prepared::refuse("statistics are not given");
  const Shape& x = request.inputs[0].shape;
  // Calling the primitive takes longer than normalizing some dozens of rows.
  constexpr int64_t kFewestElements = 1 << 16;
  if (element_count(x) < kFewestElements)
    return Prepared::refuse("few elements are left to kernels that are called at once");
  const auto rank = static_cast<int64_t>(x.size());
  const auto axis = static_cast<size_t>(attrs.axis < 0 ? attrs.axis + rank : attrs.axis);
  const bool has_shift = request.has(2);
  if (!covers_tail(request.inputs[1].shape, x, axis) ||
      (has_shift && !covers_tail(request.inputs[2].shape, x, axis))) {
    return Prepared::refuse("scale or bias is repeated");
  }
  int64_t inner = 1;
  for (size_t dim = axis; dim < x.size(); ++dim)
    inner *= x[dim];
  const int64_t outer = element_count(x) / inner;
  const Desc data = plain_desc(kFloat, {outer, inner});
  const Desc scale = plain_desc(kFloat, {inner});
  const MaybePrimitive primitive = layer_normalization(data, plain_desc(kFloat, {outer}),
                                                       attrs.epsilon, has_shift, attributes());
  if (!primitive) return Prepared::refuse("oneDNN has no normalization of this form");
  ProgramBuilder builder(request);
  ProgramBuilder::Args args{{DNNL_ARG_SRC, builder.input(0, data)},
                            {DNNL_ARG_SCALE, builder.input(1, scale)}};
  if (has_shift) args.emplace_back(DNNL_ARG_SHIFT, builder.input(2, scale));
  args.emplace_back(DNNL_ARG_DST, builder.output(0, data));
  builder.step(*primitive, args);
  builder.allow_alias(0, 0);
  return builder.finish();
}

constexpr KernelEntry kNormalizationKernels[] = {
    {"LRN", "lrn", guarded<prepare_lrn>},
    {"BatchNormalization", "batch_normalization", guarded<prepare_batch_normalization>},
    {"LayerNormalization", "layer_normalization", guarded<prepare_layer_normalization>},
};

}  // namespace

std::span<const KernelEntry> normalization_kernels() {
  return kNormalizationKernels;
}

}  // namespace sardonyx::onednn
