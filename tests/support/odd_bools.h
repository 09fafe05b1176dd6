// Bools as others write them: any byte but 0 for true.
#pragma once

#include <cstring>
#include <vector>

#include "ir/datum_tensors.h"

namespace sardonyx {

// Copies with 2, 255 and others of that kind for true.
inline Tensor with_odd_bools(const Tensor& tensor) {
  if (tensor.dtype() != DType::kBool) return tensor;
  constexpr uint8_t kTrue[] = {2, 255, 128, 1, 3};
  Tensor made = tensor.clone();
  auto* bytes = static_cast<uint8_t*>(made.raw());
  for (int64_t i = 0; i < made.count(); ++i)
    bytes[i] = bytes[i] != 0 ? kTrue[i % 5] : 0;
  return made;
}
inline Datum with_odd_bools(const Datum& datum) {
  return with_tensors(datum, [](const Tensor& tensor) { return with_odd_bools(tensor); });
}
inline std::vector<Datum> with_odd_bools(const std::vector<Datum>& data) {
  std::vector<Datum> made;
  for (const Datum& datum : data)
    made.push_back(with_odd_bools(datum));
  return made;
}

inline bool has_bools(const std::vector<Datum>& data) {
  return std::ranges::any_of(data, [](const Datum& datum) {
    return any_tensor(datum,
                      [](const Tensor& t) { return t.dtype() == DType::kBool && t.count() > 0; });
  });
}

}  // namespace sardonyx
