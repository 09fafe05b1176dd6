// Max and average pooling of float32 images in NHWC, or in one block of NCHW16c. Vectors hold
// channels of one pixel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

// The windows of one row of outputs. Window `output` begins at column output * stride - pad.
struct PixelWindows {
  bool is_max;  // else the average
  int64_t channels;
  int64_t step;  // elements from pixel to pixel, of input and output
  int64_t width, kernel, stride, dilation, pad;
  // The divisor of an average is the number of its taps in columns [-counted_pad, counted_end),
  // times `count`.
  int64_t counted_pad, counted_end;
  double count;
};

// Rows of the input under one of outputs, at most.
constexpr size_t kMaxPooledRows = 512;

// Floats of the scratch that pool_row() needs.
size_t pool_scratch(const PixelWindows& windows);
// Computes a row of outputs from the `count` > 0 rows of the input under it. Each window has at
// least one tap inside the input. A maximum ignores NaN unless all elements are NaN.
void pool_row(const PixelWindows& windows, const float* const* rows, size_t count, int64_t outputs,
              float* out, float* scratch);

}  // namespace sardonyx::cpu
