// Convolution by matrix products: the windows of a plane, a channel of an image of any rank, as
// columns of a matrix.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ir/core/strides.h"
#include "ir/ops/conv/window.h"

namespace sardonyx::cpu {

// The im2col view of a plane: the elements that its windows read at each tap.
template <typename T>
class WindowPlane {
 public:
  explicit WindowPlane(const ops::Window& window)
      : window_(window),
        steps_(row_major_strides(window.in)),
        taps_(element_count(window.kernel)),
        places_(element_count(window.out)),
        elements_(element_count(window.in)) {}

  int64_t taps() const { return taps_; }
  int64_t places() const { return places_; }
  int64_t elements() const { return elements_; }
  // The greatest number of contiguous runs that `count` windows have at one tap.
  int64_t runs_at_a_tap(int64_t count) const { return count / window_.out.back() + 2; }
  // Whether the windows are the plane's elements in order, so that nothing has to be gathered.
  bool is_plane_itself() const {
    return window_.is_pointwise() && window_.has_unit_strides() && places_ == elements_;
  }

  // Writes the element of each of the windows [first, first + count) at a tap to `row`; 0 beyond
  // the plane.
  void gather(const T* plane, int64_t tap, int64_t first, int64_t count, T* row) const {
    std::fill_n(row, count, T{0});
    for_each_run(tap, first, count, [&](int64_t column, int64_t length, int64_t at, int64_t step) {
      for (int64_t i = 0; i < length; ++i)
        row[column + i] = plane[at + i * step];
    });
  }
  // The reverse (col2im): adds `row` to these elements of the plane.
  void add_to(T* plane, int64_t tap, int64_t first, int64_t count, const T* row) const {
    for_each_run(tap, first, count, [&](int64_t column, int64_t length, int64_t at, int64_t step) {
      for (int64_t i = 0; i < length; ++i)
        plane[at + i * step] += row[column + i];
    });
  }

  // visit(column, length, place in the plane of the first, distance of neighbours) for the windows
  // [first, first + count) whose element at a tap is inside the plane, in rows.
  template <typename Visit>
  void for_each_run(int64_t tap, int64_t first, int64_t count, const Visit& visit) const {
    const size_t last = window_.rank() - 1;
    const int64_t width = window_.out[last], step = window_.strides[last];
    const int64_t shift =
        tap % window_.kernel[last] * window_.dilations[last] - window_.pads_begin[last];
    const int64_t begin = shift >= 0 ? 0 : (-shift + step - 1) / step;
    const int64_t end = shift < window_.in[last] ? (window_.in[last] - 1 - shift) / step + 1 : 0;
    for (int64_t place = first; place < first + count;) {
      const int64_t from = place % width, to = std::min(width, from + first + count - place);
      const int64_t row = row_of(tap / window_.kernel[last], place / width);
      const int64_t low = std::max(from, begin), high = std::min(to, end);
      if (row >= 0 && low < high)
        visit(place - first + low - from, high - low, row + low * step + shift, step);
      place += to - from;
    }
  }

 private:
  // The offset of the input row that tap `tap` of a row of windows reads; negative beyond the
  // plane.
  int64_t row_of(int64_t tap, int64_t window) const {
    int64_t row = 0;
    for (size_t axis = window_.rank() - 1; axis-- > 0;) {
      const int64_t at = window_.start(axis, window % window_.out[axis]) +
                         tap % window_.kernel[axis] * window_.dilations[axis];
      if (at < 0 || at >= window_.in[axis]) return -1;
      row += at * steps_[axis];
      window /= window_.out[axis];
      tap /= window_.kernel[axis];
    }
    return row;
  }

  ops::Window window_;
  Strides steps_;
  int64_t taps_, places_, elements_;
};

}  // namespace sardonyx::cpu
