// Tiling of a pool over NCHW planes: a task is a block of output rows, or a piece of one long row,
// for a group of channels.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/ops/conv/window.h"
#include "providers/cpu/pooling/pool_nchw_kernel.h"

namespace sardonyx::cpu {

// A pool with its axes collapsed: axes of one element are dropped, an axis that each window covers
// whole is merged into the one before it, and channels become one axis, if they may, where no
// window reaches from one into the next.
struct CollapsedWindow {
  ops::Window window;
  int64_t channels;
  // The rows of outputs of one channel.
  int64_t out_rows() const { return element_count(window.out) / window.out.back(); }
};
CollapsedWindow simplified(ops::Window window, int64_t channels, bool may_join_channels = true);

// The limits by which a pool is cut into tasks: the memory that a task fills, and its work.
struct PoolLimits {
  int64_t piece_length;  // elements of a row of the input that a task merges at once
  int64_t lines;         // elements of all lines of a task
  int64_t group_work;    // elements that a task looks at, if there are enough channels
  int64_t min_tasks;     // below which channels are not grouped
};

class PoolPlan {
 public:
  PoolPlan(const CollapsedWindow& windows, const PoolLimits& limits);

  // The outputs of one task: `channels` channels from `channel` on, `rows` rows of outputs from
  // `row` on, `outputs` outputs of each row from `first` on. Either all outputs of a row or one
  // row.
  struct PoolTile {
    int64_t channel, channels, row, rows, first, outputs;
  };
  PoolTile share_of(int64_t task) const;
  int64_t tasks() const { return groups_ * blocks_ * pieces_; }
  // The elements that one task reads, and that all tasks read.
  double work_of_task() const { return work_of_row_ * static_cast<double>(rows_ * group_); }
  double work() const {
    return work_of_row_ * static_cast<double>(out_rows_ * channels_ * pieces_);
  }
  double work_of_row() const { return work_of_row_; }

  const ops::Window& window() const { return window_; }
  int64_t channels() const { return channels_; }
  int64_t row_length() const { return window_.out.back(); }
  int64_t in_size() const { return in_size_; }
  int64_t out_rows() const { return out_rows_; }
  int64_t out_size() const { return out_rows_ * row_length(); }
  // The largest line, rows and outputs of any task.
  Window1d longest_line() const { return line_of(0, piece_, true); }
  Window1d whole_line() const { return line_of(0, row_length(), true); }
  int64_t max_rows() const { return rows_; }
  int64_t max_outputs() const { return piece_; }

  // The line under `outputs` windows from `first` on, and the first element that it reads of a row
  // of the input.
  Window1d line_of(int64_t first, int64_t outputs, bool as_if_inside = false) const;
  int64_t first_element(int64_t first) const;
  // The offsets of the input rows under a tile, in the form of PoolRowArgs. Lists that are too long
  // to keep for all rows are written to `scratch`, which has list_scratch() elements.
  struct TapLists {
    const int64_t *taps, *starts;
  };
  size_t list_scratch() const;
  TapLists taps_under(const PoolTile& share, int64_t* scratch) const;
  // The place of output row `row` on each axis but the last, from the last but one to the first.
  template <typename Visit>
  void for_each_position(int64_t row, const Visit& visit) const {
    for (size_t axis = window_.rank() - 1; axis-- > 0; row /= window_.out[axis])
      visit(axis, static_cast<size_t>(row % window_.out[axis]));
  }

 private:
  // The taps of an output along one axis that are inside the input: the first, and their number.
  struct AxisTaps {
    int64_t begin, count;
  };
  void list_axes();
  void list_rows();
  int64_t taps_of(int64_t row) const;
  // Returns the end of the list.
  int64_t* list_taps(int64_t row, int64_t* taps) const;

  ops::Window window_;
  int64_t channels_;
  int64_t in_size_ = 1, out_rows_ = 1;
  int64_t taps_ = 1;  // rows of the input under a row of outputs, at most
  double work_of_row_ = 0;
  int64_t piece_, pieces_, rows_, blocks_, group_, groups_;
  std::vector<std::vector<AxisTaps>> axes_;  // all but the last
  std::vector<int64_t> steps_;               // elements of the input between two taps
  std::vector<int64_t> listed_;              // under all rows; empty where that is much
  std::vector<int64_t> starts_;
};

}  // namespace sardonyx::cpu
