#include "eager/functional/running.h"

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/axes.h"
#include "eager/functional/functional.h"
#include "eager/trace/control_flow.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

using Tensors = std::vector<Tensor>;

std::pair<Tensor, Tensor> running_extreme(const Tensor& x, int64_t axis, bool is_max,
                                          const char* name, const Loc& loc) {
  require_defined(x, name, "x", loc);
  if (x.rank() == 0) return {x, zeros({}, {.dtype = DType::kInt64}, loc)};
  const auto at = static_cast<int64_t>(normalized_axis(axis, x.rank(), name, loc));
  const Dim size = x.size(at, loc);
  if (size.is_known() && size.value() == 0) return {x, x.detach().to(DType::kInt64, loc)};
  // Elements of other types are compared as one of two that hold them all.
  const DType wide = is_floating(x.dtype()) ? x.dtype() : DType::kInt64;
  const Tensor steps = movedim(x.detach().to(wide, loc), at, 0, loc);
  // The first element; 0, which is not read, where there is none.
  const Tensor first = steps.slice(0, {{}, Dim(1)}, loc).sum(0, false, loc);
  const auto body = [&](const Tensors& state, const Tensors& slices) -> ScanResult {
    const Tensor &best = state[0], &index = state[1], &place = state[2], &now = slices[0];
    Tensor takes = is_max ? Operand(now, loc) >= best : Operand(now, loc) <= best;
    if (is_floating(wide)) takes = Operand(takes, loc) || isnan(now, loc);
    const Tensor next = where(takes, {now, loc}, best);
    const Tensor next_index = where(takes, {place, loc}, index);
    return {.state = {next, next_index, add({place, loc}, 1)}, .outputs = {next_index}};
  };
  const Tensor none = full(first.shape(loc), 0, {.dtype = DType::kInt64}, loc);
  const Tensor begin = zeros({}, {.dtype = DType::kInt64}, loc);
  const Tensor found = scan(body, {first, none, begin}, {steps}, loc).outputs.at(0);
  const Tensor indices = movedim(found, 0, at, loc);
  return {gather(x, at, indices, loc), indices};
}

// Means of neighbours along the axis.
Tensor middles(const Tensor& y, int64_t axis, const Loc& loc) {
  const Tensor after = y.slice(axis, {Dim(1), {}}, loc), before = y.slice(axis, {{}, Dim(-1)}, loc);
  return mul({add({after, loc}, before), loc}, 0.5);
}
// Areas between neighbours; places x of one axis are along `axis`.
Tensor areas(const Tensor& y, const Tensor& x, int64_t axis, const Loc& loc) {
  require_defined(y, "trapezoid", "y", loc);
  require_defined(x, "trapezoid", "x", loc);
  const auto at = normalized_axis(axis, y.rank(), "trapezoid", loc);
  Tensor widths = diff(x, 1, x.rank() == 1 ? 0 : axis, loc);
  if (x.rank() == 1) {
    Dims shape(y.rank(), 1);
    shape[at] = -1;
    widths = widths.reshape(shape, loc);
  }
  return mul({middles(y, axis, loc), loc}, widths);
}

}  // namespace

std::pair<Tensor, Tensor> cummax(const Tensor& x, int64_t axis, Loc loc) {
  return running_extreme(x, axis, true, "cummax", loc);
}
std::pair<Tensor, Tensor> cummin(const Tensor& x, int64_t axis, Loc loc) {
  return running_extreme(x, axis, false, "cummin", loc);
}

Tensor logcumsumexp(const Tensor& x, int64_t axis, Loc loc) {
  require_defined(x, "logcumsumexp", "x", loc);
  if (!is_floating(x.dtype())) {
    fail_at(loc, "logcumsumexp: expected floating elements, got ", x.type(),
            "; convert with to(DType::kFloat)");
  }
  if (x.rank() == 0) return x;
  const auto at = static_cast<int64_t>(normalized_axis(axis, x.rank(), "logcumsumexp", loc));
  const Dim size = x.size(at, loc);
  if (size.is_known() && size.value() < 2) return x;
  const Tensor steps = movedim(x, at, 0, loc);
  const Tensor first = steps.slice(0, {{}, Dim(1)}, loc);
  const auto body = [&](const Tensors& state, const Tensors& slices) -> ScanResult {
    const Tensor next = logaddexp({state[0], loc}, slices[0]);
    return {.state = {next}, .outputs = {next}};
  };
  const Tensor start = first.sum(0, false, loc);  // of no elements: 0, which is not read
  const Tensor others = scan(body, {start}, {steps.slice(0, {Dim(1), {}}, loc)}, loc).outputs.at(0);
  return movedim(cat({first, others}, 0, loc), 0, at, loc);
}

Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t axis, Loc loc) {
  return areas(y, x, axis, loc).sum(axis, false, loc);
}
Tensor trapezoid(const Tensor& y, double dx, int64_t axis, Loc loc) {
  return mul({middles(y, axis, loc).sum(axis, false, loc), loc}, dx);
}
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t axis, Loc loc) {
  return cumsum(areas(y, x, axis, loc), axis, loc);
}
Tensor cumulative_trapezoid(const Tensor& y, double dx, int64_t axis, Loc loc) {
  return mul({cumsum(middles(y, axis, loc), axis, loc), loc}, dx);
}

}  // namespace sardonyx::eager
