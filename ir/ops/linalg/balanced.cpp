#include "ir/ops/linalg/balanced.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "ir/core/run_control.h"

namespace sardonyx::ops {
namespace {

constexpr int kNone = -100000;  // the exponent of 0, less than any sum of others
constexpr int kMaxBalanceSweeps = 100;

// The rows [low, high] that are left when those whose values stand on the diagonal are at the ends.
struct Rest {
  int64_t low = 0, high = -1;
};

Rest move_triangles_out(const Matrix& a, std::pmr::vector<int64_t>& order) {
  Rest rest{0, a.rows - 1};
  const auto of = [&](int64_t at) -> int64_t& { return order[static_cast<size_t>(at)]; };
  // Finds a row (or column) of the rest that is 0 but for its diagonal: the last (or first).
  const auto is_alone = [&](int64_t at, bool is_row) {
    for (int64_t other = rest.low; other <= rest.high; ++other) {
      if (other == at) continue;
      if ((is_row ? a(of(at), of(other)) : a(of(other), of(at))) != 0) return false;
    }
    return true;
  };
  const auto next = [&](bool is_row) -> std::optional<int64_t> {
    for (int64_t i = 0; i <= rest.high - rest.low; ++i) {
      const int64_t at = is_row ? rest.high - i : rest.low + i;
      if (is_alone(at, is_row)) return at;
    }
    return std::nullopt;
  };
  while (const auto at = next(true))
    std::swap(of(*at), of(rest.high--));
  while (const auto at = next(false))
    std::swap(of(*at), of(rest.low++));
  return rest;
}

int exponent_of(double value) {
  return value == 0 ? kNone : std::ilogb(value);
}

}  // namespace

BalancedMatrix balanced(const Matrix& a) {
  const int64_t n = a.rows;
  BalancedMatrix found{Matrix(n, n), 0, std::pmr::vector<int64_t>(static_cast<size_t>(n)),
                       std::pmr::vector<int>(static_cast<size_t>(n))};
  std::iota(found.order.begin(), found.order.end(), int64_t{0});
  const Rest rest = move_triangles_out(a, found.order);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      found.values(i, j) =
          a(found.order[static_cast<size_t>(i)], found.order[static_cast<size_t>(j)]);
    }
  }
  std::pmr::vector<int> sizes(found.values.values.size());
  std::ranges::transform(found.values.values, sizes.begin(), exponent_of);
  // The exponent of an element, once rows and columns are scaled.
  const auto size_of = [&](int64_t i, int64_t j) {
    const int size = sizes[static_cast<size_t>(i * n + j)];
    const auto& by = found.exponents;
    return size == kNone ? size : size + by[static_cast<size_t>(j)] - by[static_cast<size_t>(i)];
  };
  bool is_changed = true;
  for (int sweep = 0; is_changed && sweep < kMaxBalanceSweeps; ++sweep) {
    check_interrupted();
    is_changed = false;
    for (int64_t i = rest.low; i <= rest.high; ++i) {
      int row = kNone, column = kNone;
      for (int64_t j = rest.low; j <= rest.high; ++j) {
        if (i == j) continue;
        row = std::max(row, size_of(i, j));
        column = std::max(column, size_of(j, i));
      }
      const int by = row == kNone || column == kNone ? 0 : (row - column) / 2;
      found.exponents[static_cast<size_t>(i)] += by;
      is_changed |= by != 0;
    }
  }
  int most = kNone;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j)
      most = std::max(most, size_of(i, j));
  }
  if (most == kNone) return found;
  found.size = most;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double& value = found.values(i, j);
      if (value == 0) continue;
      const size_t at = static_cast<size_t>(i * n + j);
      value = std::ldexp(value, size_of(i, j) - sizes[at] - most);
    }
  }
  return found;
}

}  // namespace sardonyx::ops
