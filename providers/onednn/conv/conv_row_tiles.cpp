#include "providers/onednn/conv/conv_row_tiles.h"

#include <algorithm>

#include "ir/core/run_control.h"
#include "providers/onednn/matmul_row_blocks.h"
#include "providers/onednn/primitive/partition.h"

namespace sardonyx::onednn {
namespace {

using Kind = TiledConvolution::Kind;

// Dims of images.
constexpr size_t kImages = 0, kRows = 2;
constexpr int64_t kTileChannels = 16;  // channels in a block
// Multiplications of a tile: fewer than a call may have, since convolutions are slower per product.
constexpr double kProductsPerTile = static_cast<double>(kProductsPerBlock) / 2;

struct RowRange {
  int64_t begin, end;
  int64_t count() const { return end - begin; }
};

// The rows that one tile reads, and the tile's padding.
RowsRead rows_for(const TiledConvolution& whole, const RowRange& made) {
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

std::optional<ConvTile> tile_of(const TiledConvolution& whole, const RowRange& images,
                                const RowRange& rows) {
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
  return ConvTile{*primitive, *from_form, *made_form,
                  stored(whole, whole.from).submemory_desc(from, from_at),
                  stored(whole, whole.made).submemory_desc(made, made_at)};
}

std::optional<ConvTile> channels_of(const TiledConvolution& whole, const RowRange& channels) {
  constexpr size_t kOutputs = 0, kChannels = 1;  // the dims of weights and of the input
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
  return ConvTile{*primitive, *form, primitive->argument(DNNL_ARG_DIFF_WEIGHTS),
                  stored(whole, whole.from).submemory_desc(from, from_at),
                  stored(whole, whole.made).submemory_desc(made, made_at)};
}

// Tiles of output channels of a weight gradient. Empty for grouped convolutions and for channels
// that do not fill blocks.
std::vector<ConvTile> channel_tiles_of(const TiledConvolution& whole, int64_t tile_channels) {
  const Extents from = whole.from.dims(), made = whole.made.dims();
  const int64_t channels = made[0];
  if (made.size() != from.size() || channels % kTileChannels != 0 || tile_channels >= channels)
    return {};
  std::vector<ConvTile> tiles;
  for (int64_t first = 0; first < channels; first += tile_channels) {
    check_interrupted();
    auto tile = channels_of(whole, {first, std::min(first + tile_channels, channels)});
    if (!tile) return {};
    tiles.push_back(std::move(*tile));
  }
  return tiles;
}

struct TileArguments {
  int from, made;
};
TileArguments arguments_of(Kind kind) {
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

Desc stored(const TiledConvolution& whole, const Desc& desc) {
  return whole.layouts ? desc : plain_desc(desc.data_type(), desc.dims());
}

ConvTileSize tile_size(const TiledConvolution& whole) {
  const Extents made = whole.made.dims(), weights = whole.spec.weights.dims();
  const Extents windows = whole.kind == Kind::kForward ? made : whole.from.dims();
  double products = 1;  // of an image
  for (size_t dim = kRows; dim < windows.size(); ++dim)
    products *= static_cast<double>(windows[dim]);
  for (const int64_t dim : weights)
    products *= static_cast<double>(dim);
  ConvTileSize size{made[kImages], made[kRows], weights[0]};
  const double images = kProductsPerTile / products;
  if (images < static_cast<double>(size.images)) {
    size.images = std::max<int64_t>(static_cast<int64_t>(images), 1);
    const auto rows = static_cast<int64_t>(images * static_cast<double>(size.rows));
    size.rows = std::clamp<int64_t>(rows, 1, size.rows);
  }
  const double share = images / static_cast<double>(whole.from.dims()[kImages]);
  if (share < 1) {
    const auto channels = static_cast<int64_t>(share * static_cast<double>(weights[0]));
    size.channels = std::max<int64_t>(channels / kTileChannels, 1) * kTileChannels;
  }
  return size;
}

std::vector<ConvTile> tiles_of(const TiledConvolution& whole, const ConvTileSize& size) {
  if (whole.kind == Kind::kWeightGrad) return channel_tiles_of(whole, size.channels);
  const Extents made = whole.made.dims();
  // Tiles of input rows (transposed or backward) begin at multiples of the stride, so that they
  // have the padding of the whole.
  const int64_t unit = whole.kind == Kind::kForward ? 1 : whole.spec.strides[0];
  const int64_t tile_rows = (std::min(size.rows, made[kRows]) + unit - 1) / unit * unit;
  if (size.images >= made[kImages] && tile_rows >= made[kRows]) return {};
  std::vector<ConvTile> tiles;
  for (int64_t image = 0; image < made[kImages]; image += size.images) {
    for (int64_t row = 0; row < made[kRows]; row += tile_rows) {
      check_interrupted();
      auto tile = tile_of(whole, {image, std::min(image + size.images, made[kImages])},
                          {row, std::min(row + tile_rows, made[kRows])});
      // Whole images may have a form where rows of them have none.
      if (!tile && tile_rows < made[kRows]) return tiles_of(whole, {size.images, made[kRows], 0});
      if (!tile) return {};
      tiles.push_back(std::move(*tile));
    }
  }
  return tiles;
}

SequenceBuilder::Place add_tiles(SequenceBuilder& builder, const TiledConvolution& whole,
                                 const std::vector<ConvTile>& tiles,
                                 const SequenceBuilder::Args& shared) {
  using Place = SequenceBuilder::Place;
  const TileArguments names = arguments_of(whole.kind);
  builder.require_layout(whole.input, stored(whole, whole.from));
  if (whole.residual) builder.require_layout(*whole.residual, stored(whole, whole.made));
  const Place made = builder.output(0, stored(whole, whole.made));
  // Buffers for as many tiles as run in parallel, each as large as the largest tile needs.
  const auto largest = [&](const auto& desc_of_tile) -> const ConvTile& {
    return *std::ranges::max_element(
        tiles, {}, [&](const ConvTile& tile) { return desc_of_tile(tile).get_size(); });
  };
  const auto pad_of = [](const ConvTile& tile) { return tile.primitive.scratchpad(); };
  struct Lane {
    Place rows, results, pad;
  };
  std::vector<Lane> lanes;
  const auto threads = static_cast<size_t>(std::max(builder.threads(), 1));
  for (size_t lane = 0; lane < std::min(threads, tiles.size()); ++lane) {
    lanes.push_back({builder.scratch(largest([](const ConvTile& tile) { return tile.from; }).from),
                     builder.scratch(largest([](const ConvTile& tile) { return tile.made; }).made),
                     builder.scratch(largest(pad_of).primitive.scratchpad())});
  }
  for (size_t first = 0; first < tiles.size(); first += lanes.size()) {
    std::vector<SequenceBuilder::Copy> in, out;
    std::vector<SequenceBuilder::PrimitiveCall> calls;
    for (size_t i = first; i < std::min(first + lanes.size(), tiles.size()); ++i) {
      const ConvTile& tile = tiles[i];
      const Lane& lane = lanes[i - first];
      const Place from = builder.scratch_as(lane.rows, tile.from);
      const Place to = builder.scratch_as(lane.results, tile.made);
      in.push_back({builder.input_as(whole.input, tile.from_part), from});
      if (whole.residual) in.push_back({builder.input_as(*whole.residual, tile.made_part), to});
      SequenceBuilder::Args args = shared;
      args.emplace_back(names.from, from);
      args.emplace_back(names.made, to);
      const Desc pad = tile.primitive.scratchpad();
      if (!pad.is_zero()) args.emplace_back(DNNL_ARG_SCRATCHPAD, builder.scratch_as(lane.pad, pad));
      calls.push_back({tile.primitive, std::move(args)});
      out.push_back({to, builder.output_as(0, tile.made_part)});
    }
    builder.copy(in);
    builder.step(std::move(calls));
    builder.copy(out);
  }
  if (whole.residual) builder.allow_alias(0, *whole.residual);
  return made;
}

}  // namespace sardonyx::onednn
