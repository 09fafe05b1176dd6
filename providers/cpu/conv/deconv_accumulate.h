// Sums of elements of several sources, pixel by pixel: the outputs of a transposed convolution,
// channels last.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

// A row of evenly spaced pixels, each the sum of the same number of taps.
struct TapRow {
  const float* const* taps;     // [count], at the first pixel
  const float* const* factors;  // [count], of `channels` each, the same for all pixels; null: ones
  size_t count;                 // number of taps; may be 0
  const float* bias;            // [channels]
  float* out;
  int64_t tap_step, out_step;  // from pixel to pixel, in elements
  int64_t channels;
  float low, high;  // results are clipped to these; infinities: not at all
};

// Every element is the bias, then the taps added in their order, whatever the share of the pixels.
void sum_taps(const TapRow& row, int64_t pixels);

}  // namespace sardonyx::cpu
