#include "eager/functional/reduce.h"

#include <cmath>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/axes.h"
#include "eager/functional/functional.h"
#include "eager/trace/frame.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

// How many elements there are other than 0 (or with `zeros`, how many zeros).
Tensor counted(const Tensor& x, bool zeros, const Axes& axes, bool keepdim, const Loc& loc) {
  const Tensor found = zeros ? Operand(x, loc) == 0 : Operand(x, loc) != 0;
  return found.to(DType::kInt64, loc).sum(axes, keepdim, loc);
}
// Comparisons of bools want bools on both sides.
Tensor number(const Tensor& x, const Loc& loc) {
  return x.dtype() == DType::kBool ? x.to(DType::kInt32, loc) : x;
}

Tensor position(const OpDef& op, const Tensor& x, std::optional<int64_t> axis, bool keepdim,
                const Loc& loc) {
  require_elements(op, x, axis ? Axes{*axis} : Axes{}, loc);
  if (axis)
    return apply(op, {number(x, loc)}, {{"axis", *axis}, {"keepdims", int64_t{keepdim}}}, loc);
  const Tensor found = apply(op, {number(x, loc).reshape({-1}, loc)},
                             {{"axis", int64_t{0}}, {"keepdims", int64_t{0}}}, loc);
  return keepdim ? found.reshape(Dims(x.rank(), 1), loc) : found;
}

// The element at the index that `op` finds along an axis.
std::pair<Tensor, Tensor> extreme(const OpDef& op, const Tensor& x, int64_t axis, bool keepdim,
                                  const Loc& loc) {
  const Tensor at = position(op, x.detach(), axis, true, loc);
  const Tensor values = gather(x, axis, at, loc);
  if (keepdim) return {values, at};
  return {values.squeeze({axis}, loc), at.squeeze({axis}, loc)};
}

// Powers have no gradient at 0 where they are below 1, so they are taken of ones there.
Tensor power_of_size(const Tensor& sizes, double p, const Loc& loc) {
  const Tensor is_zero = Operand(sizes, loc) == 0;
  const Tensor safe = where(is_zero, {1, loc}, sizes);
  return where(is_zero, {p > 0 ? 0 : INFINITY, loc}, pow({safe, loc}, p));
}

}  // namespace

Tensor any(const Tensor& x, const Axes& axes, bool keepdim, Loc loc) {
  require_defined(x, "any", "x", loc);
  return Operand(counted(number(x, loc), false, axes, keepdim, loc), loc) > 0;
}
Tensor all(const Tensor& x, const Axes& axes, bool keepdim, Loc loc) {
  require_defined(x, "all", "x", loc);
  return Operand(counted(number(x, loc), true, axes, keepdim, loc), loc) == 0;
}
Tensor count_nonzero(const Tensor& x, const Axes& axes, Loc loc) {
  require_defined(x, "count_nonzero", "x", loc);
  return counted(number(x, loc), false, axes, false, loc);
}
Tensor prod(const Tensor& x, const Axes& axes, bool keepdim, Loc loc) {
  require_defined(x, "prod", "x", loc);
  static const OpDef& op = op_named("ReduceProd");
  return reduced_by(op, is_floating(x.dtype()) ? x : x.to(DType::kInt64, loc), axes, keepdim, loc);
}
Tensor nansum(const Tensor& x, const Axes& axes, bool keepdim, Loc loc) {
  require_defined(x, "nansum", "x", loc);
  if (!is_floating(x.dtype())) return x.sum(axes, keepdim, loc);
  return where(isnan(x, loc), {0, loc}, x).sum(axes, keepdim, loc);
}
Tensor nanmean(const Tensor& x, const Axes& axes, bool keepdim, Loc loc) {
  require_defined(x, "nanmean", "x", loc);
  if (!is_floating(x.dtype())) return x.mean(axes, keepdim, loc);
  const Tensor counts = (!isnan(x, loc)).to(x.dtype(), loc).sum(axes, keepdim, loc);
  return div({nansum(x, axes, keepdim, loc), loc}, counts);
}

// Of equal elements the gradient is 0, as in torch, though the root's is infinite.
Tensor std(const Tensor& x, const Axes& axes, bool keepdim, int64_t correction, Loc loc) {
  const Tensor variance = var(x, axes, keepdim, correction, loc);
  if (!is_grad_enabled() || !x.requires_grad()) return sqrt(variance, loc);
  const Tensor is_zero = Operand(variance, loc) == 0;
  const Tensor safe = where(is_zero, {1, loc}, variance);
  return where(is_zero, {0, loc}, sqrt(safe, loc));
}
std::pair<Tensor, Tensor> var_mean(const Tensor& x, const Axes& axes, bool keepdim,
                                   int64_t correction, Loc loc) {
  return {var(x, axes, keepdim, correction, loc), x.mean(axes, keepdim, loc)};
}
std::pair<Tensor, Tensor> std_mean(const Tensor& x, const Axes& axes, bool keepdim,
                                   int64_t correction, Loc loc) {
  return {std(x, axes, keepdim, correction, loc), x.mean(axes, keepdim, loc)};
}

Tensor norm(const Tensor& x, double p, const Axes& axes, bool keepdim, Loc loc) {
  static const OpDef& l1 = op_named("ReduceL1");
  static const OpDef& l2 = op_named("ReduceL2");
  require_defined(x, "norm", "x", loc);
  if (!is_floating(x.dtype())) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": norm: expected floating elements, got ",
         x.type(), "; convert with to(DType::kFloat)");
  }
  if (p == 1) return reduced_by(l1, x, axes, keepdim, loc);
  if (p == 2) return reduced_by(l2, x, axes, keepdim, loc);
  if (p == 0) return counted(x, false, axes, keepdim, loc).to(x.dtype(), loc);
  const Tensor sizes = abs(x, loc);
  if (std::isinf(p)) return p > 0 ? sizes.amax(axes, keepdim, loc) : sizes.amin(axes, keepdim, loc);
  if (!is_grad_enabled() || !x.requires_grad())
    return pow({pow({sizes, loc}, p).sum(axes, keepdim, loc), loc}, 1 / p);
  const Tensor powers = power_of_size(sizes, p, loc).sum(axes, keepdim, loc);
  return power_of_size(powers, 1 / p, loc);
}
Tensor dist(const Tensor& a, const Tensor& b, double p, Loc loc) {
  return norm(sub({a, loc}, b), p, {}, false, loc);
}

Tensor max(const Tensor& x, Loc loc) {
  return x.amax({}, false, loc);
}
Tensor min(const Tensor& x, Loc loc) {
  return x.amin({}, false, loc);
}
std::pair<Tensor, Tensor> max(const Tensor& x, int64_t axis, bool keepdim, Loc loc) {
  require_defined(x, "max", "x", loc);
  static const OpDef& op = op_named("ArgMax");
  return extreme(op, x, axis, keepdim, loc);
}
std::pair<Tensor, Tensor> min(const Tensor& x, int64_t axis, bool keepdim, Loc loc) {
  require_defined(x, "min", "x", loc);
  static const OpDef& op = op_named("ArgMin");
  return extreme(op, x, axis, keepdim, loc);
}
Tensor max(const Tensor& a, const Tensor& b, Loc loc) {
  return maximum({a, loc}, {b, loc});
}
Tensor min(const Tensor& a, const Tensor& b, Loc loc) {
  return minimum({a, loc}, {b, loc});
}
std::pair<Tensor, Tensor> aminmax(const Tensor& x, Loc loc) {
  return {min(x, loc), max(x, loc)};
}
Tensor argmax(const Tensor& x, std::optional<int64_t> axis, bool keepdim, Loc loc) {
  require_defined(x, "argmax", "x", loc);
  static const OpDef& op = op_named("ArgMax");
  return position(op, x, axis, keepdim, loc);
}
Tensor argmin(const Tensor& x, std::optional<int64_t> axis, bool keepdim, Loc loc) {
  require_defined(x, "argmin", "x", loc);
  static const OpDef& op = op_named("ArgMin");
  return position(op, x, axis, keepdim, loc);
}

}  // namespace sardonyx::eager
