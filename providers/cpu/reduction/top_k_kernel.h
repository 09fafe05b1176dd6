// The order of float32 elements along rows and columns, vectorised for the CPU that runs it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

// The index of the first element that equals `wanted`, or of the last one (`last`); a NaN equals
// any NaN. -1 where there is none.
int64_t find_in_row(const float* row, size_t count, float wanted, bool last);

// positions[i] = the row of the extreme of column i of in[rows][step], for i < width <=
// kMaxColumns and at least one row: of equal ones the first, or the last where `last`. A NaN is
// the extreme.
constexpr size_t kMaxColumns = 256;
void find_in_columns(bool is_max, const float* in, size_t rows, size_t step, size_t width,
                     bool last, int64_t* positions);

// The `wanted` <= kMaxAtTop greatest (or least) of `count` >= wanted > 0 elements in order, of
// equal ones the first before the others, and their indices. False, with nothing known of the
// outputs, where there is a NaN.
constexpr size_t kMaxAtTop = 64;
bool take_top(const float* row, size_t count, size_t wanted, bool largest, float* values,
              int64_t* positions);

}  // namespace sardonyx::cpu
