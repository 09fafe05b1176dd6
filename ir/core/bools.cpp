#include "ir/core/bools.h"

#include <algorithm>

namespace sardonyx {

bool are_normal_bools(const void* bytes, size_t count) {
  // No branch for each byte, so that the compiler makes vectors of the inner loop.
  constexpr size_t kPart = 4096;
  const auto* from = static_cast<const uint8_t*>(bytes);
  if (!from) return true;
  for (size_t begin = 0; begin < count; begin += kPart) {
    const size_t end = std::min(begin + kPart, count);
    uint8_t seen = 0;
    for (size_t i = begin; i < end; ++i)
      seen |= from[i];
    if (seen > 1) return false;
  }
  return true;
}

void normalize_bools(const void* from, void* to, size_t count) {
  const auto* in = static_cast<const uint8_t*>(from);
  auto* out = static_cast<uint8_t*>(to);
  for (size_t i = 0; i < count; ++i)
    out[i] = in[i] != 0;
}

void normalize_bools(Tensor& tensor) {
  if (tensor.dtype() == DType::kBool) normalize_bools(tensor.raw(), tensor.raw(), tensor.bytes());
}

Tensor with_normal_bools(const Tensor& given) {
  if (given.dtype() != DType::kBool || are_normal_bools(given.raw(), given.bytes())) return given;
  Tensor made = Tensor::allocate(DType::kBool, given.shape());
  normalize_bools(given.raw(), made.raw(), made.bytes());
  return made;
}

}  // namespace sardonyx
