// Pointers that callers of a C interface hand over.
#pragma once

#include "ir/core/error.h"

namespace sardonyx::c_api {

// Dereferences a caller's pointer. Throws kInvalidArgument where it is NULL.
template <typename T>
T& require(T* pointer, const char* name) {
  if (!pointer) fail(ErrorCode::kInvalidArgument, name, ": expected a pointer, got NULL");
  return *pointer;
}

// The caller's out parameter for a new handle, which is set to NULL first.
template <typename T>
T*& require_place(T** pointer, const char* name) {
  T*& place = require(pointer, name);
  place = nullptr;
  return place;
}

// Creates a T in the caller's out parameter. A plain assignment would create it before the
// parameter is checked, and leak it if that throws.
template <typename T>
void make_at(T** pointer, const char* name) {
  T*& place = require_place(pointer, name);
  place = new T;
}

}  // namespace sardonyx::c_api
