// The tensors within a value of any kind.
#pragma once

#include <algorithm>

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

}  // namespace sardonyx
