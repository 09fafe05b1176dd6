// Elementwise work on contiguous rows of other numbers than float32: loops that the compiler makes
// vectors of, for the CPU that runs them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ir/core/dtype.h"

namespace sardonyx::cpu {

enum class PairOp : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMax,
  kMin,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRight,
};

// out[i] = op(a[i], b[i]); an operand that does not step is one element for the whole row. `out`
// may be an operand that steps. Integers wrap; where a divisor is 0 the result is not defined.
using NumberPairRow = void (*)(const void* a, bool a_steps, const void* b, bool b_steps, void* out,
                               size_t count);
// nullptr where there is none.
NumberPairRow number_pair_row_of(PairOp op, DType dtype);

enum class NumberOp : uint8_t { kAbs, kNeg, kSign, kBitNot, kIsNan, kIsInfinite };
// out[i] = op(in[i]); `out` may be `in` where both have one type. kIsNan and kIsInfinite give
// bools.
using NumberRow = void (*)(const void* in, void* out, size_t count);
NumberRow number_row_of(NumberOp op, DType dtype);

// The row function of Cast, with the conversions of ir/core/dtype_convert.h.
NumberRow number_cast_row_of(DType from, DType to);

// Whether any of `count` integers is 0.
bool has_zero(DType dtype, const void* values, size_t count);

}  // namespace sardonyx::cpu
