// Checks of actual tensors against the types that a model declares.
#pragma once

#include "ir/type.h"

namespace sardonyx {

// May a tensor of type `declared` have this shape? Dims that are not known may have any size.
inline bool allows(const Type& declared, const Shape& shape) {
  if (!declared.shape) return true;
  bool same = declared.rank() == shape.size();
  for (size_t i = 0; same && i < shape.size(); ++i) {
    const Dim& dim = (*declared.shape)[i];
    same = !dim.is_known() || dim.value() == shape[i];
  }
  return same;
}

}  // namespace sardonyx
