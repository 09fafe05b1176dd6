// Tensors of bytes for tests: uint8 and int8 take the same values bit by bit.
#pragma once

#include <cstdint>
#include <random>

#include "ir/core/tensor.h"

namespace sardonyx {

inline Tensor random_bytes(DType dtype, const Shape& shape, uint32_t seed) {
  Tensor tensor = Tensor::allocate(dtype, shape);
  std::mt19937 generator(seed);
  auto* bytes = static_cast<uint8_t*>(tensor.raw());
  for (int64_t i = 0; i < tensor.count(); ++i)
    bytes[i] = static_cast<uint8_t>(generator());
  return tensor;
}

// A scalar.
inline Tensor byte_tensor(DType dtype, int value) {
  Tensor tensor = Tensor::allocate(dtype, {});
  *static_cast<uint8_t*>(tensor.raw()) = static_cast<uint8_t>(value);
  return tensor;
}

}  // namespace sardonyx
