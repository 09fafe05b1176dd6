// The first elements of a row of float32 in order, where these are many: by keys of 32 bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

// The most elements of a row; longer ones would need too much memory.
constexpr size_t kMaxKeys = size_t{1} << 20;

// Bytes, aligned to 64, that rows of `count` elements want.
size_t key_order_scratch(size_t count);

// Fills positions[wanted] with those of the greatest (or least) of `count` >= wanted > 0 elements
// in order, of equal ones the first before the others. A NaN is greater than every number.
void order_by_keys(const float* row, size_t count, size_t wanted, bool largest, std::byte* scratch,
                   int64_t* positions);

}  // namespace sardonyx::cpu
