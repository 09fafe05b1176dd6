// Moves of elements between strided blocks: what Transpose, Slice, Concat, Expand, Tile and the
// like come down to. Elements are told apart by their width alone; packed types come one to a byte,
// as kernels see them.
#pragma once

#include "ir/dim.h"
#include "ir/dtype.h"
#include "ir/strides.h"

namespace sardonyx {

// Bytes from one element to the next in memory that kernels see: 1 for the packed types.
size_t element_bytes(DType dtype);

// An index space and where its elements lie on both sides, counted in elements. Strides may be zero
// (repeat) or negative (reverse) on the side that is read.
struct StridedBlock {
  Shape sizes;
  Strides from_strides, to_strides;
  int64_t from_offset = 0, to_offset = 0;
};

// Copies every element of `block`. Contiguous runs go by memcpy; where reading and writing run
// along different dims (a transposition) the two are walked in square tiles.
void copy_strided(DType dtype, const void* from, void* to, StridedBlock block);

// `count` neighbouring elements.
void copy_run(DType dtype, const void* from, int64_t from_index, void* to, int64_t to_index,
              int64_t count);

// `count` copies of element 0 of `value`.
void fill_run(DType dtype, const void* value, void* to, int64_t to_index, int64_t count);

}  // namespace sardonyx
