// Convolution of an image with windows of 3x3 at every pixel by Winograd's algorithm: Lavin and
// Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.
#pragma once

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
  int64_t pad[2];   // at the beginning
  float low, high;  // results are clipped to these; infinities: not at all

  int64_t places() const { return (side + 2) * (side + 2); }  // of a tile that is transformed
  int64_t tiles_across() const { return (out_width + side - 1) / side; }
  int64_t tiles() const { return (out_height + side - 1) / side * tiles_across(); }
};

// Floats of scratch memory that so many tiles at a time take.
int64_t winograd_scratch(const WinogradImage& image, int64_t tiles);

// Outputs [first_output, last_output), which begin and end with whole units or the last output, of
// tiles [first_tile, last_tile), row by row. Results do not depend on what is computed in one pass.
void convolve_winograd(const WinogradImage& image, int64_t first_tile, int64_t last_tile,
                       int64_t first_output, int64_t last_output, float* scratch);

}  // namespace sardonyx::cpu
