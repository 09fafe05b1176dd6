// Limits of the index tables that kernels build in prepare(): of the lines of an image, or of the
// matrices of a batch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace sardonyx::cpu {

// The most entries of a table. Tables are not counted by memory limits, and no deadline interrupts
// their computation, so calls that need longer ones are left to kernels without tables.
constexpr int64_t kLongestTable = int64_t{1} << 22;

constexpr const char* kTablesTooLong = "so many positions are left to kernels without tables";

// Why tables of these lengths are not supported, or null.
inline const char* why_unsupported_tables(std::initializer_list<int64_t> lengths) {
  return std::max(lengths) > kLongestTable ? kTablesTooLong : nullptr;
}

}  // namespace sardonyx::cpu
