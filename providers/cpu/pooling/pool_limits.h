// Limits and scratch layout that the pooling kernels share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/kernel.h"
#include "providers/cpu/quantization/quantize_linear_kernel.h"

namespace sardonyx::cpu {

// Elements of a line that about fit into the L1 cache; and of rows that are merged in place, enough
// to make a task worth its start.
constexpr int64_t kLineLength = 1 << 12, kLengthInPlace = 1 << 14;
constexpr int64_t kTaskWork = 1 << 16;
// Elements below which a second thread does not pay for its start.
constexpr double kWorkPerThread = 1 << 17;
// Elements that a thread reads at most between two checks of the deadline.
constexpr double kMaxWork = 1 << 26;
constexpr int64_t kLongestWindow = 1 << 20;

// Bytes are pooled as floats, which hold them exactly. kMaxWidened: the most elements of a channel
// that are widened.
template <typename T>
constexpr bool kIsByte = sizeof(T) == 1;
constexpr int64_t kMaxWidened = 1 << 18;
inline void to_floats(const uint8_t* in, float* out, size_t count) {
  dequantize_row(in, 1, 0, out, count);
}
inline void to_floats(const int8_t* in, float* out, size_t count) {
  dequantize_row(in, 1, 0, out, count);
}

// The consecutive parts of a thread's scratch memory.
class ScratchParts {
 public:
  // Reserves `count` elements and returns the offset of the first.
  template <typename T>
  size_t add(size_t count) {
    const size_t begin = bytes_;
    bytes_ = (bytes_ + count * sizeof(T) + 63) / 64 * 64;
    return begin;
  }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

// MaxPool with indices.
Prepared prepare_max_pool_indices(const KernelRequest& request);

}  // namespace sardonyx::cpu
