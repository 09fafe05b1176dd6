// Bools as bytes. An element of ours is 0 or 1. Memory of others may hold any byte for true, as C
// and numpy allow: whatever makes a bool tensor of it normalises the bytes first, so that elements
// may be moved, compared and counted as they are. Kernels that compute with bools hold any byte
// but 0 for true all the same, since memory that is not copied may change after it was looked at.
#pragma once

#include "ir/core/tensor.h"

namespace sardonyx {

// Whether every byte is 0 or 1. `bytes` may be null for elements that nobody is to look at: nothing
// is said of those.
bool are_normal_bools(const void* bytes, size_t count);
// 1 for every byte that is not 0. `to` may be `from`.
void normalize_bools(const void* from, void* to, size_t count);
// Normalizes the elements of a bool tensor in place; leaves tensors of other types alone.
void normalize_bools(Tensor& tensor);
// Whether element `index` holds.
inline bool bool_at(const void* bytes, int64_t index) {
  return static_cast<const uint8_t*>(bytes)[index] != 0;
}
// `given`, or a copy with normalised elements where it has bools that are neither 0 nor 1.
Tensor with_normal_bools(const Tensor& given);

}  // namespace sardonyx
