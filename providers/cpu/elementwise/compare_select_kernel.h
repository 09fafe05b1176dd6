// Comparisons, logic and choices on contiguous rows, and conversions as the language has them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ir/core/dtype.h"

namespace sardonyx::cpu {

// out[i] = op(a[i], b[i]); an operand that does not step is one element for the whole row.
using PairRow = void (*)(const void* a, bool a_steps, const void* b, bool b_steps, bool* out,
                         int64_t count);
// The kernel of Equal, Greater, GreaterOrEqual, Less, LessOrEqual, And, Or or Xor for `dtype`;
// nullptr where there is none.
PairRow pair_row_for(std::string_view op, DType dtype);

// out[i] = !in[i]. `out` may be `in`.
void not_row(const uint8_t* in, bool* out, int64_t count);

// out[i] = condition[i] ? taken[i] : other[i].
struct Choice {
  const uint8_t* condition;
  const void *taken, *other;
  void* out;
  int64_t count;
};
using ChooseRow = void (*)(const Choice& row);
// The kernel for elements of `bits` bits (8, 16, 32 or 64; nullptr for others). `steps`: which
// operands have an element for each output, rather than one for the row.
ChooseRow choose_row_for(int bits, const std::array<bool, 3>& steps);

// out[i] = in[i] as another type.
using CastRow = void (*)(const void* in, void* out, size_t count);
// nullptr where there is none.
CastRow cast_row_for(DType from, DType to);

}  // namespace sardonyx::cpu
