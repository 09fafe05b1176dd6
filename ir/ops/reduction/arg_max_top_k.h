// The first elements of a line in order, as TopK has them. A NaN counts as greater than every
// number.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>

namespace sardonyx::ops {

// Whether element a is ranked before element b. Of equal ones that of the lower index is.
template <typename T>
bool comes_first(const T* line, int64_t step, bool largest, int64_t a, int64_t b) {
  const T x = line[a * step], y = line[b * step];
  const bool x_nan = x != x, y_nan = y != y;
  if (x_nan != y_nan) return x_nan == largest;
  if (!x_nan && x != y) return largest ? x > y : x < y;
  return a < b;
}

inline constexpr int64_t kPollInterval = 1 << 14;

// Fills `order` with the positions of the elements that come first, in order. They are held in a
// heap with the last of them on top; most elements lose against that one at a glance. `look` is
// called now and then, at every comparison of two positions among others; it may throw.
template <typename T, typename Look>
void find_first(const T* line, int64_t size, int64_t step, bool largest, std::span<int64_t> order,
                const Look& look) {
  if (order.empty()) return;
  const auto before = [&](int64_t a, int64_t b) {
    look();
    return comes_first(line, step, largest, a, b);
  };
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::make_heap(order, before);
  auto last = +line[order[0] * step];
  for (auto i = static_cast<int64_t>(order.size()); i < size; ++i) {
    if (i % kPollInterval == 0) look();
    const auto x = +line[i * step];
    if (largest ? x <= last : x >= last) continue;
    if (!before(i, order[0])) continue;
    std::ranges::pop_heap(order, before);
    order.back() = i;
    std::ranges::push_heap(order, before);
    last = +line[order[0] * step];
  }
  std::ranges::sort_heap(order, before);
}
template <typename T>
void find_first(const T* line, int64_t size, int64_t step, bool largest, std::span<int64_t> order) {
  find_first(line, size, step, largest, order, [] {});
}

}  // namespace sardonyx::ops
