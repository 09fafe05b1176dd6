// Tiling of long convolutions into some images, or rows of each: oneDNN cannot cancel a primitive
// while it runs, so deadlines and cancellation are checked between tiles.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "providers/onednn/primitive/api.h"
#include "providers/onednn/primitive/primitive_sequence.h"

namespace sardonyx::onednn {

// A convolution, or a gradient of one, that is computed in tiles of its output.
struct TiledConvolution {
  // The kind of convolution, which decides the rows of the input that a row of the output depends
  // on.
  enum class Kind {
    kForward,     // the rows under the window
    kTransposed,  // the rows whose windows contain it
    kInputGrad,   // as kTransposed; reads spec.dst, writes spec.src
    kWeightGrad,  // reads spec.dst, writes spec.weights; tiles are of output channels
  };
  Kind kind = Kind::kForward;
  ConvolutionSpec spec;      // the whole convolution
  Desc from, weights, made;  // layouts of the whole primitive; for kWeightGrad
                             // `made` is the layout of the weights
  bool layouts = false;      // true if memory has the layouts `from` and `made`; else row-major
  std::function<MaybePrimitive(const ConvolutionSpec& tile)> make;
  size_t input = 0;                // the input slot of the request
  std::optional<size_t> residual;  // an input that is added
};

struct ConvTile {
  Primitive primitive;
  Desc from, made;            // layouts of the tile's own memory
  Desc from_part, made_part;  // layouts of the tile as a part of the whole tensors
};

// The images and rows of a tile; for kWeightGrad its channels.
struct ConvTileSize {
  int64_t images, rows, channels;
};
// The size whose tiles take a fraction of a second, at most the whole convolution.
ConvTileSize tile_size(const TiledConvolution& whole);

// Empty if one tile would be the whole, or oneDNN has no primitive for the tiles.
std::vector<ConvTile> tiles_of(const TiledConvolution& whole, const ConvTileSize& size);

// The layout of `desc` in memory.
Desc stored(const TiledConvolution& whole, const Desc& desc);

// Adds the steps that copy each tile in, compute it, and copy it out. All tiles have the arguments
// `shared`. Returns output 0.
SequenceBuilder::Place add_tiles(SequenceBuilder& builder, const TiledConvolution& whole,
                                 const std::vector<ConvTile>& tiles,
                                 const SequenceBuilder::Args& shared);

}  // namespace sardonyx::onednn
