// Convolution of an image with windows of 3x3 at every pixel, dilated or not, by Winograd's
// algorithm: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.
#pragma once

#include <algorithm>
#include <cstdint>

#include "providers/cpu/conv/dwconv_f32.h"

namespace sardonyx::cpu {

// Outputs may be shared out in multiples of this; biases and weights are padded to it with zeros.
constexpr int64_t kWinogradUnit = 32;

struct WinogradImage {
  // Tiles of side x side outputs: 4, with the points 0, +-5/8, +-3/2 and infinity of
  // transform_windows(), or 2, which takes fewer than half of the weights for it and nearly twice
  // as many multiplications.
  int64_t side;
  const float* in;
  const float* weights;   // transformed: [outputs / unit][places][inputs][unit]
  const float* bias;      // [outputs rounded up to whole units]
  const float* residual;  // added, has the layout of `out`, may be `out`; null: none
  float* out;
  ImageSteps in_steps, out_steps;
  int64_t inputs, outputs;
  int64_t height, width, out_height, out_width;
  int64_t pad[2];  // at the beginning
  int64_t dilation[2] = {1, 1};
  float low, high;  // results are clipped to these; infinities: not at all

  int64_t places() const { return (side + 2) * (side + 2); }  // of a tile that is transformed
  // Outputs that are a dilation apart make up an image of their own, which has this many tiles.
  int64_t tiles_of_phase(size_t axis) const {
    const int64_t out = axis == 0 ? out_height : out_width, of_tile = side * dilation[axis];
    return (out + of_tile - 1) / of_tile;
  }
  int64_t tiles_along(size_t axis) const {
    return std::min(dilation[axis], axis == 0 ? out_height : out_width) * tiles_of_phase(axis);
  }
  // The first row or column of the output in a tile; the others follow at steps of the dilation.
  int64_t first_of_tile(size_t axis, int64_t index) const {
    const int64_t phase = index / tiles_of_phase(axis), tile = index % tiles_of_phase(axis);
    return phase + tile * side * dilation[axis];
  }
  int64_t tiles_across() const { return tiles_along(1); }
  int64_t tiles() const { return tiles_along(0) * tiles_across(); }
};

// Floats of scratch memory that so many tiles at a time take.
int64_t winograd_scratch(const WinogradImage& image, int64_t tiles);

// Outputs [first_output, last_output), which begin and end with whole units or the last output, of
// tiles [first_tile, last_tile), row by row. Results do not depend on what is computed in one pass.
void convolve_winograd(const WinogradImage& image, int64_t first_tile, int64_t last_tile,
                       int64_t first_output, int64_t last_output, float* scratch);

}  // namespace sardonyx::cpu
