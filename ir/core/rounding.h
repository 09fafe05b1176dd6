// Integer division and multiples, rounded up.
#pragma once

#include <concepts>
#include <type_traits>

namespace sardonyx {

// a / b, rounded up; a >= 0 and b > 0.
template <std::integral T>
constexpr T ceil_div(T a, std::type_identity_t<T> b) {
  return (a + b - 1) / b;
}

// The least multiple of `unit` that is not below `count`.
template <std::integral T>
constexpr T rounded_up(T count, std::type_identity_t<T> unit) {
  return ceil_div(count, unit) * unit;
}

}  // namespace sardonyx
