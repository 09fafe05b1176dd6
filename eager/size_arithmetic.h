// What programs write with sizes beyond the arithmetic of eager/dim.h, in the manner of integers.
#pragma once

#include <ostream>

#include "eager/dim.h"

namespace sardonyx::eager {

// As sizes are at least 0, the same as C++'s division of integers; symbolic where an operand is.
template <typename A, typename B>
requires SizeOperands<A, B> Dim operator/(const A& a, const B& b) {
  return floor_div(a, b);
}
template <typename A, typename B>
requires SizeOperands<A, B> Dim operator%(const A& a, const B& b) {
  return a - floor_div(a, b) * b;
}

// "[2, 3]"
inline std::ostream& operator<<(std::ostream& out, const Sizes& sizes) {
  return out << to_text(static_cast<const Dims&>(sizes));
}

}  // namespace sardonyx::eager
