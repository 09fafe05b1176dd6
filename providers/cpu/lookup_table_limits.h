// Tables that kernels make when they are prepared: of the lines of an image, of the matrices of a
// batch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace sardonyx::cpu {

// Entries of the longest. No memory limit counts them and no deadline ends their making, so calls
// that want more are left to kernels without.
constexpr int64_t kLongestTable = int64_t{1} << 22;

constexpr const char* kTablesTooLong = "so many positions are left to kernels without tables";

// nullptr where tables of these lengths may be made.
inline const char* refusal_of_tables(std::initializer_list<int64_t> lengths) {
  return std::max(lengths) > kLongestTable ? kTablesTooLong : nullptr;
}

}  // namespace sardonyx::cpu
