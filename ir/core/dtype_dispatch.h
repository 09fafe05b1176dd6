// Dispatch from a dtype known at run time to a C++ type: `dispatch_floats(dtype, [&]<typename T>()
// { ... })` calls the lambda with T = float, double, Float16 or BFloat16 and gives back what it
// returns. Each function covers one set of dtypes and throws kUnsupported for any other. A large
// body is compiled once for each type of the set: prefer the narrowest set, and `dispatch_width`
// where elements are only moved.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <utility>

#include "ir/core/dtype.h"
#include "ir/core/error.h"

namespace sardonyx {

// The type as which elements of 16 bytes (complex128) are moved.
struct Bytes16 {
  uint64_t words[2];
  bool operator==(const Bytes16&) const = default;
};

namespace detail {

// Calls `body` with the first of Ts whose dtype matches.
template <typename... Ts, typename Body>
decltype(auto) dispatch_among(DType dtype, Body&& body) {
  using Result = std::common_type_t<decltype(body.template operator()<Ts>())...>;
  if constexpr (std::is_void_v<Result>) {
    const bool found =
        ((dtype == dtype_of<Ts>() ? (body.template operator()<Ts>(), true) : false) || ...);
    if (!found) fail(ErrorCode::kUnsupported, "elements of type ", dtype, " are not handled here");
  } else {
    Result result{};
    const bool found =
        ((dtype == dtype_of<Ts>() ? (result = body.template operator()<Ts>(), true) : false) ||
         ...);
    if (!found) fail(ErrorCode::kUnsupported, "elements of type ", dtype, " are not handled here");
    return result;
  }
}

}  // namespace detail

// kFloats.
template <typename Body>
decltype(auto) dispatch_floats(DType dtype, Body&& body) {
  return detail::dispatch_among<float, double, Float16, BFloat16>(dtype, body);
}

// kInts.
template <typename Body>
decltype(auto) dispatch_ints(DType dtype, Body&& body) {
  return detail::dispatch_among<int64_t, int32_t, int8_t, uint8_t, int16_t, uint16_t, uint32_t,
                                uint64_t>(dtype, body);
}

// kNumbers.
template <typename Body>
decltype(auto) dispatch_numbers(DType dtype, Body&& body) {
  return detail::dispatch_among<float, double, Float16, BFloat16, int64_t, int32_t, int8_t, uint8_t,
                                int16_t, uint16_t, uint32_t, uint64_t>(dtype, body);
}

// int32 and int64: the types of indices.
template <typename Body>
decltype(auto) dispatch_indices(DType dtype, Body&& body) {
  return detail::dispatch_among<int64_t, int32_t>(dtype, body);
}

// Every dtype, by the size of an element, for moving elements without looking into them: T is
// uint8_t, uint16_t, uint32_t, uint64_t, Bytes16 or std::string. Packed types come as uint8_t,
// since kernels see them unpacked.
template <typename Body>
decltype(auto) dispatch_width(DType dtype, Body&& body) {
  if (dtype == DType::kString) return body.template operator()<std::string>();
  const int bits = dtype == DType::kUndefined ? 0 : bits_of(dtype);
  if (bits == 128) return body.template operator()<Bytes16>();
  if (bits == 64) return body.template operator()<uint64_t>();
  if (bits == 32) return body.template operator()<uint32_t>();
  if (bits == 16) return body.template operator()<uint16_t>();
  if (bits == 0) fail(ErrorCode::kInternal, "elements of an undefined type");
  return body.template operator()<uint8_t>();
}

}  // namespace sardonyx
