// Equality of what a compiled function and the function itself give.
#pragma once

#include "eager/functional/functional.h"
#include "eager/tensor.h"

namespace sardonyx::eager {

// Whether the tensors have one type and shape, and elements that differ by less than 1e-5.
inline bool same(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  return a.numel().value() == 0 || abs(a - b).amax().item<float>() < 1e-5f;
}

}  // namespace sardonyx::eager
