// Moves of elements between strided blocks: what Transpose, Slice, Concat, Expand, Tile and the
// like come down to. Elements are told apart by their width alone; packed types come one to a byte,
// as kernels see them.
#pragma once

#include "ir/core/dtype.h"
#include "ir/core/strides.h"
#include "ir/core/symbolic_dim.h"

namespace sardonyx {

// Bytes from one element to the next in memory that kernels see: 1 for the packed types.
size_t element_bytes(DType dtype);

// An index space and where its elements are on both sides, counted in elements. Strides may be zero
// (repeat) or negative (reverse) on the side that is read.
struct StridedBlock {
  DimValues sizes;
  Strides from_strides, to_strides;
  int64_t from_offset = 0, to_offset = 0;
};

// A block made ready to be copied any number of times, by several threads at once. Contiguous runs
// go by memcpy; where reading and writing run along different dims (a transposition) the two are
// walked in square tiles. `run` allocates nothing.
class BlockCopy {
 public:
  BlockCopy(DType dtype, StridedBlock block);
  void run(const void* from, void* to) const { run_part(from, to, 0, 1); }
  // One of `parts` shares of nearly equal size, which together are the whole.
  void run_part(const void* from, void* to, int64_t part, int64_t parts) const;
  int64_t count() const { return count_; }

 private:
  // What the two innermost dims, rows and columns, come to.
  enum class InnerLoop : uint8_t { kRuns, kRepeats, kTransposed, kInterleaved, kSteps };

  int64_t dense_below(const int64_t* sizes, size_t level) const;
  template <typename T>
  void walk(const T* from, T* to, const int64_t* sizes, size_t level) const;
  template <typename T>
  void copy_inner(const T* from, T* to, int64_t rows, int64_t columns) const;

  DType dtype_;
  StridedBlock block_;  // simplified; of rank 2 at least
  InnerLoop inner_ = InnerLoop::kSteps;
  size_t split_ = 0;  // the dim that is shared out
  int64_t count_ = 0;
};

// Copies every element of `block`; checks for interruption.
void copy_strided(DType dtype, const void* from, void* to, StridedBlock block);

// `count` neighbouring elements.
void copy_run(DType dtype, const void* from, int64_t from_index, void* to, int64_t to_index,
              int64_t count);

// `count` copies of element 0 of `value`.
void fill_run(DType dtype, const void* value, void* to, int64_t to_index, int64_t count);

}  // namespace sardonyx
