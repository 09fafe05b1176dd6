// Pointers that callers of a C interface hand over.
#pragma once

#include "ir/core/error.h"

namespace sardonyx::c_api {

// Throws kInvalidArgument where the pointer is NULL.
template <typename T>
T& require(T* pointer, const char* name) {
  if (!pointer) fail(ErrorCode::kInvalidArgument, name, ": expected a pointer, got NULL");
  return *pointer;
}

// A place for something that is made: NULL there until it is.
template <typename T>
T*& require_place(T** pointer, const char* name) {
  T*& place = require(pointer, name);
  place = nullptr;
  return place;
}

}  // namespace sardonyx::c_api
