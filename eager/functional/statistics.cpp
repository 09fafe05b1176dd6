#include "eager/functional/statistics.h"

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/trace/frame.h"
#include "ir/core/tensor.h"
#include "ir/type.h"

namespace sardonyx::eager {

Tensor cov(const Tensor& x, int64_t correction, Loc loc) {
  require_defined(x, "cov", "x", loc);
  if (x.rank() > 2) fail_at(loc, "cov: expected [n, samples] or [samples], got ", x.type());
  const Tensor rows = x.rank() == 2 ? x : x.reshape({1, -1}, loc);
  const Tensor values = is_floating(x.dtype()) ? rows : rows.to(DType::kFloat, loc);
  const Tensor centred = sub({values, loc}, values.mean(1, true, loc));
  const Dim freedoms(max(rows.size(1, loc) - Dim(correction), 0));
  const Tensor products = matmul(centred, centred.t(loc), loc);
  const Tensor found = div({products, loc}, dim_tensor(freedoms, loc).to(values.dtype(), loc));
  return x.rank() == 2 ? found : found.reshape({}, loc);
}
Tensor corrcoef(const Tensor& x, Loc loc) {
  const Tensor all = cov(x, 1, loc);
  if (all.rank() == 0) return div({all, loc}, all);
  const Tensor deviations = sqrt(diagonal(all, 0, 0, 1, loc), loc);
  const Tensor scaled = div({div({all, loc}, deviations.unsqueeze(1, loc)), loc}, deviations);
  return clamp(scaled, -1, 1, loc);
}

Tensor histc(const Tensor& x, int64_t bins, double low, double high, Loc loc) {
  require_defined(x, "histc", "x", loc);
  if (!is_floating(x.dtype())) {
    fail_at(loc, "histc: expected floating elements, got ", x.type(),
            "; convert with to(DType::kFloat)");
  }
  if (bins < 1 || low > high) {
    fail_at(loc, "histc: expected at least one bin and low <= high, got ", bins, " bins of [", low,
            ", ", high, ']');
  }
  const Tensor values = x.detach().reshape({-1}, loc).to(DType::kDouble, loc);
  Tensor from = literal(low, DType::kDouble), to = literal(high, DType::kDouble);
  if (low == high) {
    from = values.amin({}, false, loc);
    to = values.amax({}, false, loc);
    // All elements alike: within bins of [x - 1, x + 1].
    const Tensor is_point = Operand(from, loc) == to;
    from = where(is_point, {sub({from, loc}, 1), loc}, from);
    to = where(is_point, {add({to, loc}, 1), loc}, to);
  }
  const Tensor is_inside = (Operand(values, loc) >= from) && (Operand(values, loc) <= to);
  const Tensor inside = masked_select(values, is_inside, loc);
  const Tensor share = div({sub({inside, loc}, from), loc}, sub({to, loc}, from));
  const Tensor places = clamp(floor(mul({share, loc}, static_cast<double>(bins)), loc), {},
                              static_cast<double>(bins - 1), loc);
  return bincount(places.to(DType::kInt64, loc), {}, bins, loc).to(x.dtype(), loc);
}

UniqueResult unique_consecutive(const Tensor& x, Loc loc) {
  require_defined(x, "unique_consecutive", "x", loc);
  const Tensor flat = x.detach().reshape({-1}, loc);
  const Tensor differs =
      Operand(flat.slice(0, {Dim(1), {}}, loc), loc) != flat.slice(0, {{}, Dim(-1)}, loc);
  // The first element, where there is one, is new.
  const Tensor first = ones_like(flat.slice(0, {{}, Dim(1)}, loc), loc).to(DType::kBool, loc);
  const Tensor is_new = cat({first, differs}, 0, loc);
  const Tensor places = sub({cumsum(is_new, 0, loc), loc}, 1);
  return {masked_select(flat, is_new, loc), places.reshape(x.shape(loc), loc),
          bincount(places, {}, 0, loc)};
}

}  // namespace sardonyx::eager
