// Convolution of float32 images of few output channels: several channels of many pixels at a time,
// where the pixels of a channel are adjacent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/core/memory/evictable_buffer.h"

namespace sardonyx::cpu {

// Windows that are wholly in memory, adjacent in a row.
struct PlaneWindows {
  const float* in;                   // the window of row 0, column 0
  std::span<const int32_t> offsets;  // of a window's elements, from its first one
  const float* weights;              // packed by pack_plane_windows
  const float* bias;                 // [outputs]
  const float* residual;             // added, has the layout of `out`, may be `out`; null: none
  float* out;
  int64_t in_row, out_row, out_plane;  // from one to the next, in elements
  int64_t columns;                     // of the output
  int64_t outputs;                     // channels
  float low, high;                     // results are clipped to these; infinities: not at all
};

// Element `order[k]` of an output's weights goes with element k of the offsets. `packed` takes as
// many elements as there are weights.
void pack_plane_windows(const LooseFloat* weights, std::span<const int64_t> order, int64_t outputs,
                        float* packed);

// Rows [first_row, last_row) of all outputs. Every element is the sum of bias and residual, then
// the products added in the order of the offsets, whatever the share.
void convolve_planes(const PlaneWindows& windows, int64_t first_row, int64_t last_row);

// planes[c * plane + i] = pixels[i * step + c] for c < channels, i < count.
void pixels_to_planes(const float* pixels, int64_t step, int64_t channels, int64_t count,
                      float* planes, int64_t plane);

}  // namespace sardonyx::cpu
