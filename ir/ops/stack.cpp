#include "ir/ops/stack.h"

#include <algorithm>
#include <cstring>

#include "ir/ops/join.h"
#include "ir/strides.h"

namespace sardonyx::ops {
namespace {

// One byte an element, as the moving kernels take the packed types.
Tensor unpacked(const Tensor& tensor) {
  if (!is_packed(tensor.dtype())) return tensor;
  Tensor bytes = Tensor::allocate(DType::kUInt8, tensor.shape());
  auto* out = static_cast<uint8_t*>(bytes.raw());
  for (int64_t i = 0; i < bytes.count(); ++i)
    out[i] = get_packed(tensor.dtype(), tensor.raw(), i);
  return bytes;
}

Tensor packed(const Tensor& bytes, DType dtype) {
  if (!is_packed(dtype)) return bytes;
  Tensor tensor = Tensor::zeros(dtype, bytes.shape());
  const auto* in = static_cast<const uint8_t*>(bytes.raw());
  for (int64_t i = 0; i < bytes.count(); ++i)
    set_packed(dtype, tensor.raw(), i, in[i]);
  return tensor;
}

size_t checked_axis(int64_t axis, size_t rank) {
  const auto limit = static_cast<int64_t>(rank);
  if (axis < -limit || axis >= limit) {
    fail(ErrorCode::kInvalidArgument, "axis ", axis, " is out of range for rank ", rank);
  }
  return axis_of(axis, rank);
}

Tensor empty_stack(int64_t axis, const Type& type) {
  Shape shape;
  if (type.shape) {
    for (const Dim& dim : *type.shape)
      shape.push_back(dim.try_value().value_or(0));
  }
  const size_t at = type.shape ? checked_axis(axis, shape.size() + 1) : 0;
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(at), 0);
  return Tensor::allocate(type.dtype == DType::kUndefined ? DType::kFloat : type.dtype,
                          std::move(shape));
}

}  // namespace

void TensorStack::add(const Tensor& slice) {
  const bool fits = slices_.empty() ||
                    (slices_[0].dtype() == slice.dtype() && slices_[0].shape() == slice.shape());
  if (!fits) {
    fail(ErrorCode::kInvalidArgument, "a scan output was ", slices_[0].dtype(),
         to_text(slices_[0].shape()), " in the first iteration, is ", slice.dtype(),
         to_text(slice.shape()), " in iteration ", slices_.size());
  }
  slices_.push_back(slice);
}

Tensor TensorStack::stacked(int64_t axis, bool reversed, const Type& type) {
  if (slices_.empty()) return empty_stack(axis, type);
  const DType dtype = slices_[0].dtype();
  Shape part = slices_[0].shape();
  const size_t at = checked_axis(axis, part.size() + 1);
  part.insert(part.begin() + static_cast<ptrdiff_t>(at), 1);
  Shape whole = part;
  whole[at] = static_cast<int64_t>(slices_.size());
  if (reversed) std::reverse(slices_.begin(), slices_.end());
  const DType moved = is_packed(dtype) ? DType::kUInt8 : dtype;
  Tensor result = Tensor::allocate(moved, std::move(whole));
  std::vector<TensorView> views;
  for (Tensor& slice : slices_) {
    slice = unpacked(slice);
    views.push_back({moved, part, slice.raw()});
  }
  concat_along(views, at, result.view());
  slices_.clear();
  return packed(result, dtype);
}

Tensor slice_of(const Tensor& tensor, size_t axis, int64_t index) {
  Shape shape = tensor.shape();
  Shape with_axis = shape;
  with_axis[axis] = 1;
  shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
  if (axis == 0 && !is_packed(tensor.dtype())) {
    return tensor.slice(index, index + 1).reshaped(std::move(shape));
  }
  const Tensor bytes = unpacked(tensor);
  const Tensor part = Tensor::allocate(bytes.dtype(), with_axis);
  copy_part(bytes.view(), axis, index, part.view());
  return packed(part.reshaped(std::move(shape)), tensor.dtype());
}

}  // namespace sardonyx::ops
