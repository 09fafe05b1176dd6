#include "ir/ops/control_flow/scan_outputs.h"

#include <algorithm>
#include <cstring>

#include "ir/core/memory/counted_strings.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/strides.h"
#include "ir/ops/data_movement/concat_split.h"

namespace sardonyx::ops {
namespace {

// Space for slices that may never come is made up to this many bytes.
constexpr int64_t kMaxExpectedBytes = 4 << 20;

DType moved_type(DType dtype) {
  return is_packed(dtype) ? DType::kUInt8 : dtype;
}

void unpack(const Tensor& tensor, uint8_t* out) {
  for (int64_t i = 0; i < tensor.count(); ++i)
    out[i] = get_packed(tensor.dtype(), tensor.raw(), i);
}

// `out` is of a packed type.
void pack(const uint8_t* in, const Tensor& out) {
  std::memset(out.raw(), 0, out.bytes());
  for (int64_t i = 0; i < out.count(); ++i)
    set_packed(out.dtype(), out.raw(), i, in[i]);
}

size_t checked_axis(int64_t axis, size_t rank) {
  const auto limit = static_cast<int64_t>(rank);
  if (axis < -limit || axis >= limit) {
    fail(ErrorCode::kInvalidArgument, "axis ", axis, " is out of range for rank ", rank);
  }
  return axis_of(axis, rank);
}

// `shape` with another dim before dim `at`.
DimValues with_dim(std::span<const int64_t> shape, size_t at, int64_t dim) {
  DimValues result(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(at));
  result.push_back(dim);
  for (const int64_t other : shape.subspan(at))
    result.push_back(other);
  return result;
}

void make_empty(int64_t axis, const Type& type, Datum& out, BufferPool* buffers) {
  DimValues shape;
  if (type.shape) {
    for (const Dim& dim : *type.shape)
      shape.push_back(dim.try_value().value_or(0));
  }
  const size_t at = type.shape ? checked_axis(axis, shape.size() + 1) : 0;
  const DType dtype = type.dtype == DType::kUndefined ? DType::kFloat : type.dtype;
  renewed_tensor(out, dtype, with_dim(shape, at, 0), buffers);
}

}  // namespace

void TensorStack::start(int64_t expected) {
  count_ = 0;
  expected_ = expected;
}

// Elements `index` of the rows.
TensorView TensorStack::row(int64_t index) const {
  const Tensor& rows = rows_.tensor();
  const size_t step = bytes_for(moved_, element_count(shape_));
  return {moved_, shape_, static_cast<std::byte*>(rows.raw()) + static_cast<size_t>(index) * step};
}

// For one more slice.
void TensorStack::grow(BufferPool* buffers) {
  if (count_ > 0 && count_ < rows_.tensor().shape()[0]) return;
  if (count_ == 0) {
    const auto bytes = static_cast<int64_t>(bytes_for(moved_, element_count(shape_)));
    const int64_t most = std::max<int64_t>(1, kMaxExpectedBytes / std::max<int64_t>(1, bytes));
    renewed_tensor(rows_, moved_, with_dim(shape_, 0, std::clamp<int64_t>(expected_, 1, most)),
                   buffers);
    return;
  }
  const DimValues shape = with_dim(shape_, 0, 2 * count_);
  const Tensor& grown = renewed_tensor(larger_, moved_, shape, buffers);
  const Tensor& rows = rows_.tensor();
  if (moved_ == DType::kString) {
    auto* from = static_cast<std::string*>(rows.raw());
    auto* to = static_cast<std::string*>(grown.raw());
    for (int64_t i = 0; i < rows.count(); ++i)
      move_string(to[i], std::move(from[i]));
  } else if (rows.count() > 0) {
    std::memcpy(grown.raw(), rows.raw(), rows.bytes());
  }
  std::swap(rows_, larger_);
}

void TensorStack::add(const Tensor& slice, BufferPool* buffers) {
  if (count_ == 0) {
    dtype_ = slice.dtype();
    moved_ = moved_type(dtype_);
    shape_ = slice.shape();
  } else if (dtype_ != slice.dtype() || shape_ != slice.shape()) {
    fail(ErrorCode::kInvalidArgument, "a scan output was ", dtype_, to_text(shape_),
         " in the first iteration, is ", slice.dtype(), to_text(slice.shape()), " in iteration ",
         count_);
  }
  grow(buffers);
  const TensorView to = row(count_++);
  if (is_packed(dtype_)) {
    unpack(slice, to.data<uint8_t>());
  } else if (dtype_ == DType::kString) {
    copy_elements(static_cast<const std::string*>(slice.raw()), slice.count(),
                  to.data<std::string>());
  } else if (slice.count() > 0) {
    std::memcpy(to.raw, slice.raw(), slice.bytes());
  }
}

void TensorStack::finish(int64_t axis, bool reversed, const Type& type, Datum& out,
                         BufferPool* buffers) {
  if (count_ == 0) return make_empty(axis, type, out, buffers);
  const size_t at = checked_axis(axis, shape_.size() + 1);
  const DimValues whole = with_dim(shape_, at, count_);
  const Tensor& rows = rows_.tensor();
  if (at == 0 && !reversed && !is_packed(dtype_)) {
    rows_.as_tensor().assign(dtype_, whole, rows.buffer());
    std::swap(rows_, out);
  } else {
    const ScratchMark mark;
    const DimValues part = with_dim(shape_, at, 1);
    std::pmr::vector<TensorView> views(scratch());
    views.reserve(static_cast<size_t>(count_));
    for (int64_t i = 0; i < count_; ++i)
      views.push_back({moved_, part, row(reversed ? count_ - 1 - i : i).raw});
    Datum& joined = is_packed(dtype_) ? larger_ : out;
    concat_along(views, at, renewed_tensor(joined, moved_, whole, buffers).view());
    if (is_packed(dtype_)) {
      pack(static_cast<const uint8_t*>(joined.tensor().raw()),
           renewed_tensor(out, dtype_, whole, buffers));
    }
  }
  for (Datum* own : {&rows_, &larger_}) {
    if (buffers) recycle(*own, *buffers);
  }
}

Type slice_type_at_hand(const EvalCall& call, size_t output, int64_t axis, const Type& own) {
  if (own.known_shape()) return own;
  std::vector<InferInput> seen;
  const auto see = [&](const Datum& datum) {
    InferInput& one = seen.emplace_back();
    if (datum.defined())
      one = {datum.type(), datum.is_tensor() ? &datum.tensor() : nullptr, nullptr};
  };
  for (size_t i = 0; i < call.inputs.size(); ++i)
    see(call.inputs[i]);
  for (size_t i = 0; i < call.captures.size(); ++i)
    see(call.captures[i]);
  try {
    int64_t unknown = 0;
    const auto fresh = [&] { return Dim::symbol(text("?empty", unknown++)); };
    Type whole =
        infer(call.op, call.raw_attrs, seen, call.inputs.size(), call.outputs.size(), fresh)[output]
            .type;
    if (!whole.shape || whole.rank() == 0) return own;
    whole.shape->erase(whole.shape->begin() +
                       static_cast<ptrdiff_t>(checked_axis(axis, whole.rank())));
    return whole;
  } catch (const Error&) {
    return own;  // a body that does not fit these inputs need not: it was not run
  }
}

void slice_into(Datum& slot, const Tensor& tensor, size_t axis, int64_t index,
                BufferPool* buffers) {
  const Shape& from = tensor.shape();
  DimValues shape(from.begin(), from.end());
  std::copy(shape.begin() + axis + 1, shape.end(), shape.begin() + axis);
  shape.resize(shape.size() - 1);
  if (axis == 0 && !is_packed(tensor.dtype())) {
    const size_t step = bytes_for(tensor.dtype(), tensor.count() / from[0]);
    slot.as_tensor().assign(tensor.dtype(), shape, tensor.buffer(),
                            tensor.byte_offset() + static_cast<size_t>(index) * step);
    return;
  }
  const DimValues with_axis = with_dim(shape, axis, 1);
  const Tensor& part = renewed_tensor(slot, tensor.dtype(), shape, buffers);
  if (!is_packed(tensor.dtype())) {
    return copy_part(tensor.view(), axis, index, {part.dtype(), with_axis, part.raw()});
  }
  const ScratchMark mark;
  std::pmr::vector<uint8_t> whole(static_cast<size_t>(tensor.count()), scratch());
  std::pmr::vector<uint8_t> bytes(static_cast<size_t>(part.count()), scratch());
  unpack(tensor, whole.data());
  copy_part({DType::kUInt8, from, whole.data()}, axis, index,
            {DType::kUInt8, with_axis, bytes.data()});
  pack(bytes.data(), part);
}

}  // namespace sardonyx::ops
