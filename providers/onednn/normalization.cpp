// LRN, BatchNormalization (inference) and LayerNormalization in float32.
#include "ir/ops/normalization/batch_group_norm.h"

#include "providers/onednn/kernel_list.h"
#include "providers/onednn/primitive/partition_axes.h"
#include "providers/onednn/primitive/primitive_sequence.h"

namespace sardonyx::onednn {
namespace {

constexpr auto kFloat = memory::data_type::f32;

// Splits one image in channel blocks by rows. oneDNN has no descriptor for such a part, so each
// thread computes on a copy. False where that gains nothing, or layouts are reordered anyway.
bool add_row_copies(SequenceBuilder& builder, const Work& work, const Desc& data,
                    SequenceBuilder::Place from, SequenceBuilder::Place to) {
  constexpr size_t kRows = 2;
  const Extents dims = data.dims();
  const int64_t parts = threads_for(work.products, builder.threads());
  if (parts < 2 || dims.size() != 4 || dims[0] != 1 || dims[kRows] < parts) return false;
  std::vector<SequenceBuilder::Copy> in, out;
  std::vector<SequenceBuilder::PrimitiveCall> calls;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t begin = dims[kRows] * part / parts, end = dims[kRows] * (part + 1) / parts;
    Extents own = dims;
    own[kRows] = end - begin;
    const auto rows = slice(data, kRows, begin, end - begin);
    const auto dense = same_format(data, own);
    if (!rows || !dense) return false;
    const MaybePrimitive primitive = work.make({{DNNL_ARG_SRC, *dense}}, std::nullopt);
    if (!primitive || primitive->is_reference()) return false;
    const auto source = builder.scratch(*dense), target = builder.scratch(*dense);
    in.push_back({builder.part_of(from, *rows), source});
    calls.push_back({*primitive, {{DNNL_ARG_SRC, source}, {DNNL_ARG_DST, target}}});
    out.push_back({target, builder.part_of(to, *rows)});
  }
  builder.copy(in);
  builder.step(std::move(calls));
  builder.copy(out);
  return true;
}

Prepared prepare_lrn(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::LrnAttrs>();
  if (request.inputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  if (attrs.size % 2 == 0) return Prepared::refuse("only odd sizes are even around a channel");
  // A sum over so many channels cannot be interrupted: beyond both limits LRN is refused.
  constexpr double kManyChannels = 64, kManySquares = 1 << 30;
  const auto size = static_cast<double>(attrs.size);
  if (size > kManyChannels &&
      size * static_cast<double>(element_count(request.inputs[0].shape)) > kManySquares)
    return Prepared::refuse("large sizes are left to what looks at the deadline");
  const Desc data = desc_of(request.inputs[0]);
  const MaybePrimitive primitive =
      lrn(data, attrs.size, attrs.alpha, attrs.beta, attrs.bias, attributes());
  if (!primitive || primitive->is_reference()) return Prepared::refuse("no fast form in oneDNN");
  // LRN can be cut along any axis but the channels, which it sums over.
  Work work = work_of_elements({{DNNL_ARG_SRC, data}, {DNNL_ARG_DST, data}}, data,
                               [&](const ArgumentDescs& own) {
                                 return lrn(own.at(DNNL_ARG_SRC), attrs.size, attrs.alpha,
                                            attrs.beta, attrs.bias, attributes());
                               });
  std::erase_if(work.axes, [](const CutAxis& axis) { return axis.along[0].dim == 1; });
  SequenceBuilder builder(request);
  const auto from = builder.input(0, data), to = builder.output(0, primitive->dst());
  const std::vector<PrimitivePart> parts = parts_of(work, *primitive, builder.threads());
  if (parts.empty() && add_row_copies(builder, work, data, from, to))
    return builder.finish(primitive->implementation());
  builder.step(*primitive, {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}}, parts);
  return builder.finish();
}

// The dims with a height of 1 where there is one spatial dim only, for which oneDNN has no fast
// kernel.
Desc with_height(const Desc& data) {
  const Extents dims = data.dims();
  if (dims.size() != 3) return data;
  const Extents image{dims[0], dims[1], 1, dims[2]};
  if (data == blocked_desc(kFloat, dims)) return blocked_desc(kFloat, image);
  if (data == channels_last_desc(kFloat, dims)) return channels_last_desc(kFloat, image);
  return data;
}

// Cuts the 1-D argument as well where dim `dim` of the others is cut.
void cut_along(Work& work, size_t dim, int argument, const Desc& desc) {
  work.arguments.emplace(argument, desc);
  for (CutAxis& axis : work.axes) {
    if (axis.along[0].dim == dim) axis.along.push_back({argument, 0});
  }
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
  const auto make = [&](const Desc& seen) {
    return batch_normalization(seen, attrs.epsilon, attributes());
  };
  const MaybePrimitive primitive = make(with_height(data));
  if (!primitive) return Prepared::refuse("oneDNN has no normalization of this form");
  const Desc seen = primitive->src();
  Work work =
      work_of_elements({{DNNL_ARG_SRC, seen}, {DNNL_ARG_DST, seen}}, seen,
                       [&](const ArgumentDescs& own) { return make(own.at(DNNL_ARG_SRC)); });
  for (const int argument : {DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE})
    cut_along(work, 1, argument, channels);
  SequenceBuilder builder(request);
  builder.step(*primitive,
               {{DNNL_ARG_SRC, builder.input(0, data)},
                {DNNL_ARG_SCALE, builder.input(1, channels)},
                {DNNL_ARG_SHIFT, builder.input(2, channels)},
                {DNNL_ARG_MEAN, builder.input(3, channels)},
                {DNNL_ARG_VARIANCE, builder.input(4, channels)},
                {DNNL_ARG_DST, builder.output(0, data)}},
               work);
  builder.allow_alias(0, 0);
  return builder.finish();
}

// Whether `shape` is x's dims from `axis` on, with any number of leading ones.
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
  const auto make = [&](const ArgumentDescs& own) {
    const Desc& rows = own.at(DNNL_ARG_SRC);
    return layer_normalization(rows, plain_desc(kFloat, {rows.dims()[0]}), attrs.epsilon, has_shift,
                               attributes());
  };
  const MaybePrimitive primitive = make({{DNNL_ARG_SRC, data}});
  if (!primitive) return Prepared::refuse("oneDNN has no normalization of this form");
  SequenceBuilder builder(request);
  SequenceBuilder::Args args{{DNNL_ARG_SRC, builder.input(0, data)},
                             {DNNL_ARG_SCALE, builder.input(1, scale)}};
  if (has_shift) args.emplace_back(DNNL_ARG_SHIFT, builder.input(2, scale));
  args.emplace_back(DNNL_ARG_DST, builder.output(0, data));
  Work work = work_of_elements({{DNNL_ARG_SRC, data}, {DNNL_ARG_DST, data}}, data, make);
  std::erase_if(work.axes, [](const CutAxis& cut) { return cut.along[0].dim != 0; });
  builder.step(*primitive, args, work);
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
