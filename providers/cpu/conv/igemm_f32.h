// Convolution of float32 images: products of windows with weights, several windows and output
// channels at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/core/memory/evictable_buffer.h"
#include "providers/cpu/conv/dwconv_f32.h"

namespace sardonyx::cpu {

// Output channels may be shared out in multiples of this, and biases are padded to it with zeros.
constexpr int64_t kConvolutionUnit = 32;

// One group of channels of one image, whose windows lie evenly and wholly in memory.
struct ConvolutionRows {
  const float* in;                   // the window of row 0, column 0
  std::span<const int32_t> offsets;  // of a window's elements, from its first one
  const float* weights;              // packed by pack_windows
  const float* bias;                 // [outputs rounded up to whole units]
  const float* residual;             // added, lies as `out` does, may be `out`; null: none
  float* out;
  int64_t in_row, in_column;  // from window to window, in elements
  ImageSteps out_steps;
  int64_t columns;  // of the output
  int64_t outputs;  // channels of the group
  float low, high;  // results are clipped to these; infinities: not at all
};

// How many floats the packed weights are, for windows of so many elements.
int64_t packed_windows_size(int64_t elements, int64_t outputs);
// Element `order[k]` of an output's weights goes with element k of the offsets.
void pack_windows(const LooseFloat* weights, std::span<const int64_t> order, int64_t outputs,
                  float* packed);

// Outputs [first_output, last_output) of rows [first_row, last_row); both begin and end with whole
// units or the last output. Every element is the sum of bias and residual, then the products added
// in the order of the offsets, whatever the share.
void convolve_rows(const ConvolutionRows& rows, int64_t first_row, int64_t last_row,
                   int64_t first_output, int64_t last_output);

}  // namespace sardonyx::cpu
