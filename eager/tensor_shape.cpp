// Methods of Tensor that change shape or type, and reductions.
#include <algorithm>
#include <numeric>

#include "eager/dispatch.h"
#include "eager/frame.h"
#include "eager/functional.h"

namespace sardonyx::eager {
namespace {

size_t normalized(int64_t axis, size_t rank, const char* what, const Loc& loc) {
  const auto size = static_cast<int64_t>(rank);
  if (axis < -size || axis >= size) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", what, ": expected an axis within [",
         -size, ", ", size, "), got ", axis);
  }
  return static_cast<size_t>(axis < 0 ? axis + size : axis);
}

Tensor reduced(const OpDef& op, const Tensor& x, const std::vector<int64_t>& axes, bool keepdim,
               const Loc& loc) {
  const AttrMap attrs{{"keepdims", int64_t{keepdim}}};
  return axes.empty() ? apply(op, {x}, attrs, loc) : apply(op, {x, int64s(axes)}, attrs, loc);
}

// The shape as Reshape takes it: a constant wherever possible, with 0 for sizes that stay in their
// places and -1 for one that follows from the others.
Tensor shape_operand(const Tensor& x, Dims shape, bool& allow_zero, const Loc& loc) {
  const auto is_rest = [](const sardonyx::Dim& dim) { return dim == -1; };
  const auto is_symbolic = [](const sardonyx::Dim& dim) { return !dim.is_known(); };
  const auto is_zero = [](const sardonyx::Dim& dim) { return dim == 0; };
  const bool has_rest = std::ranges::any_of(shape, is_rest);
  const bool has_zero = std::ranges::any_of(shape, is_zero);
  const Dims from = x.shape();
  const auto is_kept = [&](size_t i) { return i < from.size() && from[i] == shape[i]; };
  bool all_kept = true;  // symbolic sizes stay where they are
  for (size_t i = 0; i < shape.size(); ++i)
    all_kept &= !is_symbolic(shape[i]) || is_kept(i);
  if (!has_rest && !has_zero && std::ranges::count_if(shape, is_symbolic) == 1 &&
      proved_equal(element_count(shape), x.numel())) {
    *std::ranges::find_if(shape, is_symbolic) = -1;
  } else if (!has_rest && !has_zero && all_kept) {
    // 0 stands for the input's size at the same place.
    std::ranges::replace_if(shape, is_symbolic, Dim(0));
  } else if (has_rest && has_zero) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": reshape to ", to_text(shape),
         ": what -1 stands for is not determined beside a size of 0");
  } else {
    // Without -1, a 0 (or a symbolic size that turns out to be 0) means 0.
    allow_zero = !has_rest;
  }
  return dims_tensor(shape, loc);
}

}  // namespace

Tensor Tensor::to(DType wanted, Loc loc) const {
  if (dtype() == wanted) return *this;
  static const OpDef& op = op_named("Cast");
  return apply(op, {*this}, {{"to", static_cast<int64_t>(wanted)}}, loc);
}

Tensor Tensor::reshape(const Dims& shape, Loc loc) const {
  static const OpDef& op = op_named("Reshape");
  bool allow_zero = false;
  const Tensor wanted = shape_operand(*this, shape, allow_zero, loc);
  if (!allow_zero) return apply(op, {*this, wanted}, loc);
  return apply(op, {*this, wanted}, {{"allowzero", int64_t{1}}}, loc);
}

Tensor Tensor::flatten(int64_t first, int64_t last, Loc loc) const {
  const Dims dims = shape();
  if (dims.empty()) return reshape({1}, loc);
  const size_t from = normalized(first, dims.size(), "flatten", loc);
  const size_t to = normalized(last, dims.size(), "flatten", loc);
  Dims result(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(from));
  Dim joined = 1;
  for (size_t i = from; i <= to; ++i)
    joined *= dims[i];
  result.push_back(joined);
  result.insert(result.end(), dims.begin() + static_cast<ptrdiff_t>(to) + 1, dims.end());
  return reshape(result, loc);
}

Tensor Tensor::squeeze(const std::vector<int64_t>& axes, Loc loc) const {
  static const OpDef& op = op_named("Squeeze");
  return axes.empty() ? apply(op, {*this}, loc) : apply(op, {*this, int64s(axes)}, loc);
}

Tensor Tensor::unsqueeze(int64_t axis, Loc loc) const {
  static const OpDef& op = op_named("Unsqueeze");
  return apply(op, {*this, int64s({axis})}, loc);
}

Tensor Tensor::permute(const std::vector<int64_t>& axes, Loc loc) const {
  static const OpDef& op = op_named("Transpose");
  std::vector<int64_t> positive;
  for (const int64_t axis : axes)
    positive.push_back(static_cast<int64_t>(normalized(axis, rank(), "permute", loc)));
  return apply(op, {*this}, {{"perm", positive}}, loc);
}

Tensor Tensor::transpose(int64_t a, int64_t b, Loc loc) const {
  std::vector<int64_t> axes(rank());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[normalized(a, rank(), "transpose", loc)],
            axes[normalized(b, rank(), "transpose", loc)]);
  return permute(axes, loc);
}

Tensor Tensor::expand(const Dims& shape, Loc loc) const {
  static const OpDef& op = op_named("Expand");
  return apply(op, {*this, dims_tensor(shape, loc)}, loc);
}

Tensor Tensor::slice(int64_t axis, const Slice& range, Loc loc) const {
  static const OpDef& op = op_named("Slice");
  if (range.step == 0) fail(ErrorCode::kInvalidArgument, text_of(loc), ": slice: the step is 0");
  const bool forward = range.step > 0;
  const Dim begin = range.begin.value_or(forward ? Dim(0) : Dim(INT64_MAX));
  const Dim end = range.end.value_or(forward ? Dim(INT64_MAX) : Dim(INT64_MIN));
  return apply(op,
               {*this, dims_tensor({begin}, loc), dims_tensor({end}, loc), int64s({axis}),
                int64s({range.step})},
               loc);
}

Tensor Tensor::select(int64_t axis, int64_t index, Loc loc) const {
  static const OpDef& op = op_named("Gather");
  return apply(op, {*this, literal(sardonyx::Tensor::scalar(index))}, {{"axis", axis}}, loc);
}

Tensor Tensor::operator[](int64_t index) const {
  return select(0, index);
}

Tensor Tensor::sum(const std::vector<int64_t>& axes, bool keepdim, Loc loc) const {
  static const OpDef& op = op_named("ReduceSum");
  if (dtype() == DType::kBool) return to(DType::kInt64, loc).sum(axes, keepdim, loc);
  return reduced(op, *this, axes, keepdim, loc);
}
Tensor Tensor::mean(const std::vector<int64_t>& axes, bool keepdim, Loc loc) const {
  static const OpDef& op = op_named("ReduceMean");
  return reduced(op, *this, axes, keepdim, loc);
}
Tensor Tensor::amax(const std::vector<int64_t>& axes, bool keepdim, Loc loc) const {
  static const OpDef& op = op_named("ReduceMax");
  return reduced(op, *this, axes, keepdim, loc);
}
Tensor Tensor::amin(const std::vector<int64_t>& axes, bool keepdim, Loc loc) const {
  static const OpDef& op = op_named("ReduceMin");
  return reduced(op, *this, axes, keepdim, loc);
}
Tensor Tensor::argmax(int64_t axis, bool keepdim, Loc loc) const {
  static const OpDef& op = op_named("ArgMax");
  return apply(op, {*this}, {{"axis", axis}, {"keepdims", int64_t{keepdim}}}, loc);
}

}  // namespace sardonyx::eager
