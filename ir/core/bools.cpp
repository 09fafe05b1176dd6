#include "ir/core/bools.h"

namespace sardonyx {

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
