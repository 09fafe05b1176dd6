// Sizes of weights [N, K] that are quantised in blocks, as several operators check them.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

inline constexpr int64_t kMaxBlockwiseSize = int64_t{1} << 31;  // so that no product overflows

inline bool is_power_of_two(int64_t x) {
  return x > 0 && (x & (x - 1)) == 0;
}
// Blocks that hold `length` elements, the last of which may be shorter.
inline int64_t blocks_of(int64_t length, int64_t block) {
  return (length + block - 1) / block;
}

inline void require_weight_sizes(InferContext& c, int64_t k, int64_t n) {
  c.require(k >= 1 && k < kMaxBlockwiseSize && n >= 1 && n < kMaxBlockwiseSize,
            "attributes K and N: expected 1 to 2^31 - 1, got ", k, " and ", n);
}
inline void require_block_size(InferContext& c, int64_t size) {
  c.require(is_power_of_two(size) && size >= 16 && size < kMaxBlockwiseSize,
            "attribute block_size: expected a power of two from 16 on, got ", size);
}

}  // namespace sardonyx::ops
