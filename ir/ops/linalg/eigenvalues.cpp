// Eigenvalues and -vectors of real matrices of any form: Hessenberg's form by reflections, the real
// Schur form by double shifts (Francis, 1961; Golub and Van Loan, "Matrix computations", 7.5), and
// back substitution.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>

#include "ir/core/run_control.h"
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
  // Of rows [first, first + count), from column `begin` on.
  void of_rows(Matrix& a, int64_t first, int64_t count, int64_t begin) const {
    for (int64_t j = begin; j < a.columns; ++j) {
      double sum = 0;
      for (int64_t i = 0; i < count; ++i)
        sum += v[static_cast<size_t>(i)] * a(first + i, j);
      for (int64_t i = 0; i < count; ++i)
        a(first + i, j) -= factor * sum * v[static_cast<size_t>(i)];
    }
  }
  // Of columns [first, first + count), in rows before `end`.
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

// One double step on the rows [low, high], of which there are three or more.
void double_step(SchurForm& form, int64_t low, int64_t high, bool is_exceptional) {
  Matrix& t = form.t;
  const int64_t n = t.rows;
  double sum = t(high - 1, high - 1) + t(high, high);
  double product = t(high - 1, high - 1) * t(high, high) - t(high - 1, high) * t(high, high - 1);
  if (is_exceptional) {  // beside the last element by as much as what is to vanish
    const double size = std::abs(t(high, high - 1)) + std::abs(t(high - 1, high - 2));
    const double last = t(high, high);
    sum = 2 * last + 1.5 * size;
    product = last * last + 1.5 * last * size + size * size;
  }
  std::array<double, 3> x{
      t(low, low) * t(low, low) + t(low, low + 1) * t(low + 1, low) - sum * t(low, low) + product,
      t(low + 1, low) * (t(low, low) + t(low + 1, low + 1) - sum),
      t(low + 1, low) * t(low + 2, low + 1)};
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

// The block of rows `at` and at + 1 as a triangle, where its values are real.
void split_block(SchurForm& form, int64_t at) {
  Matrix& t = form.t;
  const double below = t(at + 1, at), half = (t(at, at) - t(at + 1, at + 1)) / 2;
  const double square = half * half + t(at, at + 1) * below;
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

double greatest_of(const Matrix& a) {
  double most = 0;
  for (const double one : a.values)
    most = std::max(most, std::abs(one));
  return most;
}

SchurForm schur_form(const Matrix& a) {
  SchurForm form = hessenberg_form(a);
  Matrix& t = form.t;
  const double most = greatest_of(t);
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
  const auto not_zero = [&](Complex divisor) {
    return std::abs(divisor) > least ? divisor : least;
  };
  for (int64_t i = at - 1; i >= 0; --i) {
    if (i > 0 && begins_block(t, i - 1)) {
      const Complex upper = rest(i - 1, i + 1), lower = rest(i, i + 1);
      const Complex a = t(i - 1, i - 1) - value, d = t(i, i) - value;
      const double b = t(i - 1, i), c = t(i, i - 1);
      const Complex divisor = not_zero(a * d - b * c);
      x_at(i - 1) = (upper * d - b * lower) / divisor;
      x_at(i) = (a * lower - c * upper) / divisor;
      --i;
    } else {
      x_at(i) = rest(i, i + 1) / not_zero(t(i, i) - value);
    }
    constexpr double kGreat = 1e100;
    const double size = std::abs(x_at(i)) + (i + 1 < at ? std::abs(x_at(i + 1)) : 0);
    if (!(size > kGreat)) continue;
    for (int64_t j = i; j <= last; ++j)
      x_at(j) /= size;
  }
}

// q x as column `column`: of length 1, its greatest element real and positive.
void write_vector(const Matrix& q, const std::pmr::vector<Complex>& x, int64_t last, int64_t column,
                  Matrix& vectors) {
  const int64_t n = q.rows;
  std::pmr::vector<Complex> v(static_cast<size_t>(n));
  double square = 0, most = 0;
  Complex greatest = 1;
  for (int64_t i = 0; i < n; ++i) {
    Complex sum = 0;
    for (int64_t j = 0; j <= last; ++j)
      sum += q(i, j) * x[static_cast<size_t>(j)];
    v[static_cast<size_t>(i)] = sum;
    square += std::norm(sum);
    if (!(std::abs(sum) > most * (1 + 8 * kEps))) continue;
    most = std::abs(sum);
    greatest = sum;
  }
  const Complex scale = std::conj(greatest) / std::abs(greatest) / std::sqrt(square);
  for (int64_t i = 0; i < n; ++i) {
    const Complex one = v[static_cast<size_t>(i)] * scale;
    vectors(i, 2 * column) = one.real();
    vectors(i, 2 * column + 1) = one.imag();
  }
}

}  // namespace

EigFactors eig_factors(const Matrix& a) {
  const int64_t n = a.rows;
  EigFactors found{Matrix(n, 2), Matrix(n, 2 * n)};
  // Products of elements neither overflow nor vanish where the greatest is about 1.
  Matrix scaled = a;
  int exponent = 0;
  if (const double most = greatest_of(a); std::isfinite(most)) std::frexp(most, &exponent);
  for (double& one : scaled.values)
    one = std::ldexp(one, -exponent);
  const SchurForm form = schur_form(scaled);
  const Matrix& t = form.t;
  const bool is_finite =
      std::ranges::all_of(t.values, [](double one) { return std::isfinite(one); });
  if (!form.is_found || !is_finite) {
    std::ranges::fill(found.values.values, std::numeric_limits<double>::quiet_NaN());
    std::ranges::fill(found.vectors.values, std::numeric_limits<double>::quiet_NaN());
    return found;
  }
  const double least = std::max(kEps * greatest_of(t), std::numeric_limits<double>::min());
  std::pmr::vector<Complex> x(static_cast<size_t>(n));
  for (int64_t at = 0; at < n; ++at) {
    if (!begins_block(t, at)) {
      found.values(at, 0) = t(at, at);
      x[static_cast<size_t>(at)] = 1;
      substitute_back(t, t(at, at), at, at, x, least);
      write_vector(form.q, x, at, at, found.vectors);
      continue;
    }
    const double half = (t(at, at) - t(at + 1, at + 1)) / 2;
    const double square = half * half + t(at, at + 1) * t(at + 1, at);
    const Complex value{t(at + 1, at + 1) + half, std::sqrt(-square)};
    x[static_cast<size_t>(at)] = t(at, at + 1);
    x[static_cast<size_t>(at + 1)] = value - t(at, at);
    substitute_back(t, value, at, at + 1, x, least);
    write_vector(form.q, x, at + 1, at, found.vectors);
    for (int64_t i = 0; i < n; ++i) {
      found.vectors(i, 2 * at + 2) = found.vectors(i, 2 * at);
      found.vectors(i, 2 * at + 3) = -found.vectors(i, 2 * at + 1);
    }
    for (const int64_t of : {at, at + 1}) {
      found.values(of, 0) = value.real();
      found.values(of, 1) = of == at ? value.imag() : -value.imag();
    }
    ++at;
  }
  for (double& one : found.values.values)
    one = std::ldexp(one, exponent);
  return found;
}

}  // namespace sardonyx::ops
