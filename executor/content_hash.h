// A number for the elements of a tensor.
#pragma once

#include <array>
#include <cstdint>

#include "ir/tensor.h"

namespace sardonyx {

// 128 bits: other elements have another one, but for chance (XXH3, which is no defence against
// those who look for elements that have the same).
using ContentHash = std::array<uint64_t, 2>;

ContentHash content_hash(std::span<const std::byte> bytes);
// Of the bytes of its elements, which need not be in memory. By all threads that this one has.
ContentHash content_hash(const Tensor& tensor);

}  // namespace sardonyx
