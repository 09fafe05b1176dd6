// Helpers of all functions of the C interface: exceptions become statuses, and a struct's
// struct_size tells its version.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>

#include "executor/c_api/pointers.h"
#include "ir/core/error.h"
#include "sardonyx/sardonyx.h"

namespace sardonyx::c_api {

sx_status status_of(ErrorCode code);

// Keeps the error in this thread for sx_last_error(), and returns its status.
sx_status note_error(const Error& error) noexcept;
sx_status note_error(sx_status status, const char* message, const char* node = "") noexcept;
// Tells `to`, which may be null, of a call that ended with `status` in this thread.
void tell(sx_error* to, sx_status status) noexcept;

// Runs `body` and turns whatever it throws into a status.
template <typename Body>
sx_status guarded(const Body& body) noexcept {
  try {
    body();
    return SX_OK;
  } catch (const Error& error) {
    return note_error(error);
  } catch (const std::bad_alloc&) {
    return note_error(SX_RESOURCE_EXHAUSTED, "out of memory");
  } catch (const std::length_error&) {
    return note_error(SX_INVALID_ARGUMENT, "a count or a length is more than memory can hold");
  } catch (const std::exception& error) {
    return note_error(SX_INTERNAL, error.what());
  } catch (...) {
    return note_error(SX_INTERNAL, "an exception of unknown type");
  }
}

template <typename List>
void check_index(size_t index, const List& list, const char* what) {
  if (index >= std::size(list)) {
    fail(ErrorCode::kInvalidArgument, "index: there are ", std::size(list), " ", what, ", got ",
         index);
  }
}

// Throws kInvalidArgument for more elements than any array can have: the count was negative, or
// never set.
template <typename T>
void check_count(size_t count, const T*, const char* what) {
  constexpr auto kMost = static_cast<size_t>(std::numeric_limits<ptrdiff_t>::max()) / sizeof(T);
  if (count > kMost) {
    fail(ErrorCode::kInvalidArgument, what, ": expected at most ", kMost, ", got ", count);
  }
}

inline void check_struct_size(size_t size, const char* what) {
  if (size < sizeof(size_t)) {
    fail(ErrorCode::kInvalidArgument, what, ": struct_size is ", size,
         ", expected the size of the struct; set it before the call");
  }
}

// A struct of the caller's as this version knows it: fields that the caller's version did not have
// keep their defaults, and those that this one does not know must be zero.
template <typename T>
T read_struct(const T* given, const T& defaults, const char* what) {
  T known = defaults;
  if (!given) return known;
  check_struct_size(given->struct_size, what);
  const auto* bytes = reinterpret_cast<const std::byte*>(given);
  for (size_t i = sizeof(T); i < given->struct_size; ++i) {
    if (bytes[i] == std::byte{0}) continue;
    fail(ErrorCode::kInvalidArgument, what, ": it is of a later version (", given->struct_size,
         " bytes, this one knows ", sizeof(T), ") and sets fields that are not known here");
  }
  std::memcpy(&known, given, std::min(given->struct_size, sizeof(T)));
  return known;
}

// Fills in as much of a caller's struct of `size` bytes as both versions know.
template <typename T>
void write_struct(T& to, size_t size, T values, const char* what) {
  check_struct_size(size, what);
  values.struct_size = size;
  const size_t known = std::min(size, sizeof(T));
  std::memcpy(&to, &values, known);
  if (size > known) std::memset(reinterpret_cast<std::byte*>(&to) + known, 0, size - known);
}

// Fills a struct whose own struct_size says how many bytes of it the caller knows.
template <typename T>
void fill_struct(T* to, const T& values, const char* what) {
  T& target = require(to, what);
  write_struct(target, target.struct_size, values, what);
}

// Checks a number among the options: 0 asks for the default, others must be in [lowest, highest].
template <typename T>
void check_range(const char* name, T value, T lowest, T highest) {
  if (value >= lowest && value <= highest) return;
  fail(ErrorCode::kInvalidArgument, name, ": expected ", lowest, " to ", highest, ", got ", value);
}

inline bool flag(const char* name, int32_t value) {
  check_range(name, value, 0, 1);
  return value == 1;
}

// Milliseconds within which a sum with the time of day does not overflow: 30 years.
constexpr int64_t kLongestDeadline = 1'000'000'000'000;

}  // namespace sardonyx::c_api
