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

namespace {

Tensor floating_samples(const Tensor& x, const Loc& loc) {
  require_defined(x, "histogram", "x", loc);
  if (is_floating(x.dtype())) return x.detach().reshape({-1}, loc);
  fail_at(loc, "histogram: expected floating elements, got ", x.type(),
          "; convert with to(DType::kFloat)");
}

Histogram counted_by_edges(const Tensor& samples, const Tensor& edges,
                           const HistogramOptions& options, const Loc& loc) {
  const int64_t bins = edges.size(0, loc).value() - 1;
  const Tensor first = edges.select(0, 0, loc), last = edges.select(0, -1, loc);
  const Tensor is_inside = (Operand(samples, loc) >= first) && (Operand(samples, loc) <= last);
  const Tensor inside = masked_select(samples, is_inside, loc);
  // Elements that equal the last edge belong to the last bin.
  const Tensor places =
      clamp(sub({bucketize(inside, edges, true, loc), loc}, 1), {}, bins - 1, loc);
  Tensor weights;
  if (options.weight.defined()) {
    const Tensor all = options.weight.detach().reshape({-1}, loc).to(samples.dtype(), loc);
    if (!(all.size(0, loc) == samples.size(0, loc)))
      fail_at(loc, "histogram: weight: expected one for each of ", samples.size(0, loc),
              " elements, got ", options.weight.type());
    weights = masked_select(all, is_inside, loc);
  }
  Tensor counts = bincount(places, weights, bins, loc).to(samples.dtype(), loc);
  if (options.density) {
    const Tensor widths = diff(edges, 1, 0, loc);
    counts = div({div({counts, loc}, counts.sum({}, false, loc)), loc}, widths);
  }
  return {counts, edges};
}

}  // namespace

Histogram histogram(const Tensor& x, int64_t bins, const HistogramOptions& options, Loc loc) {
  const Tensor samples = floating_samples(x, loc);
  if (bins < 1) fail_at(loc, "histogram: expected at least one bin, got ", bins);
  const bool is_empty = samples.numel(loc).is_known() && samples.numel(loc).value() == 0;
  Tensor low = literal(0.0, DType::kDouble), high = literal(1.0, DType::kDouble);  // of none
  if (options.range) {
    if (!(options.range->first <= options.range->second))
      fail_at(loc, "histogram: range: expected low <= high, got ", options.range->first, " and ",
              options.range->second);
    low = literal(options.range->first, DType::kDouble);
    high = literal(options.range->second, DType::kDouble);
  } else if (!is_empty) {
    low = samples.amin({}, false, loc).to(DType::kDouble, loc);
    high = samples.amax({}, false, loc).to(DType::kDouble, loc);
  }
  const Tensor is_point = Operand(low, loc) == high;
  const Tensor from = where(is_point, {sub({low, loc}, 0.5), loc}, low);
  const Tensor to = where(is_point, {add({high, loc}, 0.5), loc}, high);
  const Tensor steps = arange(bins + 1, {.dtype = DType::kDouble}, loc);
  const Tensor shares = div({steps, loc}, static_cast<double>(bins));
  // Both ends are met exactly.
  const Tensor edges = add({mul({sub({1, loc}, shares), loc}, from), loc}, mul({shares, loc}, to));
  return counted_by_edges(samples, edges.to(samples.dtype(), loc), options, loc);
}
Histogram histogram(const Tensor& x, const Tensor& edges, const HistogramOptions& options,
                    Loc loc) {
  const Tensor samples = floating_samples(x, loc);
  require_defined(edges, "histogram", "edges", loc);
  if (edges.rank() != 1 || !is_floating(edges.dtype()) || edges.size(0, loc).value() < 2)
    fail_at(loc, "histogram: expected edges [2 or more] of floating elements, got ", edges.type());
  if (options.range) fail_at(loc, "histogram: range: expected none beside edges at hand");
  return counted_by_edges(samples, edges.detach().to(samples.dtype(), loc), options, loc);
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
