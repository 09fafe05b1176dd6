#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/ops/linalg/factorizations.h"

namespace sardonyx::ops {
namespace {

// Degrees of approximants, and the greatest norm for which each is exact to double's rounding
// (Higham, table 2.3).
struct Approximant {
  int degree;
  double greatest_norm;
};
constexpr Approximant kApproximants[] = {{3, 1.495585217958292e-2},
                                         {5, 2.539398330063230e-1},
                                         {7, 9.504178996162932e-1},
                                         {9, 2.097847961257068},
                                         {13, 5.371920351148152}};

void multiply(const Matrix& a, const Matrix& b, Matrix& out) {
  std::ranges::fill(out.values, 0);
  for (int64_t i = 0; i < a.rows; ++i) {
    check_interrupted();
    for (int64_t k = 0; k < a.columns; ++k) {
      const double factor = a(i, k);
      const double* from = b.row(k);
      double* to = out.row(i);
      for (int64_t j = 0; j < b.columns; ++j)
        to[j] += factor * from[j];
    }
  }
}
Matrix multiplied(const Matrix& a, const Matrix& b) {
  Matrix out(a.rows, b.columns);
  multiply(a, b, out);
  return out;
}

void add_multiple(Matrix& to, double factor, const Matrix& x) {
  for (size_t i = 0; i < to.values.size(); ++i)
    to.values[i] += factor * x.values[i];
}
void add_to_diagonal(Matrix& to, double value) {
  for (int64_t i = 0; i < to.rows; ++i)
    to(i, i) += value;
}

// The greatest sum of a column's magnitudes; NaN where there is one.
double norm_of_columns(const Matrix& a) {
  double greatest = 0;
  for (int64_t j = 0; j < a.columns; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < a.rows; ++i)
      sum += std::abs(a(i, j));
    if (!(sum <= greatest)) greatest = sum;
    if (std::isnan(sum)) return sum;
  }
  return greatest;
}

// The coefficients of the numerator, of which the first is 1.
std::array<double, 14> pade_coefficients(int degree) {
  std::array<double, 14> c{1};
  for (int j = 1; j <= degree; ++j)
    c[static_cast<size_t>(j)] = c[static_cast<size_t>(j - 1)] * (degree - j + 1) /
                                (static_cast<double>(2 * degree - j + 1) * j);
  return c;
}

// c[first] + c[first + 2] x + c[first + 4] x^2 ... up to the degree, of powers x, x^2 and x^3.
Matrix every_second(const std::array<double, 14>& c, size_t first, size_t degree,
                    std::span<const Matrix> powers) {
  const int64_t n = powers[0].rows;
  const auto sum_of = [&](size_t begin, size_t count) {
    Matrix sum(n, n);
    for (size_t power = 1; power <= count && begin + 2 * power <= degree; ++power)
      add_multiple(sum, c[begin + 2 * power], powers[power - 1]);
    return sum;
  };
  Matrix sum = sum_of(first, 3);
  if (first + 8 <= degree) add_multiple(sum, 1, multiplied(powers[2], sum_of(first + 6, 3)));
  add_to_diagonal(sum, c[first]);
  return sum;
}

Matrix pade_approximant(const Matrix& a, int degree) {
  const std::array<double, 14> c = pade_coefficients(degree);
  const auto last = static_cast<size_t>(degree);
  std::vector<Matrix> powers{multiplied(a, a)};
  for (const size_t reached : {4u, 6u}) {
    if (reached < last) powers.push_back(multiplied(powers.back(), powers[0]));
  }
  const Matrix odd = multiplied(a, every_second(c, 1, last, powers));
  Matrix numerator = every_second(c, 0, last, powers), denominator = numerator;
  add_multiple(numerator, 1, odd);
  add_multiple(denominator, -1, odd);
  solve(std::move(denominator), numerator);
  return numerator;
}

}  // namespace

Matrix matrix_exp(Matrix a) {
  const double norm = norm_of_columns(a);
  if (!std::isfinite(norm)) {
    std::ranges::fill(a.values, std::numeric_limits<double>::quiet_NaN());
    return a;
  }
  const Approximant* chosen = std::ranges::find_if(
      kApproximants, [&](const auto& one) { return norm <= one.greatest_norm; });
  if (chosen != std::end(kApproximants)) return pade_approximant(a, chosen->degree);
  const Approximant& last = std::end(kApproximants)[-1];
  const int squarings =
      std::max(0, static_cast<int>(std::ceil(std::log2(norm / last.greatest_norm))));
  for (double& value : a.values)
    value = std::ldexp(value, -squarings);
  Matrix power = pade_approximant(a, last.degree);
  Matrix squared(a.rows, a.columns);
  for (int i = 0; i < squarings; ++i) {
    multiply(power, power, squared);
    std::swap(power, squared);
  }
  return power;
}

}  // namespace sardonyx::ops
