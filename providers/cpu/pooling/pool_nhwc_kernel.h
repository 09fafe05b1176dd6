// Pools of float32 images whose pixels have their channels side by side: channels last, or in
// blocks. Vectors go along the channels.
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
  // What an average is divided by: the taps in columns [-counted_pad, counted_end), times `count`.
  int64_t counted_pad, counted_end;
  double count;
};

// Rows of the input under one of outputs, at most.
constexpr size_t kMaxPooledRows = 512;

// Floats of the memory that pool_row() fills.
size_t pool_room(const PixelWindows& windows);
// A row of outputs, from the rows of the input under it, `count` > 0 of them. Windows have a tap
// inside. Of a maximum NaN loses to every number.
void pool_row(const PixelWindows& windows, const float* const* rows, size_t count, int64_t outputs,
              float* out, float* room);

}  // namespace sardonyx::cpu
