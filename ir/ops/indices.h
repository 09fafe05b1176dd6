// Index operands of kernels: int32 or int64, counted from the end where negative, never trusted.
#pragma once

#include <vector>

#include "ir/error.h"
#include "ir/tensor.h"

namespace sardonyx::ops {

inline constexpr DTypeSet kIndexTypes{DType::kInt32, DType::kInt64};

// The elements of an int32 or int64 operand.
inline std::vector<int64_t> indices_of(const TensorView& view) {
  const auto count = static_cast<size_t>(view.count());
  if (view.dtype == DType::kInt32) {
    const auto* data = view.data<int32_t>();
    return {data, data + count};
  }
  SARDONYX_CHECK(view.dtype == DType::kInt64);
  const auto* data = view.data<int64_t>();
  return {data, data + count};
}

[[noreturn]] inline void fail_index(int64_t index, int64_t size, size_t axis) {
  fail(ErrorCode::kInvalidArgument, "index ", index, " is out of range for axis ", axis,
       " of size ", size, ", expected ", -size, " to ", size - 1);
}

// `index` in [-size, size) made non-negative; throws kInvalidArgument for others.
inline int64_t checked_index(int64_t index, int64_t size, size_t axis) {
  if (index < -size || index >= size) fail_index(index, size, axis);
  return index < 0 ? index + size : index;
}

}  // namespace sardonyx::ops
