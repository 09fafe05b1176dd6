#include "providers/cpu/pooling/pool_tiling.h"

#include <algorithm>

namespace sardonyx::cpu {
namespace {

// Every list of a window, one entry for each axis.
constexpr Shape ops::Window::*kLists[] = {&ops::Window::in,         &ops::Window::kernel,
                                          &ops::Window::strides,    &ops::Window::dilations,
                                          &ops::Window::pads_begin, &ops::Window::pads_end,
                                          &ops::Window::out};

void drop_axis(ops::Window& window, size_t axis) {
  for (const auto list : kLists) {
    Shape& sizes = window.*list;
    sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(axis));
  }
}

bool is_unpadded(const ops::Window& window, size_t axis) {
  return window.pads_begin[axis] == 0 && window.pads_end[axis] == 0;
}

// Whether one window covers all elements of the axis.
bool is_covered(const ops::Window& window, size_t axis) {
  return window.out[axis] == 1 && is_unpadded(window, axis) &&
         window.kernel[axis] == window.in[axis] && window.dilations[axis] == 1;
}

// The lists that count elements.
constexpr Shape ops::Window::*kCounts[] = {&ops::Window::in, &ops::Window::kernel,
                                           &ops::Window::strides, &ops::Window::pads_begin,
                                           &ops::Window::pads_end};

bool may_join_next(const ops::Window& window, size_t axis) {
  constexpr int64_t kMax = 1 << 30;  // so that no product overflows
  for (const auto list : kCounts) {
    if (std::max(std::abs((window.*list)[axis]), window.in[axis + 1]) > kMax) return false;
  }
  return window.dilations[axis] == 1 && is_covered(window, axis + 1);
}

void join_next(ops::Window& window, size_t axis) {
  for (const auto list : kCounts)
    (window.*list)[axis] *= window.in[axis + 1];
  drop_axis(window, axis + 1);
}

int64_t pieces_of(int64_t size, int64_t piece) {
  return (size + piece - 1) / piece;
}

}  // namespace

CollapsedWindow simplified(ops::Window window, int64_t channels, bool may_join_channels) {
  for (size_t axis = window.rank(); axis-- > 0 && window.rank() > 1;) {
    if (window.in[axis] == 1 && is_covered(window, axis)) drop_axis(window, axis);
  }
  while (window.rank() > 1 && may_join_next(window, window.rank() - 2))
    join_next(window, window.rank() - 2);
  if (window.rank() > 1 || !is_unpadded(window, 0) || !may_join_channels)
    return {std::move(window), channels};
  if (window.out[0] == 1) window.strides[0] = window.in[0];
  const bool is_apart = window.extent(0) <= window.strides[0];
  if (!is_apart || window.in[0] != window.out[0] * window.strides[0])
    return {std::move(window), channels};
  window.in[0] *= channels;
  window.out[0] *= channels;
  return {std::move(window), 1};
}

PoolPlan::PoolPlan(const CollapsedWindow& windows, const PoolLimits& limits)
    : window_(windows.window), channels_(windows.channels) {
  const size_t last = window_.rank() - 1;
  out_rows_ = windows.out_rows();
  for (size_t axis = 0; axis < last; ++axis)
    taps_ *= std::min(window_.kernel[axis], window_.in[axis]);
  for (const int64_t size : window_.in)
    in_size_ *= size;
  list_axes();
  list_rows();
  const int64_t width = window_.out[last];
  const int64_t fitting = (limits.piece_length - window_.extent(last)) / window_.strides[last] + 1;
  piece_ = std::clamp<int64_t>(fitting, 1, width);
  if (channels_ == 1 && out_rows_ == 1)
    piece_ = std::min(piece_, pieces_of(width, limits.min_tasks));
  pieces_ = pieces_of(width, piece_);
  const auto length = static_cast<int64_t>(longest_line().length());
  work_of_row_ = static_cast<double>(taps_) * static_cast<double>(length) +
                 static_cast<double>(piece_) * static_cast<double>(window_.kernel[last]);
  rows_ = 1;
  if (pieces_ == 1) {
    const int64_t most = std::min(limits.lines / length, limits.lines / taps_);
    rows_ = std::clamp<int64_t>(most, 1, out_rows_);
  }
  blocks_ = pieces_of(out_rows_, rows_);
  rows_ = pieces_of(out_rows_, blocks_);
  const double block_work = work_of_row_ * static_cast<double>(rows_);
  const auto wanted = static_cast<double>(limits.group_work) / block_work;
  group_ = std::clamp<int64_t>(static_cast<int64_t>(std::min<double>(wanted, 1 << 20)), 1,
                               pieces_of(channels_ * blocks_ * pieces_, limits.min_tasks));
  group_ = std::min(group_, channels_);
  groups_ = pieces_of(channels_, group_);
}

PoolPlan::PoolTile PoolPlan::share_of(int64_t task) const {
  PoolTile share{};
  share.first = task % pieces_ * piece_;
  share.outputs = std::min(piece_, row_length() - share.first);
  share.row = task / pieces_ % blocks_ * rows_;
  share.rows = std::min(rows_, out_rows_ - share.row);
  share.channel = task / (pieces_ * blocks_) * group_;
  share.channels = std::min(group_, channels_ - share.channel);
  return share;
}

Window1d PoolPlan::line_of(int64_t first, int64_t outputs, bool as_if_inside) const {
  const size_t last = window_.rank() - 1;
  Window1d line;
  line.kernel = static_cast<size_t>(window_.kernel[last]);
  line.stride = static_cast<size_t>(window_.strides[last]);
  line.dilation = static_cast<size_t>(window_.dilations[last]);
  line.outputs = static_cast<size_t>(outputs);
  const auto length = static_cast<int64_t>(line.length());
  const int64_t start = window_.start(last, first), begin = first_element(first);
  const int64_t end = std::clamp<int64_t>(start + length, begin, window_.in[last]);
  line.in = as_if_inside ? line.length() : static_cast<size_t>(end - begin);
  line.before = as_if_inside ? 0 : static_cast<size_t>(std::min(begin - start, length));
  return line;
}

int64_t PoolPlan::first_element(int64_t first) const {
  const size_t last = window_.rank() - 1;
  return std::clamp<int64_t>(window_.start(last, first), 0, window_.in[last]);
}

void PoolPlan::list_axes() {
  const size_t last = window_.rank() - 1;
  axes_.resize(last);
  steps_.resize(last);
  int64_t behind = window_.in[last];
  for (size_t axis = last; axis-- > 0; behind *= window_.in[axis]) {
    steps_[axis] = window_.dilations[axis] * behind;
    for (int64_t output = 0; output < window_.out[axis]; ++output) {
      const int64_t start = window_.start(axis, output);
      const ops::TapRange taps =
          ops::taps_inside(start, window_.kernel[axis], window_.dilations[axis], window_.in[axis]);
      const int64_t first = start + taps.begin * window_.dilations[axis];
      axes_[axis].push_back({taps.count() > 0 ? first * behind : 0, taps.count()});
    }
  }
}

int64_t PoolPlan::taps_of(int64_t row) const {
  int64_t count = 1;
  for_each_position(row, [&](size_t axis, size_t output) { count *= axes_[axis][output].count; });
  return count;
}

void PoolPlan::list_rows() {
  constexpr int64_t kMaxListed = 1 << 15;
  starts_.push_back(0);
  for (int64_t row = 0; row < out_rows_; ++row)
    starts_.push_back(starts_.back() + taps_of(row));
  if (starts_.back() > kMaxListed) return;
  listed_.resize(static_cast<size_t>(std::max<int64_t>(starts_.back(), 1)));
  for (int64_t row = 0; row < out_rows_; ++row)
    list_taps(row, listed_.data() + starts_[static_cast<size_t>(row)]);
}

size_t PoolPlan::list_scratch() const {
  return listed_.empty() ? static_cast<size_t>(rows_ * taps_ + rows_ + 1) : 0;
}

PoolPlan::TapLists PoolPlan::taps_under(const PoolTile& share, int64_t* scratch) const {
  if (!listed_.empty()) return {listed_.data(), starts_.data() + share.row};
  int64_t *starts = scratch, *taps = scratch + rows_ + 1, *end = taps;
  for (int64_t row = 0; row < share.rows; ++row) {
    starts[row] = end - taps;
    end = list_taps(share.row + row, end);
  }
  starts[share.rows] = end - taps;
  return {taps, starts};
}

// Lists the taps axis by axis: each axis multiplies the list by the taps of a window along it.
int64_t* PoolPlan::list_taps(int64_t row, int64_t* taps) const {
  if (taps_of(row) == 0) return taps;
  int64_t count = 1;
  taps[0] = 0;
  for_each_position(row, [&](size_t axis, size_t output) {
    const AxisTaps& own = axes_[axis][output];
    // The loop goes down, so that no entry is overwritten before it is read.
    for (int64_t tap = own.count; tap-- > 0;) {
      for (int64_t k = 0; k < count; ++k)
        taps[tap * count + k] = taps[k] + own.begin + tap * steps_[axis];
    }
    count *= own.count;
  });
  return taps + count;
}

}  // namespace sardonyx::cpu
