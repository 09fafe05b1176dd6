// The extreme of a line of elements. A NaN counts as the extreme, whichever is asked for, as numpy
// has it.
#pragma once

#include <cstdint>

namespace sardonyx::ops {

// Where the greatest (or smallest) of `size` > 0 elements is, `step` apart: of equal ones the
// first, or the last where `last`.
template <bool is_max, typename T>
int64_t find_extreme(const T* line, int64_t size, int64_t step, bool last) {
  int64_t best = 0;
  auto held = +line[0];  // halves are widened once
  for (int64_t i = 1; i < size; ++i) {
    const auto x = +line[i * step];
    if (is_max ? x < held : x > held) continue;
    const bool is_equal = x == held || (x != x && held != held);
    if (is_equal ? !last : held != held) continue;
    best = i;
    held = x;
  }
  return best;
}

}  // namespace sardonyx::ops
