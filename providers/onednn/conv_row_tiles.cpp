#include "providers/onednn/conv_row_tiles.h"

#include <algorithm>

#include "ir/core/run_control.h"
#include "providers/onednn/matmul_row_blocks.h"
#include "providers/onednn/primitive/partition.h"

namespace sardonyx::onednn {
namespace {

using Kind = StripedConvolution::Kind;

// Dims of images.
constexpr size_t kImages = 0, kRows = 2;
constexpr int64_t kStripChannels = 16;  // channels in a block

struct Range {
  int64_t begin, end;
  int64_t count() const { return end - begin; }
};

// What one strip reads, and the padding of its own.
RowsRead rows_for(const StripedConvolution& whole, const Range& made) {
  const ConvolutionSpec& spec = whole.spec;
  const Extents weights = spec.weights.dims();
  const int64_t kernel = weights[weights.size() - spec.strides.size()];
  const CutAxis::Windows windows{0,
                                 kRows,
                                 spec.strides[0],
                                 (kernel - 1) * spec.dilations[0] + 1,
                                 spec.pads_begin[0],
                                 whole.kind != Kind::kForward};
  return rows_read(windows, whole.from.dims()[kRows], made.begin, made.end);
}

std::optional<Strip> strip_of(const StripedConvolution& whole, const Range& images,
                              const Range& rows) {
  const RowsRead read = rows_for(whole, rows);
  if (read.end <= read.begin) return std::nullopt;
  Extents from = whole.from.dims(), made = whole.made.dims();
  Extents from_at(from.size(), 0), made_at(made.size(), 0);
  from[kImages] = made[kImages] = images.count();
  from_at[kImages] = made_at[kImages] = images.begin;
  from[kRows] = read.end - read.begin, from_at[kRows] = read.begin;
  made[kRows] = rows.count(), made_at[kRows] = rows.begin;
  const auto from_form = same_format(whole.from, from), made_form = same_format(whole.made, made);
  if (!from_form || !made_form) return std::nullopt;
  ConvolutionSpec spec = whole.spec;
  const bool is_gradient = whole.kind == Kind::kInputGrad;
  (is_gradient ? spec.dst : spec.src) = *from_form;
  (is_gradient ? spec.src : spec.dst) = *made_form;
  spec.weights = whole.weights;
  spec.pads_begin[0] = read.pad_begin;
  spec.pads_end[0] = read.pad_end;
  const MaybePrimitive primitive = whole.make(spec);
  if (!primitive || primitive->is_reference()) return std::nullopt;
  return Strip{*primitive, *from_form, *made_form,
               stored(whole, whole.from).submemory_desc(from, from_at),
               stored(whole, whole.made).submemory_desc(made, made_at)};
}

std::optional<Strip> channels_of(const StripedConvolution& whole, const Range& channels) {
  constexpr size_t kOutputs = 0, kChannels = 1;  // of weights, of what is read
  Extents from = whole.from.dims(), made = whole.made.dims();
  Extents from_at(from.size(), 0), made_at(made.size(), 0);
  from[kChannels] = made[kOutputs] = channels.count();
  from_at[kChannels] = made_at[kOutputs] = channels.begin;
  const auto form = same_format(whole.from, from);
  if (!form) return std::nullopt;
  ConvolutionSpec spec = whole.spec;
  spec.dst = *form;
  spec.weights = any_desc(whole.made.data_type(), made);
  const MaybePrimitive primitive = whole.make(spec);
  if (!primitive || primitive->is_reference()) return std::nullopt;
  return Strip{*primitive, *form, primitive->argument(DNNL_ARG_DIFF_WEIGHTS),
               stored(whole, whole.from).submemory_desc(from, from_at),
               stored(whole, whole.made).submemory_desc(made, made_at)};
}

// Groups, and channels that don't fill blocks, are not taken apart.
std::vector<Strip> channel_strips_of(const StripedConvolution& whole, int64_t together) {
  const Extents from = whole.from.dims(), made = whole.made.dims();
  const int64_t channels = made[0];
  if (made.size() != from.size() || channels % kStripChannels != 0 || together >= channels)
    return {};
  std::vector<Strip> strips;
  for (int64_t first = 0; first < channels; first += together) {
    check_interrupted();
    auto strip = channels_of(whole, {first, std::min(first + together, channels)});
    if (!strip) return {};
    strips.push_back(std::move(*strip));
  }
  return strips;
}

struct StripArguments {
  int from, made;
};
StripArguments arguments_of(Kind kind) {
  switch (kind) {
    case Kind::kInputGrad:
      return {DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC};
    case Kind::kWeightGrad:
      return {DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS};
    default:
      return {DNNL_ARG_SRC, DNNL_ARG_DST};
  }
}

}  // namespace

Desc stored(const StripedConvolution& whole, const Desc& desc) {
  return whole.layouts ? desc : plain_desc(desc.data_type(), desc.dims());
}

StripSize strip_size(const StripedConvolution& whole) {
  const Extents made = whole.made.dims(), weights = whole.spec.weights.dims();
  const Extents windows = whole.kind == Kind::kForward ? made : whole.from.dims();
  double products = 1;  // of an image
  for (size_t dim = kRows; dim < windows.size(); ++dim)
    products *= static_cast<double>(windows[dim]);
  for (const int64_t dim : weights)
    products *= static_cast<double>(dim);
  StripSize size{made[kImages], made[kRows], weights[0]};
  const double images = static_cast<double>(kProductsPerBlock) / products;
  if (images < static_cast<double>(size.images)) {
    size.images = std::max<int64_t>(static_cast<int64_t>(images), 1);
    const auto rows = static_cast<int64_t>(images * static_cast<double>(size.rows));
    size.rows = std::clamp<int64_t>(rows, 1, size.rows);
  }
  const double share = images / static_cast<double>(whole.from.dims()[kImages]);
  if (share < 1) {
    const auto channels = static_cast<int64_t>(share * static_cast<double>(weights[0]));
    size.channels = std::max<int64_t>(channels / kStripChannels, 1) * kStripChannels;
  }
  return size;
}

std::vector<Strip> strips_of(const StripedConvolution& whole, const StripSize& size) {
  if (whole.kind == Kind::kWeightGrad) return channel_strips_of(whole, size.channels);
  const Extents made = whole.made.dims();
  // Where windows are spread, strips that begin with one have the padding of the whole.
  const int64_t unit = whole.kind == Kind::kForward ? 1 : whole.spec.strides[0];
  const int64_t together = (std::min(size.rows, made[kRows]) + unit - 1) / unit * unit;
  if (size.images >= made[kImages] && together >= made[kRows]) return {};
  std::vector<Strip> strips;
  for (int64_t image = 0; image < made[kImages]; image += size.images) {
    for (int64_t row = 0; row < made[kRows]; row += together) {
      check_interrupted();
      auto strip = strip_of(whole, {image, std::min(image + size.images, made[kImages])},
                            {row, std::min(row + together, made[kRows])});
      // Whole images may have a form where rows of them have none.
      if (!strip && together < made[kRows]) return strips_of(whole, {size.images, made[kRows], 0});
      if (!strip) return {};
      strips.push_back(std::move(*strip));
    }
  }
  return strips;
}

SequenceBuilder::Place add_strips(SequenceBuilder& builder, const StripedConvolution& whole,
                                  const std::vector<Strip>& strips,
                                  const SequenceBuilder::Args& shared) {
  using Place = SequenceBuilder::Place;
  const StripArguments names = arguments_of(whole.kind);
  builder.require_layout(whole.input, stored(whole, whole.from));
  if (whole.residual) builder.require_layout(*whole.residual, stored(whole, whole.made));
  const Place made = builder.output(0, stored(whole, whole.made));
  // Pieces of memory for as many as run in parallel, as large as the largest wants them.
  const auto largest = [&](const auto& desc_of_strip) -> const Strip& {
    return *std::ranges::max_element(
        strips, {}, [&](const Strip& strip) { return desc_of_strip(strip).get_size(); });
  };
  const auto pad_of = [](const Strip& strip) { return strip.primitive.scratchpad(); };
  struct Lane {
    Place rows, results, pad;
  };
  std::vector<Lane> lanes;
  const auto threads = static_cast<size_t>(std::max(builder.threads(), 1));
  for (size_t lane = 0; lane < std::min(threads, strips.size()); ++lane) {
    lanes.push_back({builder.scratch(largest([](const Strip& strip) { return strip.from; }).from),
                     builder.scratch(largest([](const Strip& strip) { return strip.made; }).made),
                     builder.scratch(largest(pad_of).primitive.scratchpad())});
  }
  for (size_t first = 0; first < strips.size(); first += lanes.size()) {
    std::vector<SequenceBuilder::Copy> in, out;
    std::vector<SequenceBuilder::Call> calls;
    for (size_t i = first; i < std::min(first + lanes.size(), strips.size()); ++i) {
      const Strip& strip = strips[i];
      const Lane& lane = lanes[i - first];
      const Place from = builder.scratch_as(lane.rows, strip.from);
      const Place to = builder.scratch_as(lane.results, strip.made);
      in.push_back({builder.input_as(whole.input, strip.from_part), from});
      if (whole.residual) in.push_back({builder.input_as(*whole.residual, strip.made_part), to});
      SequenceBuilder::Args args = shared;
      args.emplace_back(names.from, from);
      args.emplace_back(names.made, to);
      const Desc pad = strip.primitive.scratchpad();
      if (!pad.is_zero()) args.emplace_back(DNNL_ARG_SCRATCHPAD, builder.scratch_as(lane.pad, pad));
      calls.push_back({strip.primitive, std::move(args)});
      out.push_back({to, builder.output_as(0, strip.made_part)});
    }
    builder.copy(in);
    builder.step(std::move(calls));
    builder.copy(out);
  }
  if (whole.residual) builder.allow_alias(0, *whole.residual);
  return made;
}

}  // namespace sardonyx::onednn
