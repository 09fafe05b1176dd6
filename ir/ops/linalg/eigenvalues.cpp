// Eigenvalues and -vectors of real matrices of any form: Hessenberg's form by reflections, the real
// Schur form by double shifts (Francis, 1961; Golub and Van Loan, "Matrix computations", 7.5), and
// back substitution.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "ir/core/run_control.h"
#include "ir/ops/linalg/balanced.h"
#include "ir/ops/linalg/factorizations.h"

namespace sardonyx::ops {
namespace {

using Complex = std::complex<double>;
constexpr double kEps = std::numeric_limits<double>::epsilon();
// For one or two values. Some three are enough most often, but many where values are repeated.
constexpr int kMaxSteps = 300;

// q t q^T = a; t is upper triangular but for blocks of two along its diagonal, which have a pair of
// complex values each.
struct SchurForm {
  Matrix t, q;
  bool is_found = true;
};

// 1 - 2 v v^T / (v^T v), which takes x to a multiple of the first unit vector.
struct Reflection {
  std::array<double, 3> v{};
  double factor = 0;  // 2 / (v^T v); 0 where nothing is to be done

  static Reflection of(std::span<const double> x) {
    Reflection made;
    double square = 0, most = 0;
    for (const double one : x)
      most = std::max(most, std::abs(one));
    if (!(most > 0)) return made;
    for (size_t i = 0; i < x.size(); ++i) {
      made.v[i] = x[i] / most;
      square += made.v[i] * made.v[i];
    }
    made.v[0] += std::copysign(std::sqrt(square), made.v[0]);
    double length = 0;
    for (const double one : made.v)
      length += one * one;
    made.factor = 2 / length;
    return made;
  }
  // Applies the reflection to rows [first, first + count), from column `begin` on.
  void of_rows(Matrix& a, int64_t first, int64_t count, int64_t begin) const {
    for (int64_t j = begin; j < a.columns; ++j) {
      double sum = 0;
      for (int64_t i = 0; i < count; ++i)
        sum += v[static_cast<size_t>(i)] * a(first + i, j);
      for (int64_t i = 0; i < count; ++i)
        a(first + i, j) -= factor * sum * v[static_cast<size_t>(i)];
    }
  }
  // Applies the reflection to columns [first, first + count), in rows before `end`.
  void of_columns(Matrix& a, int64_t first, int64_t count, int64_t end) const {
    for (int64_t i = 0; i < end; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < count; ++j)
        sum += v[static_cast<size_t>(j)] * a(i, first + j);
      for (int64_t j = 0; j < count; ++j)
        a(i, first + j) -= factor * sum * v[static_cast<size_t>(j)];
    }
  }
};

SchurForm hessenberg_form(const Matrix& a) {
  const int64_t n = a.rows;
  SchurForm form{a, Matrix(n, n)};
  for (int64_t i = 0; i < n; ++i)
    form.q(i, i) = 1;
  std::pmr::vector<double> v(static_cast<size_t>(n));
  for (int64_t k = 0; k + 2 < n; ++k) {
    double most = 0, square = 0;
    for (int64_t i = k + 1; i < n; ++i)
      most = std::max(most, std::abs(form.t(i, k)));
    if (!(most > 0)) continue;
    for (int64_t i = k + 1; i < n; ++i) {
      const double one = v[static_cast<size_t>(i)] = form.t(i, k) / most;
      square += one * one;
    }
    double& first = v[static_cast<size_t>(k + 1)];
    const double before = first;
    first += std::copysign(std::sqrt(square), first);
    const double factor = 2 / (square - before * before + first * first);
    const auto dot_and_take = [&](auto&& element) {
      double sum = 0;
      for (int64_t i = k + 1; i < n; ++i)
        sum += v[static_cast<size_t>(i)] * element(i);
      for (int64_t i = k + 1; i < n; ++i)
        element(i) -= factor * sum * v[static_cast<size_t>(i)];
    };
    for (int64_t j = k; j < n; ++j)
      dot_and_take([&](int64_t i) -> double& { return form.t(i, j); });
    for (int64_t j = 0; j < n; ++j) {
      dot_and_take([&](int64_t i) -> double& { return form.t(j, i); });
      dot_and_take([&](int64_t i) -> double& { return form.q(j, i); });
    }
    for (int64_t i = k + 2; i < n; ++i)
      form.t(i, k) = 0;
  }
  return form;
}

// Takes a double step on the rows [low, high], three or more. The step is the same for all
// multiples of the matrix: of a small part of a great one no product may become 0.
void double_step(SchurForm& form, int64_t low, int64_t high, bool is_exceptional) {
  Matrix& t = form.t;
  const int64_t n = t.rows;
  double most = 0;
  for (const int64_t at : {low, high - 1}) {
    for (const int64_t i : {at, at + 1})
      most = std::max({most, std::abs(t(i, at)), std::abs(t(i, at + 1))});
  }
  most = std::max({most, std::abs(t(low + 2, low + 1)), std::abs(t(high - 1, high - 2))});
  const int size = std::ilogb(most);
  const auto part = [&](int64_t i, int64_t j) { return std::ldexp(t(i, j), -size); };
  double sum = part(high - 1, high - 1) + part(high, high);
  double product =
      part(high - 1, high - 1) * part(high, high) - part(high - 1, high) * part(high, high - 1);
  if (is_exceptional) {  // beside the last element by as much as what is to vanish
    const double length = std::abs(part(high, high - 1)) + std::abs(part(high - 1, high - 2));
    const double last = part(high, high);
    sum = 2 * last + 1.5 * length;
    product = last * last + 1.5 * last * length + length * length;
  }
  const double first = part(low, low), below = part(low + 1, low);
  std::array<double, 3> x{first * first + part(low, low + 1) * below - sum * first + product,
                          below * (first + part(low + 1, low + 1) - sum),
                          below * part(low + 2, low + 1)};
  for (int64_t k = low; k < high; ++k) {
    const int64_t count = std::min<int64_t>(3, high - k + 1);
    const Reflection step = Reflection::of(std::span(x).first(static_cast<size_t>(count)));
    step.of_rows(t, k, count, std::max(low, k - 1));
    step.of_columns(t, k, count, std::min(k + 4, high + 1));
    step.of_columns(form.q, k, count, n);
    if (k > low) {
      for (int64_t i = k + 1; i < k + count; ++i)
        t(i, k - 1) = 0;
    }
    for (int64_t i = 0; i < 3 && k + 1 + i <= high; ++i)
      x[static_cast<size_t>(i)] = t(k + 1 + i, k);
  }
}

// Parts of the eigenvalues of the block of rows `at` and at + 1: they are its second diagonal
// element, and half +- sqrt(square) times 2^size.
struct BlockParts {
  int size;
  double half, square, below;
};
BlockParts parts_of_block(const Matrix& t, int64_t at) {
  const double half = t(at, at) / 2 - t(at + 1, at + 1) / 2;
  const double upper = t(at, at + 1), below = t(at + 1, at);
  const int size = std::ilogb(std::max({std::abs(half), std::abs(upper), std::abs(below)}));
  const double scaled = std::ldexp(half, -size), scaled_below = std::ldexp(below, -size);
  return {size, scaled, scaled * scaled + std::ldexp(upper, -size) * scaled_below, scaled_below};
}

// The block of rows `at` and at + 1, whose element below the diagonal isn't 0, as a triangle, where
// its values are real.
void split_block(SchurForm& form, int64_t at) {
  Matrix& t = form.t;
  const auto [size, half, square, below] = parts_of_block(t, at);
  if (!(square >= 0)) return;
  const double root = half + std::copysign(std::sqrt(square), half);
  const double length = std::hypot(root, below);
  if (length > 0) {
    const double cosine = root / length, sine = below / length;
    for (int64_t j = at; j < t.columns; ++j) {
      const double upper = t(at, j), lower = t(at + 1, j);
      t(at, j) = cosine * upper + sine * lower;
      t(at + 1, j) = cosine * lower - sine * upper;
    }
    for (Matrix* each : {&t, &form.q}) {
      const int64_t rows = each == &t ? at + 2 : each->rows;
      for (int64_t i = 0; i < rows; ++i) {
        const double left = (*each)(i, at), right = (*each)(i, at + 1);
        (*each)(i, at) = cosine * left + sine * right;
        (*each)(i, at + 1) = cosine * right - sine * left;
      }
    }
  }
  t(at + 1, at) = 0;
}

SchurForm schur_form(const Matrix& a) {
  SchurForm form = hessenberg_form(a);
  Matrix& t = form.t;
  double most = 0;  // what an element between zeros on the diagonal is small beside
  for (const double one : t.values)
    most = std::max(most, std::abs(one));
  int steps = 0;
  for (int64_t high = t.rows - 1; high > 0;) {
    check_interrupted();
    int64_t low = high;
    for (; low > 0; --low) {
      const double size = std::abs(t(low, low)) + std::abs(t(low - 1, low - 1));
      if (std::abs(t(low, low - 1)) > kEps * (size > 0 ? size : most)) continue;
      t(low, low - 1) = 0;
      break;
    }
    if (low + 2 > high) {
      if (low < high) split_block(form, low);
      high = low - 1;
      steps = 0;
    } else if (++steps > kMaxSteps) {
      form.is_found = false;
      return form;
    } else {
      double_step(form, low, high, steps % 10 == 0);
    }
  }
  return form;
}

bool begins_block(const Matrix& t, int64_t at) {
  return at + 1 < t.rows && t(at + 1, at) != 0;
}

Complex not_zero(Complex divisor, double least) {
  return std::abs(divisor) > least ? divisor : least;
}

// x of [[a, b], [c, d]] x = right by elimination with the greatest of the four.
std::pair<Complex, Complex> solved_pair(std::array<Complex, 4> block, Complex upper, Complex lower,
                                        double least) {
  auto& [a, b, c, d] = block;
  const auto size = [](Complex one) { return std::abs(one); };
  const auto greatest = std::ranges::max_element(block, {}, size) - block.begin();
  if (greatest >= 2) {
    std::swap(a, c);
    std::swap(b, d);
    std::swap(upper, lower);
  }
  if (greatest % 2 == 1) {
    std::swap(a, b);
    std::swap(c, d);
  }
  const Complex pivot = not_zero(a, least), ratio = c / pivot;
  const Complex second = (lower - ratio * upper) / not_zero(d - ratio * b, least);
  const Complex first = (upper - b * second) / pivot;
  return greatest % 2 == 1 ? std::pair(second, first) : std::pair(first, second);
}

// x with (t - value) x = 0 and what is below row `at` 0; `x` has these rows from `at` on.
void substitute_back(const Matrix& t, Complex value, int64_t at, int64_t last,
                     std::pmr::vector<Complex>& x, double least) {
  const auto x_at = [&](int64_t i) -> Complex& { return x[static_cast<size_t>(i)]; };
  const auto rest = [&](int64_t row, int64_t begin) {
    Complex sum = 0;
    for (int64_t j = begin; j <= last; ++j)
      sum += t(row, j) * x_at(j);
    return -sum;
  };
  for (int64_t i = at - 1; i >= 0; --i) {
    if (i > 0 && begins_block(t, i - 1)) {
      const Complex upper = rest(i - 1, i + 1), lower = rest(i, i + 1);
      const std::array<Complex, 4> block{t(i - 1, i - 1) - value, t(i - 1, i), t(i, i - 1),
                                         t(i, i) - value};
      std::tie(x_at(i - 1), x_at(i)) = solved_pair(block, upper, lower, least);
      --i;
    } else {
      x_at(i) = rest(i, i + 1) / not_zero(t(i, i) - value, least);
    }
    constexpr double kGreat = 1e100;
    const double size = std::abs(x_at(i)) + (i + 1 < at ? std::abs(x_at(i + 1)) : 0);
    if (!(size > kGreat)) continue;
    for (int64_t j = i; j <= last; ++j)
      x_at(j) /= size;
  }
}

// p d q x as column `column`: of length 1, its greatest element real and positive.
void write_vector(const BalancedMatrix& balanced, const Matrix& q,
                  const std::pmr::vector<Complex>& x, int64_t last, int64_t column,
                  Matrix& vectors) {
  const int64_t n = q.rows;
  std::pmr::vector<Complex> v(static_cast<size_t>(n));
  std::optional<int> size;
  for (int64_t i = 0; i < n; ++i) {
    Complex sum = 0;
    for (int64_t j = 0; j <= last; ++j)
      sum += q(i, j) * x[static_cast<size_t>(j)];
    v[static_cast<size_t>(i)] = sum;
    const double length = std::abs(sum);
    if (!(length > 0)) continue;
    const int own = std::ilogb(length) + balanced.exponents[static_cast<size_t>(i)];
    size = std::max(size.value_or(own), own);
  }
  double square = 0, most = 0;
  size_t greatest = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    const int by = balanced.exponents[i] - size.value_or(0);
    v[i] = {std::ldexp(v[i].real(), by), std::ldexp(v[i].imag(), by)};
    square += std::norm(v[i]);
    if (!(std::abs(v[i]) > most * (1 + 8 * kEps))) continue;
    most = std::abs(v[i]);
    greatest = i;
  }
  const Complex scale = std::conj(v[greatest]) / most / std::sqrt(square);
  for (int64_t i = 0; i < n; ++i) {
    Complex one = v[static_cast<size_t>(i)] * scale;
    if (static_cast<size_t>(i) == greatest) one.imag(0);  // without an error of rounding
    const int64_t row = balanced.order[static_cast<size_t>(i)];
    vectors(row, 2 * column) = one.real();
    vectors(row, 2 * column + 1) = one.imag();
  }
}

}  // namespace

EigFactors eig_factors(const Matrix& a) {
  const int64_t n = a.rows;
  EigFactors found{Matrix(n, 2), Matrix(n, 2 * n)};
  const auto give_none = [&] {
    std::ranges::fill(found.values.values, std::numeric_limits<double>::quiet_NaN());
    std::ranges::fill(found.vectors.values, std::numeric_limits<double>::quiet_NaN());
    return found;
  };
  const auto is_number = [](double one) { return std::isfinite(one); };
  if (!std::ranges::all_of(a.values, is_number)) return give_none();
  const BalancedMatrix like_a = balanced(a);
  const SchurForm form = schur_form(like_a.values);
  const Matrix& t = form.t;
  if (!form.is_found) return give_none();
  double size = 0;
  for (const double one : t.values)
    size = std::max(size, std::abs(one));
  const double least = std::max(kEps * size, std::numeric_limits<double>::min());
  std::pmr::vector<Complex> x(static_cast<size_t>(n));
  for (int64_t at = 0; at < n; ++at) {
    if (!begins_block(t, at)) {
      found.values(at, 0) = std::ldexp(t(at, at), like_a.size);
      x[static_cast<size_t>(at)] = 1;
      substitute_back(t, t(at, at), at, at, x, least);
      write_vector(like_a, form.q, x, at, at, found.vectors);
      continue;
    }
    const BlockParts block = parts_of_block(t, at);
    const Complex value{t(at + 1, at + 1) + std::ldexp(block.half, block.size),
                        std::ldexp(std::sqrt(-block.square), block.size)};
    x[static_cast<size_t>(at)] = t(at, at + 1);
    x[static_cast<size_t>(at + 1)] = value - t(at, at);
    substitute_back(t, value, at, at + 1, x, least);
    write_vector(like_a, form.q, x, at + 1, at, found.vectors);
    for (int64_t i = 0; i < n; ++i) {
      found.vectors(i, 2 * at + 2) = found.vectors(i, 2 * at);
      found.vectors(i, 2 * at + 3) = -found.vectors(i, 2 * at + 1);
    }
    for (const int64_t of : {at, at + 1}) {
      const double imaginary = std::ldexp(value.imag(), like_a.size);
      found.values(of, 0) = std::ldexp(value.real(), like_a.size);
      found.values(of, 1) = of == at ? imaginary : -imaginary;
    }
    ++at;
  }
  return found;
}

}  // namespace sardonyx::ops
