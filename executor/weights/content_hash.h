// A number for the elements of a tensor.
#pragma once

#include <array>
#include <cstdint>

#include "ir/core/tensor.h"

namespace sardonyx {

// A 128-bit XXH3 hash of elements. Collisions do not occur by chance, but can be constructed on
// purpose.
using ContentHash = std::array<uint64_t, 2>;

ContentHash content_hash(std::span<const std::byte> bytes);
// A hash made by all threads of the calling thread's scope. It differs from content_hash of the
// bytes.
ContentHash shared_content_hash(std::span<const std::byte> bytes);
// The content_hash of the bytes of the tensor's elements, which are loaded if they are not in
// memory.
ContentHash content_hash(const Tensor& tensor);

}  // namespace sardonyx
