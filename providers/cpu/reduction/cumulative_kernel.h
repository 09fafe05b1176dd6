// Running sums and products down columns, vectorised for the CPU that runs it.
#pragma once

#include <cstddef>

#include "ir/core/dtype.h"

namespace sardonyx::cpu {

// The most columns of one call, whose running totals stay in the L1 cache.
constexpr size_t kMaxCumulativeColumns = 2048;

struct CumulativeColumns {
  const void* x;
  void* y;               // may be x
  size_t rows, columns;  // columns <= kMaxCumulativeColumns
  ptrdiff_t step;        // from a row to the next one, in elements
  bool is_exclusive;
};
using CumulativeRun = void (*)(const CumulativeColumns& columns);

// float, double, int32 and int64 for sums, float and double for products; nullptr for others.
// Totals of floats are kept in double, integers wrap.
CumulativeRun cumulative_run_of(DType dtype, bool is_product);

}  // namespace sardonyx::cpu
