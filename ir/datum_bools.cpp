#include "ir/datum_bools.h"

#include "ir/core/bools.h"
#include "ir/datum_tensors.h"

namespace sardonyx {

bool has_odd_bools(const Datum& datum) {
  return any_tensor(datum, [](const Tensor& tensor) {
    return tensor.dtype() == DType::kBool && !are_normal_bools(tensor.raw(), tensor.bytes());
  });
}

Datum with_normal_bools(const Datum& datum) {
  return with_tensors(datum, [](const Tensor& tensor) { return with_normal_bools(tensor); });
}

}  // namespace sardonyx
