#include "providers/onednn/conv/deconv_channel_tiles.h"

#include <algorithm>

#include "ir/core/run_control.h"

namespace sardonyx::onednn {
namespace {

// Multiplications of a tile: oneDNN's GEMM writes each product of a pixel with a tap before it adds
// them up, and where there are few input channels it does little else.
constexpr double kProductsPerChannelTile = 1 << 30;

// A transposed convolution of one image and some output channels.
struct ChannelTile {
  int64_t image, first, channels;
  Primitive primitive;
};

class ChannelTiling {
 public:
  explicit ChannelTiling(const ChannelTiledDeconvolution& deconvolution)
      : whole_(deconvolution.whole),
        weights_(deconvolution.weights),
        has_bias_(deconvolution.has_bias) {}

  // Empty if oneDNN has no primitive for the tiles.
  std::vector<ChannelTile> tiles(int64_t most_channels) const {
    const int64_t images = whole_.made.dims()[0], all = whole_.made.dims()[1];
    std::vector<ChannelTile> tiles;
    for (int64_t first = 0; first < all; first += most_channels) {
      check_interrupted();
      const int64_t channels = std::min(most_channels, all - first);
      const MaybePrimitive primitive = whole_.make(spec_of(channels));
      if (!primitive || primitive->is_reference()) return {};
      for (int64_t image = 0; image < images; ++image)
        tiles.push_back({image, first, channels, *primitive});
    }
    return tiles;
  }

  // Adds the steps of all tiles, as many tiles at a time as there are threads.
  void add(SequenceBuilder& builder, const std::vector<ChannelTile>& tiles) const {
    builder.require_layout(0, stored(whole_, whole_.from));
    builder.output(0, stored(whole_, whole_.made));
    const auto lanes = static_cast<size_t>(std::max(builder.threads(), 1));
    std::vector<std::vector<Place>> memory;
    for (size_t lane = 0; lane < std::min(lanes, tiles.size()); ++lane)
      memory.push_back(memory_of(builder, tiles));
    for (size_t first = 0; first < tiles.size(); first += lanes) {
      check_interrupted();
      std::vector<SequenceBuilder::Copy> in, out;
      std::vector<SequenceBuilder::PrimitiveCall> calls;
      for (size_t i = first; i < std::min(first + lanes, tiles.size()); ++i)
        add_tile(builder, tiles[i], memory[i - first], in, calls, out);
      builder.copy(in);
      builder.step(std::move(calls));
      builder.copy(out);
    }
  }

 private:
  using Place = SequenceBuilder::Place;
  struct TileArgument {
    int name;
    Desc own;   // the layout of the tile's own memory
    Desc part;  // the layout of the tile as a part of the whole tensor
  };

  ConvolutionSpec spec_of(int64_t channels) const {
    ConvolutionSpec spec = whole_.spec;
    Extents from = spec.src.dims(), weights = spec.weights.dims(), made = spec.dst.dims();
    from[0] = made[0] = 1;
    made[1] = weights[0] = channels;
    spec.src = any_desc(whole_.from.data_type(), from);
    spec.weights = any_desc(whole_.from.data_type(), weights);
    spec.dst = any_desc(whole_.from.data_type(), made);
    if (has_bias_) spec.bias = plain_desc(whole_.from.data_type(), {channels});
    return spec;
  }

  // The arguments of a tile's primitive; the result comes last.
  std::vector<TileArgument> arguments_of(const ChannelTile& tile) const {
    const auto part = [](const Desc& whole, const Desc& own, size_t dim, int64_t begin,
                         int64_t image) {
      Extents at(own.dims().size(), 0);
      at[0] = image;
      at[dim] = begin;
      return whole.submemory_desc(own.dims(), at);
    };
    const Primitive& made = tile.primitive;
    std::vector<TileArgument> arguments{
        {DNNL_ARG_SRC, made.src(), part(stored(whole_, whole_.from), made.src(), 1, 0, tile.image)},
        {DNNL_ARG_WEIGHTS, made.weights(), part(weights_, made.weights(), 0, tile.first, 0)}};
    if (has_bias_) {
      const Desc own = plain_desc(whole_.from.data_type(), {tile.channels});
      arguments.push_back({DNNL_ARG_BIAS, own, part(whole_.spec.bias, own, 0, tile.first, 0)});
    }
    arguments.push_back({DNNL_ARG_DST, made.dst(),
                         part(stored(whole_, whole_.made), made.dst(), 1, tile.first, tile.image)});
    return arguments;
  }

  // One buffer for each argument and one for the scratchpad, each as large as the largest tile
  // needs. That is the first one, since only the last may have fewer channels.
  std::vector<Place> memory_of(SequenceBuilder& builder,
                               const std::vector<ChannelTile>& tiles) const {
    std::vector<Place> places;
    for (const TileArgument& argument : arguments_of(tiles.front()))
      places.push_back(builder.scratch(argument.own));
    const Desc first = tiles.front().primitive.scratchpad();
    const Desc last = tiles.back().primitive.scratchpad();
    places.push_back(builder.scratch(first.get_size() < last.get_size() ? last : first));
    return places;
  }

  void add_tile(SequenceBuilder& builder, const ChannelTile& tile, const std::vector<Place>& memory,
                std::vector<SequenceBuilder::Copy>& in,
                std::vector<SequenceBuilder::PrimitiveCall>& calls,
                std::vector<SequenceBuilder::Copy>& out) const {
    SequenceBuilder::Args args;
    const std::vector<TileArgument> arguments = arguments_of(tile);
    for (size_t i = 0; i < arguments.size(); ++i) {
      const auto& [name, own, part] = arguments[i];
      args.emplace_back(name, builder.scratch_as(memory[i], own));
      const size_t input = name == DNNL_ARG_SRC ? 0 : name == DNNL_ARG_WEIGHTS ? 1 : 2;
      if (name == DNNL_ARG_DST)
        out.push_back({args.back().second, builder.output_as(0, part)});
      else
        in.push_back({builder.input_as(input, part), args.back().second});
    }
    const Desc pad = tile.primitive.scratchpad();
    if (!pad.is_zero())
      args.emplace_back(DNNL_ARG_SCRATCHPAD, builder.scratch_as(memory.back(), pad));
    calls.push_back({tile.primitive, std::move(args)});
  }

  const TiledConvolution& whole_;
  const Desc& weights_;  // as ONNX stores them
  bool has_bias_;
};

}  // namespace

std::optional<int64_t> tile_channels(const TiledConvolution& whole, int64_t group) {
  const ConvolutionSpec& spec = whole.spec;
  const Extents made = whole.made.dims(), from = whole.from.dims(), weights = spec.weights.dims();
  const int64_t rows = tile_size(whole).rows;
  const int64_t window = (weights[2] - 1) * spec.dilations[0] + 1;
  if (group > 1 || rows >= made[2] || 2 * window < rows) return std::nullopt;
  double products = 1;  // of an output channel
  for (size_t dim = 1; dim < weights.size(); ++dim)
    products *= static_cast<double>(weights[dim] * (dim > 1 ? from[dim] : 1));
  const auto channels = static_cast<int64_t>(kProductsPerChannelTile / products);
  return std::clamp<int64_t>(channels, 1, made[1]);
}

bool add_channel_tiles(SequenceBuilder& builder, const ChannelTiledDeconvolution& deconvolution,
                       int64_t channels) {
  const ChannelTiling tiling(deconvolution);
  const std::vector<ChannelTile> tiles = tiling.tiles(channels);
  if (tiles.empty()) return false;
  tiling.add(builder, tiles);
  return true;
}

}  // namespace sardonyx::onednn
