// Values of several ranks combined in the order of the ranks: the bits do not depend on who does
// it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "eager/distributed/process_group.h"
#include "ir/core/dtype.h"
#include "ir/core/error.h"
#include "ir/core/small_float.h"

namespace sardonyx::eager::distributed {

// Calls `body.operator()<T>()` with the type of the elements. Throws kInvalidArgument for types
// that are not reduced.
template <typename Body>
void dispatch_reducible(DType dtype, Body&& body) {
  switch (dtype) {
    case DType::kFloat:
      return body.template operator()<float>();
    case DType::kDouble:
      return body.template operator()<double>();
    case DType::kInt32:
      return body.template operator()<int32_t>();
    case DType::kInt64:
      return body.template operator()<int64_t>();
    case DType::kFloat16:
      return body.template operator()<Float16>();
    case DType::kBFloat16:
      return body.template operator()<BFloat16>();
    default:
      fail(ErrorCode::kInvalidArgument, "all_reduce: elements of type ", dtype,
           "; expected float16, bfloat16, float, double, int32 or int64");
  }
}

// sums[i] (op)= values[i], in loops that become vectors; kMean adds.
template <typename T>
void combine_block(T* sums, const T* values, size_t count, ReduceOp op) {
  const auto each = [&](auto combined) {
    for (size_t i = 0; i < count; ++i)
      sums[i] = combined(sums[i], values[i]);
  };
  // NaN wins, as it does in Min and Max of ONNX.
  if (op == ReduceOp::kMin) return each([](T a, T b) { return b < a || b != b ? b : a; });
  if (op == ReduceOp::kMax) return each([](T a, T b) { return a < b || b != b ? b : a; });
  each([](T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
      return static_cast<T>(a + b);
  });
}

template <typename T>
void divide_block(T* data, size_t count, size_t by) {
  if constexpr (!std::is_integral_v<T>) {
    using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
    for (size_t i = 0; i < count; ++i)
      data[i] = static_cast<T>(static_cast<Wide>(data[i]) / static_cast<Wide>(by));
  }
}

// Every `out` gets what rank 0's, rank 1's, ... `values` give, `count` elements of each; an `out`
// may be one of the values.
template <typename T>
void combine_in_rank_order(std::span<const T* const> values, std::span<T* const> outs, size_t count,
                           ReduceOp op) {
  constexpr size_t kBlock = 1024;  // stays in the nearest cache
  std::array<T, kBlock> sums;
  for (size_t at = 0; at < count; at += kBlock) {
    const size_t block = std::min(kBlock, count - at);
    std::copy_n(values[0] + at, block, sums.data());
    for (const T* const of_rank : values.subspan(1))
      combine_block(sums.data(), of_rank + at, block, op);
    if (op == ReduceOp::kMean) divide_block(sums.data(), block, values.size());
    for (T* const out : outs)
      std::copy_n(sums.data(), block, out + at);
  }
}

}  // namespace sardonyx::eager::distributed
