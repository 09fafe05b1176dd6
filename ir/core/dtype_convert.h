// Numbers of every real dtype to and from the four types in which reference kernels compute: float
// (for all floating types that it holds exactly), double, int64_t (signed integers) and uint64_t
// (unsigned ones and bool). One rounding on the way out; integers wrap to the width of their type.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ir/core/dtype.h"
#include "ir/core/error.h"
#include "ir/core/small_float.h"

namespace sardonyx {

// How values that the 8-bit floats cannot hold are converted.
struct ConvertOptions {
  Overflow overflow = Overflow::kSaturate;           // of float8 kinds and float8e8m0
  ScaleRounding e8m0_rounding = ScaleRounding::kUp;  // of float8e8m0
};

// Reads `count` elements that are `step` apart from element `offset` of `raw` on (packed types
// unpacked, one byte each). C is float, double, int64_t or uint64_t; values that C cannot hold are
// converted as `integer_from` says.
template <typename C>
void load_numbers(DType from, const void* raw, int64_t offset, int64_t step, int64_t count, C* to);

// Writes `count` elements from element `offset` of `raw` on.
template <typename C>
void store_numbers(DType to, void* raw, int64_t offset, int64_t count, const C* from,
                   const ConvertOptions& options = {});

// ONNX Cast between numbers in memory: any real dtype or bool to any other, packed types unpacked.
void convert_numbers(DType from, const void* source, DType to, void* target, int64_t count,
                     const ConvertOptions& options = {});

// A floating value as an integer: truncated towards zero. Out of range, where ONNX leaves the
// result open, it is what x86 and numpy give: the lowest int32 (for types of up to 32 signed bits)
// or the lowest int64, cut to the width.
template <typename To>
To integer_from(double value);

// std::clamp for numbers that become integers: NaN goes to `low`, where ONNX Runtime and the vector
// instructions of x86 take it.
template <typename T>
T clamped_number(T value, T low, T high) {
  return std::min(std::max(low, value), high);
}

// The float next to `value`, inexact results having an odd last bit, so that rounding it again to a
// narrower type rounds `value` once.
float round_to_odd(double value);
float round_to_odd(int64_t value);
float round_to_odd(uint64_t value);

// Calls the lambda with the type in which numbers of `dtype` are computed with.
template <typename Body>
decltype(auto) dispatch_domain(DType dtype, Body&& body) {
  if (dtype == DType::kDouble) return body.template operator()<double>();
  if (is_signed_integer(dtype)) return body.template operator()<int64_t>();
  if (is_integer(dtype) || dtype == DType::kBool) return body.template operator()<uint64_t>();
  if (!is_floating(dtype)) {
    fail(ErrorCode::kUnsupported, "elements of type ", dtype, " are not real numbers");
  }
  return body.template operator()<float>();
}

}  // namespace sardonyx
