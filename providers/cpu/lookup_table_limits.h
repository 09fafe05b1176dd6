// Limits of the index tables that kernels build in prepare(): of the lines of an image, or of the
// matrices of a batch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace sardonyx::cpu {

// Entries of the longest. No memory limit counts them and no deadline ends their making, so calls
// that want more are left to kernels without.
constexpr int64_t kLongestTable = int64_t{1} << 22;

constexpr const char* kTablesTooLong = "so many positions are left to kernels without tables";

// Why tables of these lengths are not supported, or null.
inline const char* why_unsupported_tables(std::initializer_list<int64_t> lengths) {
  return std::max(lengths) > kLongestTable ? kTablesTooLong : nullptr;
}

}  // namespace sardonyx::cpu
