// Gauss-Jordan elimination, vectorised for the CPU that runs it.
#pragma once

#include <cstddef>

namespace sardonyx::cpu {

// One step of inverting the row-major n x n matrix `a` in place, for columns 0 to n - 1 in turn:
// exchanges row `column` with the one below, or itself, that has the largest pivot, and eliminates
// the pivot's column, whose place takes the inverse's. Returns the row that was exchanged; once all
// columns are done, the columns are to be exchanged alike, the last one first.
size_t eliminate_column(double* a, size_t n, size_t column);

// One step of Gaussian elimination: exchanges rows as above, and eliminates the pivot's column from
// the rows below. Returns the pivot, its sign changed where rows were exchanged.
double eliminate_below(double* a, size_t n, size_t column);

}  // namespace sardonyx::cpu
