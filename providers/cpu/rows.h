// Elementwise work on contiguous rows of float32, vectorised for the CPU that runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace sardonyx::cpu {

enum class Unary : uint8_t {
  kAbs,
  kCeil,
  kClip,
  kCos,
  kCube,
  kElu,
  kErf,
  kExp,
  kFloor,
  kGelu,
  kGeluTanh,
  kHardSigmoid,
  kHardSwish,
  kLeakyRelu,
  kLog,
  kMish,
  kNeg,
  kReciprocal,
  kRelu,
  kRound,
  kSigmoid,
  kSin,
  kSoftplus,
  kSqrt,
  kSquare,
  kSwish,
  kTanh,
};

// What the op's attributes are: alpha and beta, or the lower and upper bound of kClip.
struct UnaryParams {
  float a = 0, b = 0;
};

enum class Binary : uint8_t { kAdd, kSub, kMul, kDiv, kMax, kMin, kPow, kPRelu };

// x^exponent, where that has a function of its own: models are full of squares.
std::optional<Unary> unary_power(double exponent);

// out[i] = op(in[i]) for i < count. `out` may be `in`.
void unary_row(Unary op, UnaryParams params, const float* in, float* out, size_t count);
// out[i] = op(a[i], b[i]); an operand with step 0 is one element for the whole row. `out` may be an
// operand of step 1.
void binary_row(Binary op, const float* a, bool a_steps, const float* b, bool b_steps, float* out,
                size_t count);

}  // namespace sardonyx::cpu
