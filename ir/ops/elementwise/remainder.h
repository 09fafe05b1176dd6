// Remainders of divisions.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "ir/core/error.h"

namespace sardonyx::ops {

[[noreturn]] inline void refuse_zero_divisor() {
  fail(ErrorCode::kInvalidArgument,
       "input B has an element 0; integer division by zero has no result");
}

// a less the multiple of b that a / b truncates to; it has the sign of `a`. Of integers by 0 an
// error. Most 64-bit numbers are small, and then divide in a fraction of the time.
template <typename T>
requires std::is_integral_v<T> T remainder_of(T a, T b) {
  if (b == 0) refuse_zero_divisor();
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return 0;
  }
  if constexpr (sizeof(T) == sizeof(uint64_t)) {
    const uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    if ((x | y) >> 32 == 0)
      return static_cast<T>(static_cast<uint32_t>(x) % static_cast<uint32_t>(y));
  }
  return static_cast<T>(a % b);
}

inline double remainder_of(double a, double b) {
  return std::fmod(a, b);
}

// std::fmod, to the bit. As doubles, whole multiples of `b` are exact up to 2^29, and so is what is
// left of `a`, which is a multiple of b's last bit.
inline float remainder_of(float a, float b) {
  const double x = std::abs(a), y = std::abs(b), quotient = x / y;
  if (!(quotient < 0x1p29) || std::isinf(b)) return std::fmod(a, b);
  double rest = x - static_cast<double>(static_cast<int32_t>(quotient)) * y;
  if (rest < 0) rest += y;  // the quotient was rounded up to a whole number
  return std::copysign(static_cast<float>(rest), a);
}

}  // namespace sardonyx::ops
