// What reference kernels sum in, and how a sum becomes an element: floating sums are held in double
// and rounded once; integer sums are held modulo 2^64, so that they wrap in the element's own
// width.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ir/core/small_float.h"

namespace sardonyx::ops {

template <typename T>
using Accumulator = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;

template <typename T>
Accumulator<T> widened(T value) {
  return static_cast<Accumulator<T>>(value);
}

// `value` as bfloat16, rounded once: a double that float rounds onto a tie is moved off it first.
inline BFloat16 double_to_bfloat16(double value) {
  float narrow = static_cast<float>(value);
  const bool is_tie = (std::bit_cast<uint32_t>(narrow) & 0xffffu) == 0x8000u;
  if (is_tie && static_cast<double>(narrow) != value) {
    narrow = std::nextafter(narrow, value > narrow ? std::numeric_limits<float>::infinity()
                                                   : -std::numeric_limits<float>::infinity());
  }
  return BFloat16(narrow);
}

// An accumulator's value as an element: floats are rounded once, integers wrap.
template <typename T>
T narrowed(Accumulator<T> value) {
  if constexpr (std::is_same_v<T, Float16>)
    return Float16::from_bits(double_to_half(value));
  else if constexpr (std::is_same_v<T, BFloat16>)
    return double_to_bfloat16(value);
  else
    return static_cast<T>(value);
}

// A real number as an element: floats are rounded once; integers are cut towards zero and held in
// their range, NaN becomes 0.
template <typename T>
T from_real(double value) {
  if constexpr (!std::is_integral_v<T>) {
    return narrowed<T>(value);
  } else {
    if (std::isnan(value)) return T{0};
    // 2^digits is the first value beyond the range and a double, which max() need not be.
    const double beyond = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (value >= beyond) return std::numeric_limits<T>::max();
    if (value <= static_cast<double>(std::numeric_limits<T>::min())) {
      return std::numeric_limits<T>::min();
    }
    return static_cast<T>(value);
  }
}

}  // namespace sardonyx::ops
