// Index operands of kernels: int32 or int64, counted from the end where negative, never trusted.
#pragma once

#include <vector>

#include "ir/core/error.h"
#include "ir/core/strides.h"
#include "ir/core/tensor.h"

namespace sardonyx::ops {

inline constexpr DTypeSet kIndexTypes{DType::kInt32, DType::kInt64};

// The elements of an int32 or int64 operand, in place.
class IndexView {
 public:
  explicit IndexView(const TensorView& view)
      : data_(view.raw),
        is_narrow_(view.dtype == DType::kInt32),
        size_(static_cast<size_t>(view.count())) {
    SARDONYX_CHECK(is_narrow_ || view.dtype == DType::kInt64);
  }
  size_t size() const { return size_; }
  int64_t operator[](size_t index) const {
    return is_narrow_ ? static_cast<const int32_t*>(data_)[index]
                      : static_cast<const int64_t*>(data_)[index];
  }
  std::vector<int64_t> to_vector() const { return copied<std::vector<int64_t>>(); }
  // Where there are about as many as a tensor has dims.
  DimValues to_dim_values() const { return copied<DimValues>(); }

 private:
  template <typename Values>
  Values copied() const {
    Values values(size_);
    for (size_t i = 0; i < size_; ++i)
      values[i] = (*this)[i];
    return values;
  }

  const void* data_;
  bool is_narrow_;
  size_t size_;
};
inline IndexView indices_of(const TensorView& view) {
  return IndexView(view);
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
