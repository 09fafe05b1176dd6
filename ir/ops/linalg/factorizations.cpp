#include "ir/ops/linalg/factorizations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"

namespace sardonyx::ops {
namespace {

constexpr int kMaxSweeps = 60;  // of rotations; some ten are enough for numbers
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

double dot_rows(const double* a, const double* b, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += a[i] * b[i];
  return sum;
}

Matrix transposed(const Matrix& a) {
  Matrix out(a.columns, a.rows);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j)
      out(j, i) = a(i, j);
  }
  return out;
}

Matrix symmetric_part(const Matrix& a) {
  Matrix out(a.rows, a.columns);
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = 0; j < a.columns; ++j)
      out(i, j) = (a(i, j) + a(j, i)) / 2;
  }
  return out;
}

Matrix unit_matrix(int64_t rows, int64_t columns) {
  Matrix out(rows, columns);
  for (int64_t i = 0; i < std::min(rows, columns); ++i)
    out(i, i) = 1;
  return out;
}

// A rotation of two rows of equal length.
void rotate_rows(double* a, double* b, int64_t count, double cosine, double sine) {
  for (int64_t i = 0; i < count; ++i) {
    const double x = a[i], y = b[i];
    a[i] = cosine * x - sine * y;
    b[i] = sine * x + cosine * y;
  }
}

// The tangent of the smaller angle that makes the off-diagonal element of [[p, r], [r, q]] 0.
double rotation_tangent(double p, double q, double r) {
  const double ratio = (q - p) / (2 * r);
  return std::copysign(1.0, ratio) / (std::abs(ratio) + std::hypot(1.0, ratio));
}

void make_greatest_positive(double* values, int64_t count, double* along, int64_t along_count) {
  const double* greatest = std::max_element(
      values, values + count, [](double a, double b) { return std::abs(a) < std::abs(b); });
  if (count == 0 || !(*greatest < 0)) return;
  for (int64_t i = 0; i < count; ++i)
    values[i] = -values[i];
  for (int64_t i = 0; i < along_count; ++i)
    along[i] = -along[i];
}

// The row that is left of a unit vector without its parts along the `found` first rows of q, for
// the one of which most is left.
void complete_row(Matrix& q, int64_t found) {
  std::pmr::vector<double> best(static_cast<size_t>(q.columns), scratch());
  double greatest = -1;
  for (int64_t unit = 0; unit < q.columns; ++unit) {
    std::pmr::vector<double> rest(static_cast<size_t>(q.columns), scratch());
    rest[static_cast<size_t>(unit)] = 1;
    for (int again = 0; again < 2; ++again) {  // once more for what rounding left
      for (int64_t i = 0; i < found; ++i) {
        const double part = dot_rows(rest.data(), q.row(i), q.columns);
        for (int64_t j = 0; j < q.columns; ++j)
          rest[static_cast<size_t>(j)] -= part * q(i, j);
      }
    }
    const double size = dot_rows(rest.data(), rest.data(), q.columns);
    if (!(size > greatest)) continue;
    greatest = size;
    best = rest;
  }
  const double length = std::sqrt(greatest);
  for (int64_t j = 0; j < q.columns; ++j)
    q(found, j) = best[static_cast<size_t>(j)] / length;
}

std::vector<int64_t> sorted_places(const std::pmr::vector<double>& values, bool descending) {
  std::vector<int64_t> places(values.size());
  std::iota(places.begin(), places.end(), 0);
  const auto value = [&](int64_t place) { return values[static_cast<size_t>(place)]; };
  // NaN is put after numbers: an order that any input has.
  const auto before = [&](int64_t a, int64_t b) {
    const double x = value(a), y = value(b);
    if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
    return descending ? x > y : x < y;
  };
  std::stable_sort(places.begin(), places.end(), before);
  return places;
}

}  // namespace

Matrix::Matrix(int64_t of_rows, int64_t of_columns)
    : rows(of_rows),
      columns(of_columns),
      values(static_cast<size_t>(of_rows * of_columns), 0, scratch()) {}

Matrix cholesky(const Matrix& of) {
  const Matrix a = symmetric_part(of);
  const int64_t n = a.rows;
  Matrix l(n, n);
  for (int64_t i = 0; i < n; ++i) {
    check_interrupted();
    for (int64_t j = 0; j <= i; ++j) {
      const double rest = a(i, j) - dot_rows(l.row(i), l.row(j), j);
      l(i, j) = i == j ? std::sqrt(rest) : rest / l(j, j);
    }
  }
  return l;
}

QrFactors qr_factors(Matrix a) {
  const int64_t m = a.rows, n = a.columns, k = std::min(m, n);
  Matrix reflectors(k, m);  // each with a leading 1 at its column
  std::pmr::vector<double> weights(static_cast<size_t>(k), scratch());
  const auto reflect = [&](Matrix& x, int64_t at, int64_t begin) {
    const double* v = reflectors.row(at);
    for (int64_t j = begin; j < x.columns; ++j) {
      double part = 0;
      for (int64_t i = at; i < m; ++i)
        part += v[i] * x(i, j);
      part *= weights[static_cast<size_t>(at)];
      for (int64_t i = at; i < m; ++i)
        x(i, j) -= part * v[i];
    }
  };
  for (int64_t at = 0; at < k; ++at) {
    check_interrupted();
    double below = 0;
    for (int64_t i = at + 1; i < m; ++i)
      below = std::hypot(below, a(i, at));
    double* v = reflectors.row(at);
    v[at] = 1;
    if (below == 0) continue;  // nothing to reflect
    const double head = a(at, at), length = -std::copysign(std::hypot(head, below), head);
    weights[static_cast<size_t>(at)] = (length - head) / length;
    for (int64_t i = at + 1; i < m; ++i)
      v[i] = a(i, at) / (head - length);
    reflect(a, at, at);
  }
  QrFactors out{unit_matrix(m, k), Matrix(k, n)};
  for (int64_t at = k; at-- > 0;)
    reflect(out.q, at, at);
  for (int64_t i = 0; i < k; ++i)
    std::copy(a.row(i) + i, a.row(i) + n, out.r.row(i) + i);
  return out;
}

EighFactors eigh_factors(const Matrix& of) {
  Matrix a = symmetric_part(of);
  const int64_t n = a.rows;
  Matrix vectors = unit_matrix(n, n);  // as rows
  const double least = kEpsilon / 8 * std::sqrt(dot_rows(a.row(0), a.row(0), n * n));
  bool is_done = false;
  for (int sweep = 0; sweep < kMaxSweeps && !is_done; ++sweep) {
    is_done = true;
    for (int64_t p = 0; p < n; ++p) {
      check_interrupted();
      for (int64_t q = p + 1; q < n; ++q) {
        const double r = a(p, q);
        if (!(std::abs(r) > least)) continue;
        is_done = false;
        const double t = rotation_tangent(a(p, p), a(q, q), r);
        const double cosine = 1 / std::hypot(1.0, t), sine = t * cosine;
        rotate_rows(a.row(p), a.row(q), n, cosine, sine);
        for (int64_t i = 0; i < n; ++i)
          rotate_rows(&a(i, p), &a(i, q), 1, cosine, sine);
        a(p, q) = a(q, p) = 0;
        rotate_rows(vectors.row(p), vectors.row(q), n, cosine, sine);
      }
    }
  }
  std::pmr::vector<double> found(static_cast<size_t>(n), scratch());
  for (int64_t i = 0; i < n; ++i)
    found[static_cast<size_t>(i)] = a(i, i);
  EighFactors out{std::pmr::vector<double>(static_cast<size_t>(n), scratch()), Matrix(n, n)};
  const std::vector<int64_t> places = sorted_places(found, false);
  for (int64_t k = 0; k < n; ++k) {
    const int64_t place = places[static_cast<size_t>(k)];
    out.values[static_cast<size_t>(k)] = found[static_cast<size_t>(place)];
    make_greatest_positive(vectors.row(place), n, nullptr, 0);
    for (int64_t i = 0; i < n; ++i)
      out.vectors(i, k) = vectors(place, i);
  }
  return out;
}

SvdFactors svd_factors(const Matrix& a) {
  const bool is_wide = a.rows < a.columns;
  // Columns of the tall one as rows, which are in a row of memory.
  Matrix w = is_wide ? a : transposed(a);
  const int64_t n = w.rows, m = w.columns;
  Matrix v = unit_matrix(n, n);
  const double least = kEpsilon * std::sqrt(static_cast<double>(std::max<int64_t>(m, 4)));
  bool is_done = false;
  for (int sweep = 0; sweep < kMaxSweeps && !is_done; ++sweep) {
    is_done = true;
    for (int64_t p = 0; p < n; ++p) {
      check_interrupted();
      for (int64_t q = p + 1; q < n; ++q) {
        const double pp = dot_rows(w.row(p), w.row(p), m), qq = dot_rows(w.row(q), w.row(q), m),
                     pq = dot_rows(w.row(p), w.row(q), m);
        if (!(std::abs(pq) > least * std::sqrt(pp * qq)) ||
            std::abs(pq) < std::numeric_limits<double>::min())
          continue;
        is_done = false;
        const double t = rotation_tangent(pp, qq, pq);
        const double cosine = 1 / std::hypot(1.0, t), sine = t * cosine;
        rotate_rows(w.row(p), w.row(q), m, cosine, sine);
        rotate_rows(v.row(p), v.row(q), n, cosine, sine);
      }
    }
  }
  std::pmr::vector<double> sizes(static_cast<size_t>(n), scratch());
  for (int64_t i = 0; i < n; ++i)
    sizes[static_cast<size_t>(i)] = std::sqrt(dot_rows(w.row(i), w.row(i), m));
  const std::vector<int64_t> places = sorted_places(sizes, true);
  Matrix left(n, m), right(n, n);  // vectors as rows, in order
  std::pmr::vector<double> s(static_cast<size_t>(n), scratch());
  for (int64_t k = 0; k < n; ++k) {
    const int64_t place = places[static_cast<size_t>(k)];
    const double size = s[static_cast<size_t>(k)] = sizes[static_cast<size_t>(place)];
    std::copy(v.row(place), v.row(place) + n, right.row(k));
    if (size == 0) {
      complete_row(left, k);
    } else {
      for (int64_t i = 0; i < m; ++i)
        left(k, i) = w(place, i) / size;
    }
    if (is_wide)
      make_greatest_positive(right.row(k), n, left.row(k), m);
    else
      make_greatest_positive(left.row(k), m, right.row(k), n);
  }
  return is_wide ? SvdFactors{transposed(right), std::move(s), std::move(left)}
                 : SvdFactors{transposed(left), std::move(s), std::move(right)};
}

}  // namespace sardonyx::ops
