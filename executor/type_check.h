// Checks of actual tensors against the types that a model declares.
#pragma once

#include "ir/type.h"

namespace sardonyx {

// Whether a tensor of type `declared` may have this shape. Unknown dims may have any size.
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
