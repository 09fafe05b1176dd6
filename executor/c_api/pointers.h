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

// Makes a T there. An assignment would make it before it asks for the place, and lose it.
template <typename T>
void make_at(T** pointer, const char* name) {
  T*& place = require_place(pointer, name);
  place = new T;
}

}  // namespace sardonyx::c_api
