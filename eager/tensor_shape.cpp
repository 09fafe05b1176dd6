// Methods of Tensor that change shape or type, and reductions.
#include <algorithm>
#include <numeric>

#include "eager/dispatch/dispatch.h"
#include "eager/functional/axes.h"
#include "eager/functional/functional.h"
#include "eager/trace/frame.h"
#include "eager/trace/guards.h"

namespace sardonyx::eager {
namespace {

// Sums of these are int64, which they do not overflow as soon.
bool is_widened(DType dtype) {
  return dtype == DType::kBool || (is_integer(dtype) && bits_of(dtype) < 64);
}

// Whether all sizes but the one that is -1 stay where they are: [n, 4] to [n, -1].
bool keeps_the_others(const Dims& from, const Dims& shape) {
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != -1 && (i >= from.size() || !(from[i] == shape[i]))) return false;
  }
  return true;
}

// The shape as Reshape takes it: a constant wherever possible, with 0 for sizes that stay in their
// places and -1 for one that follows from the others.
Tensor shape_operand(const Tensor& x, Dims shape, bool& allow_zero, const Loc& loc) {
  const auto is_rest = [](const sardonyx::Dim& dim) { return dim == -1; };
  const auto is_symbolic = [](const sardonyx::Dim& dim) { return !dim.is_known(); };
  const auto is_zero = [](const sardonyx::Dim& dim) { return dim == 0; };
  const bool has_rest = std::ranges::any_of(shape, is_rest);
  const bool has_zero = std::ranges::any_of(shape, is_zero);
  if (std::ranges::count_if(shape, is_rest) > 1)
    fail_at(loc, "reshape to ", to_text(shape), ": expected at most one size of -1");
  const Dims from = x.shape(loc);
  if (has_rest && keeps_the_others(from, shape)) {
    // -1 is what the other axes leave, also beside a size of 0.
    sardonyx::Dim rest = 1;
    for (size_t i = 0; i < from.size(); ++i) {
      if (i >= shape.size() || is_rest(shape[i])) rest *= from[i];
    }
    if (rest.is_known()) {
      *std::ranges::find_if(shape, is_rest) = rest;
      return shape_operand(x, std::move(shape), allow_zero, loc);
    }
  }
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

size_t normalized_axis(int64_t axis, size_t rank, const char* what, const Loc& loc) {
  const auto size = static_cast<int64_t>(rank);
  if (axis < -size || axis >= size) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", what, ": expected an axis within [",
         -size, ", ", size, "), got ", axis);
  }
  return static_cast<size_t>(axis < 0 ? axis + size : axis);
}

Tensor reduced_by(const OpDef& op, const Tensor& x, const std::vector<int64_t>& axes, bool keepdim,
                  const Loc& loc) {
  const AttrMap attrs{{"keepdims", int64_t{keepdim}}};
  return axes.empty() ? apply(op, {x}, attrs, loc) : apply(op, {x, int64s(axes)}, attrs, loc);
}

Tensor Tensor::to(DType wanted, Loc loc) const {
  require_defined(*this, "to", "the tensor", loc);
  if (dtype() == wanted) return *this;
  static const OpDef& op = op_named("Cast");
  return apply(op, {*this}, {{"to", static_cast<int64_t>(wanted)}}, loc);
}

Tensor Tensor::reshape(const Dims& shape, Loc loc) const {
  static const OpDef& op = op_named("Reshape");
  bool allow_zero = false;
  require_defined(*this, "reshape", "the tensor", loc);
  const Tensor wanted = shape_operand(*this, shape, allow_zero, loc);
  if (!allow_zero) return apply(op, {*this, wanted}, loc);
  return apply(op, {*this, wanted}, {{"allowzero", int64_t{1}}}, loc);
}

Tensor Tensor::flatten(int64_t first, int64_t last, Loc loc) const {
  require_defined(*this, "flatten", "the tensor", loc);
  const Dims dims = shape(loc);
  if (dims.empty()) return reshape({1}, loc);
  const size_t from = normalized_axis(first, dims.size(), "flatten", loc);
  const size_t to = normalized_axis(last, dims.size(), "flatten", loc);
  if (from > to) {
    fail_at(loc, "flatten: expected a first axis that is not behind the last, got ", first, " and ",
            last, " for ", type());
  }
  Dims result(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(from));
  Dim joined = 1;
  for (size_t i = from; i <= to; ++i)
    joined *= dims[i];
  result.push_back(joined);
  result.insert(result.end(), dims.begin() + static_cast<ptrdiff_t>(to) + 1, dims.end());
  return reshape(result, loc);
}

Tensor Tensor::squeeze(const Axes& axes, Loc loc) const {
  static const OpDef& op = op_named("Squeeze");
  return axes.empty() ? apply(op, {*this}, loc) : apply(op, {*this, int64s(axes)}, loc);
}

Tensor Tensor::unsqueeze(int64_t axis, Loc loc) const {
  static const OpDef& op = op_named("Unsqueeze");
  return apply(op, {*this, int64s({axis})}, loc);
}

Tensor Tensor::permute(const Axes& axes, Loc loc) const {
  static const OpDef& op = op_named("Transpose");
  require_defined(*this, "permute", "the tensor", loc);
  std::vector<int64_t> positive;
  for (const int64_t axis : axes)
    positive.push_back(static_cast<int64_t>(normalized_axis(axis, rank(), "permute", loc)));
  return apply(op, {*this}, {{"perm", positive}}, loc);
}

Tensor Tensor::transpose(int64_t a, int64_t b, Loc loc) const {
  require_defined(*this, "transpose", "the tensor", loc);
  std::vector<int64_t> axes(rank());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[normalized_axis(a, rank(), "transpose", loc)],
            axes[normalized_axis(b, rank(), "transpose", loc)]);
  return permute(axes, loc);
}

Tensor Tensor::expand(const Dims& shape, Loc loc) const {
  static const OpDef& op = op_named("Expand");
  require_defined(*this, "expand", "the tensor", loc);
  Dims wanted = shape;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (!(wanted[i] == -1)) continue;
    if (i + rank() < wanted.size()) {
      fail_at(loc, "expand to ", to_text(shape), ": -1 keeps the size of an axis, and axis ", i,
              " is none of ", type());
    }
    wanted[i] = 1;  // what broadcasts
  }
  return apply(op, {*this, dims_tensor(wanted, loc)}, loc);
}

namespace {

// A range that goes backwards from before the first element has none, but Slice itself would begin
// at that element.
enum class BackwardBegin { kWithin, kBefore, kOpen };
BackwardBegin begin_of_backward(const Tensor& x, int64_t axis, const std::optional<Dim>& begin,
                                const Loc& loc) {
  if (!begin || is_nonnegative(*begin) || begin->try_value() == -1) return BackwardBegin::kWithin;
  const Dim size = x.size(axis, loc);
  if (!size.is_known() || !begin->is_known()) return BackwardBegin::kOpen;
  return begin->value() < -size.value() ? BackwardBegin::kBefore : BackwardBegin::kWithin;
}

// The range of the same elements in reversed order of the axis.
Slice reversed(const Slice& range) {
  const auto from_other_end = [](const std::optional<Dim>& bound) {
    return bound ? std::optional<Dim>(-1 - *bound) : std::nullopt;
  };
  return {from_other_end(range.begin), from_other_end(range.end), -range.step};
}

}  // namespace

Tensor Tensor::slice(int64_t axis, const Slice& range, Loc loc) const {
  static const OpDef& op = op_named("Slice");
  if (range.step == 0) fail(ErrorCode::kInvalidArgument, text_of(loc), ": slice: the step is 0");
  const bool forward = range.step > 0;
  if (!forward) {
    const BackwardBegin found = begin_of_backward(*this, axis, range.begin, loc);
    if (found == BackwardBegin::kBefore) return slice(axis, {0, 0}, loc);
    if (found == BackwardBegin::kOpen) return flip({axis}, loc).slice(axis, reversed(range), loc);
  }
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

Tensor Tensor::operator[](const At& at) const {
  return select(0, at.index, at.loc);
}

Tensor Tensor::sum(const Axes& axes, bool keepdim, Loc loc) const {
  static const OpDef& op = op_named("ReduceSum");
  require_defined(*this, "sum", "the tensor", loc);
  if (is_widened(dtype())) return to(DType::kInt64, loc).sum(axes, keepdim, loc);
  return reduced_by(op, *this, axes, keepdim, loc);
}
Tensor Tensor::mean(const Axes& axes, bool keepdim, Loc loc) const {
  static const OpDef& op = op_named("ReduceMean");
  require_defined(*this, "mean", "the tensor", loc);
  if (!is_floating(dtype())) {
    fail_at(loc, "mean: expected floating elements, got ", type(),
            "; convert them first: to(DType::kFloat)");
  }
  return reduced_by(op, *this, axes, keepdim, loc);
}

void require_elements(const OpDef& op, const Tensor& x, const Axes& axes, const Loc& loc) {
  require_defined(x, op.name, "the tensor", loc);
  const sardonyx::Type type = x.type();
  if (!type.shape) return;
  const auto rank = static_cast<int64_t>(type.rank());
  for (int64_t axis = 0; axis < rank; ++axis) {
    const bool is_reduced = axes.empty() || std::ranges::find(axes, axis) != axes.end() ||
                            std::ranges::find(axes, axis - rank) != axes.end();
    if (!is_reduced || size_reaches((*type.shape)[static_cast<size_t>(axis)], 1, loc)) continue;
    fail_at(loc, op.name, ": the tensor (", x.type(), ") has no elements along axis ", axis,
            " to choose from");
  }
}

Tensor Tensor::amax(const Axes& axes, bool keepdim, Loc loc) const {
  static const OpDef& op = op_named("ReduceMax");
  require_elements(op, *this, axes, loc);
  return reduced_by(op, *this, axes, keepdim, loc);
}
Tensor Tensor::amin(const Axes& axes, bool keepdim, Loc loc) const {
  static const OpDef& op = op_named("ReduceMin");
  require_elements(op, *this, axes, loc);
  return reduced_by(op, *this, axes, keepdim, loc);
}
Tensor Tensor::argmax(int64_t axis, bool keepdim, Loc loc) const {
  static const OpDef& op = op_named("ArgMax");
  require_elements(op, *this, {axis}, loc);
  return apply(op, {*this}, {{"axis", axis}, {"keepdims", int64_t{keepdim}}}, loc);
}

}  // namespace sardonyx::eager
