// Eigenvalues of what rounding, overflow and wide ranges of elements would spoil.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

#include "ir/ops/linalg/factorizations.h"

namespace sardonyx::ops {
namespace {

using Complex = std::complex<double>;

Matrix matrix_of(int64_t n, const std::vector<double>& values) {
  Matrix made(n, n);
  std::ranges::copy(values, made.values.begin());
  return made;
}

Complex pair_at(const Matrix& pairs, int64_t i, int64_t j) {
  return {pairs(i, 2 * j), pairs(i, 2 * j + 1)};
}

// How far a v is from v times its value, against the greatest element of a.
double residual(const Matrix& a, const EigFactors& found) {
  double most = 0, worst = 0;
  for (const double one : a.values)
    most = std::max(most, std::abs(one));
  for (int64_t k = 0; k < a.rows; ++k) {
    for (int64_t i = 0; i < a.rows; ++i) {
      Complex sum = -pair_at(found.values, k, 0) / most * pair_at(found.vectors, i, k);
      for (int64_t j = 0; j < a.rows; ++j)
        sum += a(i, j) / most * pair_at(found.vectors, j, k);
      worst = std::isnan(std::abs(sum)) ? HUGE_VAL : std::max(worst, std::abs(sum));
    }
  }
  return worst;
}

std::vector<Complex> sorted_values(const EigFactors& found) {
  std::vector<Complex> values;
  for (int64_t i = 0; i < found.values.rows; ++i)
    values.push_back(pair_at(found.values, i, 0));
  std::ranges::sort(values, {}, [](Complex one) { return std::pair(one.real(), one.imag()); });
  return values;
}

void expect_values(const Matrix& a, const std::vector<Complex>& expected) {
  const std::vector<Complex> found = sorted_values(eig_factors(a));
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_LE(std::abs(found[i] - expected[i]), 1e-13 * std::abs(expected[i])) << i;
}

TEST(Eigenvalues, OfAnySize) {
  for (const double size : {1.0, 1e150, 1e200, 1e300, 1e-30, 1e-150, 1e-200, 1e-300}) {
    SCOPED_TRACE(size);
    const double root = std::sqrt(33) / 2;
    expect_values(matrix_of(2, {size, 2 * size, 3 * size, 4 * size}),
                  {(2.5 - root) * size, (2.5 + root) * size});
    Matrix a(5, 5);  // of which two pairs are complex
    for (int64_t i = 0; i < 25; ++i)
      a.values[static_cast<size_t>(i)] = size * std::sin(static_cast<double>(i * i));
    EXPECT_LT(residual(a, eig_factors(a)), 1e-14);
  }
}

// The values are 0 and 1 +- sqrt(2) with ones in place of the great and the small numbers.
TEST(Eigenvalues, OfRowsAndColumnsOfUnlikeSize) {
  const double root = std::sqrt(2);
  for (const double by : {1e20, 1e-20, 1e150}) {
    SCOPED_TRACE(by);
    expect_values(matrix_of(3, {1, by, 0, 1 / by, 1, by, 0, 1 / by, 1}), {1 - root, 1, 1 + root});
  }
}

TEST(Eigenvalues, OfWhatIsTriangularInAnotherOrder) {
  expect_values(matrix_of(3, {1, 0, 0, 1e8, 1 + 1e-9, 0, 1e8, 1e8, 1 + 2e-9}),
                {1, 1 + 1e-9, 1 + 2e-9});
  // A great block and a small one, each with a complex pair.
  expect_values(matrix_of(4, {1e200, -1e200, 7, 7, 1e200, 1e200, 7, 7, 0, 0, 1, -1, 0, 0, 1, 1}),
                {{1, -1}, {1, 1}, {1e200, -1e200}, {1e200, 1e200}});
}

// Vectors below a block whose values nearly meet.
TEST(Eigenvalues, NearADefectiveBlock) {
  const Matrix a =
      matrix_of(8, {0,  0, 0,  0, 0, 0,  0, 0, 0, 0,  2, 0, 0, 0, 0, 0, -2, 0, 2,  -2, 0, 0,
                    0,  0, -1, 0, 0, -1, 0, 0, 0, 0,  0, 1, 0, 0, 0, 0, -2, 0, 1,  0,  0, 0,
                    -2, 0, 0,  0, 0, 0,  0, 0, 0, -1, 0, 0, 0, 0, 1, 0, 0,  1, -2, 0});
  EXPECT_LT(residual(a, eig_factors(a)), 1e-12);
}

// Of adjacency matrices, by the bits of their rows: steps towards values that are repeated are
// short, and exceptional shifts must not lose them.
TEST(Eigenvalues, ThatAreRepeated) {
  const std::vector<std::vector<uint32_t>> cases{
      {0x1, 0x1, 0x6, 0x2},
      {0x9, 0x5, 0x6, 0x1},
      {0x11, 0x8, 0x1c, 0x1, 0x0},
      {0x4, 0x20, 0x11, 0x44, 0x20, 0x0, 0x38, 0x8},
      {0x180, 0x14, 0x298, 0x28, 0x115, 0x54, 0x105, 0x249, 0x1e1, 0x234, 0x4d6, 0x971}};
  for (const std::vector<uint32_t>& rows : cases) {
    Matrix a(static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows.size()));
    for (int64_t i = 0; i < a.rows; ++i) {
      for (int64_t j = 0; j < a.rows; ++j)
        a(i, j) = rows[static_cast<size_t>(i)] >> j & 1;
    }
    EXPECT_LT(residual(a, eig_factors(a)), 1e-13) << rows.size();
  }
}

TEST(Eigenvalues, AreNaNWhereAnElementIsNoNumber) {
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    for (size_t at = 0; at < 4; ++at) {
      Matrix a = matrix_of(2, {1, 2, 3, 4});
      a.values[at] = bad;
      const EigFactors found = eig_factors(a);
      for (const double one : found.values.values)
        EXPECT_TRUE(std::isnan(one)) << at;
      for (const double one : found.vectors.values)
        EXPECT_TRUE(std::isnan(one)) << at;
    }
  }
}

}  // namespace
}  // namespace sardonyx::ops
