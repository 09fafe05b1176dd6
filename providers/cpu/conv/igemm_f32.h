// Implicit GEMM of float32 images: the micro-kernel multiplies a tile of windows with a panel of
// packed weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/core/memory/evictable_buffer.h"
#include "providers/cpu/conv/dwconv_f32.h"

namespace sardonyx::cpu {

// Threads take output channels in multiples of this; biases are padded to it with zeros.
constexpr int64_t kConvolutionUnit = 32;

// One group of channels of one image. All windows are wholly in memory, at constant strides.
struct ConvolutionRows {
  const float* in;                   // the window of row 0, column 0
  std::span<const int32_t> offsets;  // of a window's elements, from its first one
  const float* weights;              // packed by pack_conv_weights
  const float* bias;                 // [outputs rounded up to whole units]
  const float* residual;             // added, in the layout of `out`, may be `out`; or null
  float* out;
  int64_t in_row, in_column;  // from window to window, in elements
  ImageSteps out_steps;
  int64_t columns;  // of the output
  int64_t outputs;  // channels of the group
  float low, high;  // results are clipped to these; infinities: not at all
};

// Floats of the packed weights, for windows of this many elements.
int64_t packed_windows_size(int64_t elements, int64_t outputs);
// Element `order[k]` of the `elements` weights of an output goes with element k of the offsets.
void pack_conv_weights(const LooseFloat* weights, int64_t elements, std::span<const int64_t> order,
                       int64_t outputs, float* packed);

// Outputs [first_output, last_output) of rows [first_row, last_row); both begin and end with whole
// units or the last output. Every element is the sum of bias and residual, then the products added
// in the order of the offsets, whatever the share.
void convolve_rows(const ConvolutionRows& rows, int64_t first_row, int64_t last_row,
                   int64_t first_output, int64_t last_output);

}  // namespace sardonyx::cpu
