// A few rows of a matrix product of doubles or integers, or of squared distances.
#pragma once

#include <cstdint>

#include "ir/core/dtype.h"

namespace sardonyx::cpu {

inline constexpr int64_t kProductRows = 8;

// out[rows, n] = a[rows, k] * b[k, n], all row-major; rows <= kProductRows. Integers wrap.
using ProductRows = void (*)(const void* a, const void* b, void* out, int64_t rows, int64_t n,
                             int64_t k);
// nullptr where there is none.
ProductRows product_rows_of(DType dtype);
// The kernel that sums the squares of differences, (a[r, i] - b[i, j])^2, in place of products; for
// float and double, else nullptr.
ProductRows distance_rows_of(DType dtype);

}  // namespace sardonyx::cpu
