// The tensors within a value of any kind.
#pragma once

#include <algorithm>

#include "ir/core/bools.h"
#include "ir/datum.h"

namespace sardonyx {

// Calls `visit` for each tensor of `datum` until it returns true; whether it did.
template <typename Visit>
bool any_tensor(const Datum& datum, const Visit& visit) {
  const auto any_item = [&](const std::vector<Datum>& items) {
    return std::ranges::any_of(items, [&](const Datum& item) { return any_tensor(item, visit); });
  };
  if (datum.is_tensor()) return visit(datum.tensor());
  if (datum.is_sequence()) return any_item(datum.sequence().items);
  if (datum.is_optional()) return any_item(datum.optional().items);
  if (datum.is_map()) return visit(datum.map().keys) || visit(datum.map().values);
  if (datum.is_sparse()) return visit(datum.sparse().values) || visit(datum.sparse().indices);
  return false;
}

// `datum` with `change(tensor)` in the place of each of its tensors.
template <typename Change>
Datum with_tensors(const Datum& datum, const Change& change) {
  const auto with_items = [&](auto container) {
    for (Datum& item : container.items)
      item = with_tensors(item, change);
    return Datum(std::move(container));
  };
  if (datum.is_tensor()) return Datum(change(datum.tensor()));
  if (datum.is_sequence()) return with_items(datum.sequence());
  if (datum.is_optional()) return with_items(datum.optional());
  if (datum.is_map()) return Map{change(datum.map().keys), change(datum.map().values)};
  if (!datum.is_sparse()) return datum;
  const SparseTensor& sparse = datum.sparse();
  return SparseTensor{change(sparse.values), change(sparse.indices), sparse.shape};
}

// Whether any tensor of the value has a bool whose byte is neither 0 nor 1.
inline bool has_odd_bools(const Datum& datum) {
  return any_tensor(datum, [](const Tensor& tensor) {
    return tensor.dtype() == DType::kBool && !are_normal_bools(tensor.raw(), tensor.bytes());
  });
}

// `datum`, but with copies of those of its tensors that have such bools.
inline Datum with_normal_bools(const Datum& datum) {
  return with_tensors(datum, [](const Tensor& tensor) { return with_normal_bools(tensor); });
}

}  // namespace sardonyx
