// Tiling of long transposed convolutions into some output channels of an image each, where tiles of
// rows (conv_row_tiles.h) do not help.
#pragma once

#include <optional>

#include "providers/onednn/conv/conv_row_tiles.h"

namespace sardonyx::onednn {

struct ChannelTiledDeconvolution {
  const TiledConvolution& whole;
  Desc weights;  // output, input, kernel... as input 1 stores them
  bool has_bias = false;
};

// The channels of a tile, where a window is longer than the rows that make a tile of rows: oneDNN's
// GEMM multiplies all pixels under a tile's rows with all taps, so that each tile of rows would
// take nearly as long as the whole.
std::optional<int64_t> tile_channels(const TiledConvolution& whole, int64_t group);

// Adds the steps that copy each tile of up to `channels` in, compute it, and copy it out. False,
// with nothing added, if oneDNN has no primitive for the tiles.
bool add_channel_tiles(SequenceBuilder& builder, const ChannelTiledDeconvolution& deconvolution,
                       int64_t channels);

}  // namespace sardonyx::onednn
