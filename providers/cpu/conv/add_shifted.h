// Sums of rows that are shifted against each other, vectorised for the CPU that runs them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

// A row of float32 whose element i overlaps column i of the sum, for begin <= i < end.
struct ShiftedRow {
  const float* row;  // the address that column 0 would have
  int64_t begin, end;
};

// out[i] = the sum of all rows that have column i, in their order, for i < width; `goes_on`: added
// to what out[i] is. Rows are inside it.
void add_shifted_rows(const ShiftedRow* rows, size_t count, bool goes_on, float* out,
                      int64_t width);

}  // namespace sardonyx::cpu
