// Windows that slide along contiguous rows of float32, vectorised for the CPU that runs them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

// How the elements of a window become one. A NaN loses to every number in kMax.
enum class Merge : uint8_t { kMax, kSum };
// What changes nothing but another neutral element.
float neutral_of(Merge merge);

// out[i] = merge(out[i], in[i]) for i < count.
void merge_row(Merge merge, const float* in, float* out, size_t count);

// Window i of a row begins at element i * stride and has an element every `dilation`.
struct RowWindows {
  size_t kernel, stride, dilation;
  // From the first element of the first of `count` windows to the last of the last.
  size_t length(size_t count) const { return (count - 1) * stride + (kernel - 1) * dilation + 1; }
};

// Floats of scratch memory that merge_windows() wants.
size_t window_scratch(const RowWindows& windows, size_t count);
// out[i] = what the elements of window i merge into, for i < count; reads windows.length(count)
// elements.
void merge_windows(Merge merge, const RowWindows& windows, const float* in, float* scratch,
                   float* out, size_t count);

}  // namespace sardonyx::cpu
