// Lists in arrays of the caller's.
#pragma once

#include <algorithm>

#include "executor/ort_abi/status.h"

namespace sardonyx::ort_abi {

// `each` of every element into `out`, which must have a place for all of them.
template <typename List, typename T, typename Each>
void list(const List& elements, T* out, size_t size, const char* what, const Each& each) {
  if (size < elements.size()) {
    refuse(ORT_INVALID_ARGUMENT, what, ": expected an array for ", elements.size(),
           " elements, got one for ", size);
  }
  if (elements.empty()) return;
  require(out, what);
  std::transform(elements.begin(), elements.end(), out, each);
}

}  // namespace sardonyx::ort_abi
