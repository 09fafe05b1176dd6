// A matrix whose eigenvalues are found with less error than those of one that is like it.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <vector>

#include "ir/ops/linalg/factorizations.h"

namespace sardonyx::ops {

// a = 2^size p d values d^-1 p^T for the matrix a: the greatest element of `values` is within
// [1, 2) where one isn't 0, rows and columns are of like size, and what an exchange of rows and
// columns alone makes triangular is. Powers of two round nothing.
struct BalancedMatrix {
  Matrix values;
  int size = 0;
  std::pmr::vector<int64_t> order;  // row i is row order[i] of a: p
  std::pmr::vector<int> exponents;  // of two, row by row: d
};
// Balances a matrix of finite numbers (Parlett and Reinsch, "Balancing a matrix for calculation of
// eigenvalues and eigenvectors", 1969).
BalancedMatrix balanced(const Matrix& a);

}  // namespace sardonyx::ops
