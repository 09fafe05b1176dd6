// Equality of numbers by their bits: 0 and -0 are two numbers, and a NaN is the same as itself.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace sardonyx {

inline bool is_same_bits(float a, float b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}
inline bool is_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::ranges::equal(a, b, [](float x, float y) { return is_same_bits(x, y); });
}

}  // namespace sardonyx
