// Factorisations of matrices in double, row-major. They end on any input: what has no answer
// (singular, not positive definite, NaN) gives infinities or NaN.
#pragma once

#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

namespace sardonyx::ops {

struct Matrix {
  int64_t rows = 0, columns = 0;
  std::pmr::vector<double> values;
  Matrix(int64_t of_rows, int64_t of_columns);
  double& operator()(int64_t i, int64_t j) { return values[static_cast<size_t>(i * columns + j)]; }
  double operator()(int64_t i, int64_t j) const {
    return values[static_cast<size_t>(i * columns + j)];
  }
  double* row(int64_t i) { return values.data() + i * columns; }
  const double* row(int64_t i) const { return values.data() + i * columns; }
};

// p^T a = l u of a [m, n], by elimination with the first of the largest pivots of each column. Both
// are in lu: u on and above the diagonal, and below it l, whose diagonal is ones. Row i of the
// min(m, n) first was exchanged with row pivots[i] >= i, in this order.
struct LuFactors {
  Matrix lu;
  std::pmr::vector<int64_t> pivots;
};
LuFactors lu_factors(Matrix a);
// The exchanges of rows in their order, or back.
void exchange_rows(Matrix& x, std::span<const int64_t> pivots, bool back);
// a x = b of the factors of a, or a^T x = b; b becomes x.
void lu_solve(const Matrix& lu, std::span<const int64_t> pivots, bool transposed, Matrix& b);
// a x = b; b becomes x.
void solve(Matrix a, Matrix& b);
// The sign and the logarithm of the magnitude of the determinant.
struct SignedLog {
  double sign, log;
};
SignedLog log_determinant(Matrix a);
// e^a, by scaling, a Pade approximant and squaring (Higham, "The scaling and squaring method for
// the matrix exponential revisited", 2005). NaN where a has infinities or NaN.
Matrix matrix_exp(Matrix a);
// a = l l^T of the symmetric part of a; l is lower triangular.
Matrix cholesky(const Matrix& a);
// a [m, n] = q [m, k] r [k, n], k = min(m, n), by Householder's reflections with LAPACK's signs.
struct QrFactors {
  Matrix q, r;
};
QrFactors qr_factors(Matrix a);
// The eigendecomposition of the symmetric part of a, by Jacobi's rotations: values in ascending
// order, vectors as columns. The greatest element of each vector is positive.
struct EighFactors {
  std::pmr::vector<double> values;
  Matrix vectors;
};
EighFactors eigh_factors(const Matrix& a);
// The eigendecomposition of any square a: values [n, 2] and vectors [n, n, 2] (as [n, 2 n]) as
// pairs of a real and an imaginary part, a vector a column; of a pair of complex values the one
// with the positive imaginary part is first. Vectors have length 1, and the greatest element of
// each is real and positive.
struct EigFactors {
  Matrix values, vectors;
};
EigFactors eig_factors(const Matrix& a);
// a [m, n] = u [m, k] diag(s) vh [k, n], k = min(m, n), s in descending order, by rotations of
// columns (Hestenes, 1958). Of each column of u the greatest element is positive.
struct SvdFactors {
  Matrix u;
  std::pmr::vector<double> s;
  Matrix vh;
};
SvdFactors svd_factors(const Matrix& a);

}  // namespace sardonyx::ops
