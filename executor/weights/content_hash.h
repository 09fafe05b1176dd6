// A number for the elements of a tensor.
#pragma once

#include <array>
#include <cstdint>

#include "ir/core/tensor.h"

namespace sardonyx {

// 128 bits: other elements have another one, but for chance (XXH3, which is no defence against
// those who look for elements that have the same).
using ContentHash = std::array<uint64_t, 2>;

ContentHash content_hash(std::span<const std::byte> bytes);
// A hash made by all threads of the calling thread's scope. It differs from content_hash of the
// bytes.
ContentHash shared_content_hash(std::span<const std::byte> bytes);
// The content_hash of the bytes of the tensor's elements, which are loaded if they are not in
// memory.
ContentHash content_hash(const Tensor& tensor);

}  // namespace sardonyx
