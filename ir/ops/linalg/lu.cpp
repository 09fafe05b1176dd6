// Elimination and what is solved by it.
#include <algorithm>
#include <cmath>

#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/ops/linalg/factorizations.h"

namespace sardonyx::ops {
namespace {

void swap_rows(Matrix& x, int64_t a, int64_t b) {
  if (a != b) std::swap_ranges(x.row(a), x.row(a) + x.columns, x.row(b));
}

// x's row `to` without `factor` times its row `from`, from column `begin` on.
void subtract_row(Matrix& x, int64_t to, double factor, int64_t from, int64_t begin = 0) {
  for (int64_t j = begin; j < x.columns; ++j)
    x(to, j) -= factor * x(from, j);
}

void divide_row(Matrix& x, int64_t row, double by) {
  for (int64_t j = 0; j < x.columns; ++j)
    x(row, j) /= by;
}

// l x = b and u x = b.
void solve_lower(const Matrix& lu, Matrix& b) {
  for (int64_t k = 0; k < lu.rows; ++k) {
    check_interrupted();
    for (int64_t i = k + 1; i < lu.rows; ++i) {
      if (lu(i, k) != 0) subtract_row(b, i, lu(i, k), k);
    }
  }
}
void solve_upper(const Matrix& lu, Matrix& b) {
  for (int64_t i = lu.rows; i-- > 0;) {
    check_interrupted();
    for (int64_t k = i + 1; k < lu.rows; ++k) {
      if (lu(i, k) != 0) subtract_row(b, i, lu(i, k), k);
    }
    divide_row(b, i, lu(i, i));
  }
}

// u^T x = b and l^T x = b.
void solve_upper_transposed(const Matrix& lu, Matrix& b) {
  for (int64_t k = 0; k < lu.rows; ++k) {
    check_interrupted();
    divide_row(b, k, lu(k, k));
    for (int64_t i = k + 1; i < lu.rows; ++i) {
      if (lu(k, i) != 0) subtract_row(b, i, lu(k, i), k);
    }
  }
}
void solve_lower_transposed(const Matrix& lu, Matrix& b) {
  for (int64_t i = lu.rows; i-- > 0;) {
    check_interrupted();
    for (int64_t k = i + 1; k < lu.rows; ++k) {
      if (lu(k, i) != 0) subtract_row(b, i, lu(k, i), k);
    }
  }
}

}  // namespace

LuFactors lu_factors(Matrix a) {
  const int64_t k = std::min(a.rows, a.columns);
  std::pmr::vector<int64_t> pivots(static_cast<size_t>(k), scratch());
  for (int64_t column = 0; column < k; ++column) {
    check_interrupted();
    int64_t pivot = column;
    for (int64_t i = column + 1; i < a.rows; ++i) {
      if (std::abs(a(i, column)) > std::abs(a(pivot, column))) pivot = i;
    }
    swap_rows(a, pivot, column);
    pivots[static_cast<size_t>(column)] = pivot;
    for (int64_t i = column + 1; i < a.rows; ++i) {
      if (a(i, column) == 0) continue;  // as all are below a pivot of 0
      a(i, column) /= a(column, column);
      subtract_row(a, i, a(i, column), column, column + 1);
    }
  }
  return {std::move(a), std::move(pivots)};
}

void exchange_rows(Matrix& x, std::span<const int64_t> pivots, bool back) {
  const size_t count = pivots.size();
  for (size_t step = 0; step < count; ++step) {
    const size_t i = back ? count - 1 - step : step;
    swap_rows(x, static_cast<int64_t>(i), pivots[i]);
  }
}

void lu_solve(const Matrix& lu, std::span<const int64_t> pivots, bool transposed, Matrix& b) {
  if (transposed) {
    solve_upper_transposed(lu, b);
    solve_lower_transposed(lu, b);
    exchange_rows(b, pivots, /*back=*/true);
  } else {
    exchange_rows(b, pivots, /*back=*/false);
    solve_lower(lu, b);
    solve_upper(lu, b);
  }
}

void solve(Matrix a, Matrix& b) {
  const LuFactors factors = lu_factors(std::move(a));
  lu_solve(factors.lu, factors.pivots, /*transposed=*/false, b);
}

SignedLog log_determinant(Matrix a) {
  const LuFactors factors = lu_factors(std::move(a));
  SignedLog out{1, 0};
  for (int64_t i = 0; i < factors.lu.rows; ++i) {
    const double pivot = factors.lu(i, i);
    if (factors.pivots[static_cast<size_t>(i)] != i) out.sign = -out.sign;
    out.sign *= pivot == 0 ? 0 : std::copysign(1.0, pivot);
    out.log += std::log(std::abs(pivot));
  }
  return out;
}

}  // namespace sardonyx::ops
