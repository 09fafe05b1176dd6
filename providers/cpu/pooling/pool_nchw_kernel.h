// Pooling over rows of float or double in NCHW, vectorised for the CPU that runs it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

// The reduction of a window. kMax ignores NaN unless all elements are NaN.
enum class Merge : uint8_t { kMax, kSum };

// Windows along a padded line: window i begins at element i * stride; its taps are `dilation`
// apart. The line is `in` elements of the input, with `before` neutral elements as padding in
// front.
struct Window1d {
  size_t kernel = 1, stride = 1, dilation = 1, outputs = 1;
  size_t in = 1, before = 0;
  // Elements of the line, from the first one of the first window to the last one of the last.
  size_t length() const { return (outputs - 1) * stride + (kernel - 1) * dilation + 1; }
};

// Rows of outputs, each from the rows of the input that are under its windows.
template <typename T>
struct PoolRowArgs {
  Merge merge = Merge::kMax;
  int64_t power = 0;        // above 0: |element|^power is merged
  bool takes_root = false;  // the square root of what is merged
  Window1d line;
  // The line that `line` is a piece of, whose order of summation is used however it is cut. Null:
  // `line` is whole.
  const Window1d* whole_line = nullptr;
  size_t rows = 1;
  size_t row_step = 0;  // from one row of outputs to the next
  // The offsets of input rows, and for each row of outputs the index of its first tap in that list;
  // one more index ends the last row's taps.
  const int64_t* taps = nullptr;
  const int64_t* tap_starts = nullptr;
  // A sum is multiplied by the scale of its row and the scale of its column; null in kMax.
  const T *row_scales = nullptr, *column_scales = nullptr;
};

// Elements of scratch memory that pool_rows() needs for windows along `line`, in up to `rows` rows.
template <typename T>
size_t window_scratch(const Window1d& line, size_t rows);

// Whether windows of this kind are merged in place, without a line of their own, if each row
// of outputs has one tap. Such lines may be long.
template <typename T>
bool merges_in_place(const Window1d& line);

// Merges the windows of `channels` channels, `in_step` elements of the input and `out_step` of the
// output apart. Reads what is under the windows and nothing beyond.
template <typename T>
void pool_rows(const PoolRowArgs<T>& windows, size_t channels, const T* in, size_t in_step, T* out,
               size_t out_step, T* scratch);

}  // namespace sardonyx::cpu
