// Eigenvalues and -vectors beside what they are defined by.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <random>
#include <vector>

#include "ir/ops/linalg/factorizations.h"

namespace sardonyx::ops {
namespace {

using Complex = std::complex<double>;

Matrix matrix_of(int64_t size, const std::function<double(int64_t, int64_t)>& element) {
  Matrix a(size, size);
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < size; ++j)
      a(i, j) = element(i, j);
  }
  return a;
}

// The largest element of a v - v diag(values), as a part of the largest of a.
double residual_of(const Matrix& a) {
  const EigFactors found = eig_factors(a);
  double size = 0, worst = 0;
  for (const double one : a.values)
    size = std::max(size, std::abs(one));
  for (int64_t k = 0; k < a.rows; ++k) {
    const auto vector_at = [&](int64_t i) {
      return Complex(found.vectors(i, 2 * k), found.vectors(i, 2 * k + 1));
    };
    const Complex value(found.values(k, 0) / size, found.values(k, 1) / size);
    for (int64_t i = 0; i < a.rows; ++i) {
      Complex sum = -value * vector_at(i);
      for (int64_t j = 0; j < a.rows; ++j)
        sum += a(i, j) / size * vector_at(j);
      if (!(std::abs(sum) <= worst)) worst = std::abs(sum);
    }
  }
  return worst;
}

TEST(Eigenvalues, of_elements_whose_products_overflow_or_vanish) {
  std::mt19937 bits(3);
  for (const double scale : {1.0, 1e100, 1e160, 1e300, 1e-100, 1e-160, 1e-300}) {
    const Matrix a = matrix_of(
        6, [&](int64_t, int64_t) { return scale * (static_cast<double>(bits()) / 0x1p31 - 1); });
    EXPECT_LT(residual_of(a), 1e-13) << scale;
  }
}

// Of adjacency matrices, by the bits of their rows, whose values are repeated: steps towards them
// are short, and exceptional shifts must not lose them.
TEST(Eigenvalues, that_are_repeated) {
  const std::vector<std::vector<uint32_t>> cases{
      {0x1, 0x1, 0x6, 0x2},
      {0x9, 0x5, 0x6, 0x1},
      {0x11, 0x8, 0x1c, 0x1, 0x0},
      {0x4, 0x20, 0x11, 0x44, 0x20, 0x0, 0x38, 0x8},
      {0x180, 0x14, 0x298, 0x28, 0x115, 0x54, 0x105, 0x249, 0x1e1, 0x234, 0x4d6, 0x971}};
  for (const std::vector<uint32_t>& rows : cases) {
    const Matrix a = matrix_of(static_cast<int64_t>(rows.size()), [&](int64_t i, int64_t j) {
      return static_cast<double>(rows[static_cast<size_t>(i)] >> j & 1);
    });
    EXPECT_LT(residual_of(a), 1e-13) << rows.size();
  }
}

TEST(Eigenvalues, of_what_is_no_number_are_none) {
  for (const double odd : {NAN, INFINITY}) {
    const Matrix a = matrix_of(4, [&](int64_t i, int64_t j) { return i == 2 && j == 1 ? odd : 1; });
    EXPECT_TRUE(std::isnan(eig_factors(a).values(0, 0)));
  }
}

}  // namespace
}  // namespace sardonyx::ops
