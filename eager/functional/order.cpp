#include "eager/functional/order.h"

#include <cmath>

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/functional/reduce.h"
#include "eager/trace/frame.h"
#include "ir/core/tensor.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

// What is asked of one axis, of all elements in a row where none is given.
struct Line {
  Tensor x;
  int64_t axis;
};
Line line_of(const Tensor& x, std::optional<int64_t> axis, const Loc& loc) {
  return axis ? Line{x, *axis} : Line{x.reshape({-1}, loc), 0};
}

// NaN where the line has one, else `found`, whose axis has one element.
Tensor nan_where_any(const Tensor& found, const Line& line, const Loc& loc) {
  const Tensor has_nan = any(isnan(line.x.detach(), loc), {line.axis}, true, loc);
  return where(has_nan, {NAN, loc}, found);
}

std::pair<Tensor, Tensor> without(const std::pair<Tensor, Tensor>& found, int64_t axis,
                                  bool keepdim, const Loc& loc) {
  if (keepdim) return found;
  return {found.first.squeeze({axis}, loc), found.second.squeeze({axis}, loc)};
}

void check_share(double q, const Loc& loc) {
  if (q >= 0 && q <= 1) return;
  fail(ErrorCode::kInvalidArgument, text_of(loc), ": quantile: expected q within [0, 1], got ", q);
}

void check_counted(const Tensor& x, const Tensor& weights, const Loc& loc) {
  require_defined(x, "bincount", "x", loc);
  if (x.rank() != 1 || is_floating(x.dtype()) || x.dtype() == DType::kBool) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": bincount: expected integers [n], got ",
         x.type());
  }
  if (weights.defined() && weights.rank() != 1) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": bincount: expected weights [n], got ",
         weights.type());
  }
  if (x.is_symbolic()) return;
  for (const double element : x.data().to_doubles()) {
    if (element >= 0) continue;
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": bincount: expected elements of at least 0, got ", element);
  }
}

}  // namespace

std::pair<Tensor, Tensor> sort(const Tensor& x, int64_t axis, bool descending, Loc loc) {
  require_defined(x, "sort", "x", loc);
  if (x.rank() == 0) return {x, zeros({}, {.dtype = DType::kInt64}, loc)};
  static const OpDef& op = op_named("TopK");
  if (x.dtype() == DType::kBool) {
    const auto [values, indices] = sort(x.to(DType::kUInt8, loc), axis, descending, loc);
    return {values.to(DType::kBool, loc), indices};
  }
  const Tensor inputs[] = {x, dims_tensor({x.size(axis, loc)}, loc)};
  const std::vector<Tensor> found =
      apply_many(op, inputs, {{"axis", axis}, {"largest", int64_t{descending}}}, 2, loc);
  return {found[0], found[1]};
}
Tensor argsort(const Tensor& x, int64_t axis, bool descending, Loc loc) {
  require_defined(x, "argsort", "x", loc);
  return sort(x.detach(), axis, descending, loc).second;
}
std::pair<Tensor, Tensor> kthvalue(const Tensor& x, int64_t k, int64_t axis, bool keepdim,
                                   Loc loc) {
  if (k < 1) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": kthvalue: expected k of at least 1, got ",
         k);
  }
  const auto [values, indices] = topk(x, k, axis, false, loc);
  const Slice last{Dim(k - 1), Dim(k)};
  return without({values.slice(axis, last, loc), indices.slice(axis, last, loc)}, axis, keepdim,
                 loc);
}

namespace {

// How many elements along an axis are no NaN: int64, the axis kept.
Tensor numbers_along(const Tensor& x, int64_t axis, const Loc& loc) {
  return (!isnan(x.detach(), loc)).to(DType::kInt64, loc).sum({axis}, true, loc);
}

void require_elements(const Tensor& x, int64_t axis, const char* function, const Loc& loc) {
  const Dim size = x.size(axis, loc);
  if (size.is_known() && size.value() == 0)
    fail_at(loc, function, ": expected elements along axis ", axis, ", got ", x.type());
}

// The median of all elements of a tensor without any is NaN, as their mean is.
bool has_no_numbers(const Tensor& x, const Loc& loc) {
  const Dim count = x.numel(loc);
  return is_floating(x.dtype()) && count.is_known() && count.value() == 0;
}

}  // namespace

Tensor median(const Tensor& x, Loc loc) {
  require_defined(x, "median", "x", loc);
  if (has_no_numbers(x, loc)) return full({}, NAN, {.dtype = x.dtype()}, loc);
  return median(x.reshape({-1}, loc), 0, false, loc).first;
}
// Sorted, NaNs are last: the first of them, where there are some, as in torch.
std::pair<Tensor, Tensor> median(const Tensor& x, int64_t axis, bool keepdim, Loc loc) {
  require_defined(x, "median", "x", loc);
  if (x.rank() == 0) return sort(x, axis, false, loc);
  require_elements(x, axis, "median", loc);
  const auto [values, indices] = sort(x, axis, false, loc);
  if (is_floating(x.dtype())) {
    const Tensor size = dim_tensor(x.size(axis, loc), loc);
    const Tensor middle = dim_tensor(floor_div(x.size(axis, loc) - 1, 2), loc);
    const Tensor numbers = numbers_along(x, axis, loc);
    const Tensor at = where(Operand(numbers, loc) < size, {numbers, loc}, middle);
    return without({gather(values, axis, at, loc), gather(indices, axis, at, loc)}, axis, keepdim,
                   loc);
  }
  const Dim middle = floor_div(x.size(axis, loc) - 1, 2);
  const Slice at{middle, middle + 1};
  return without({values.slice(axis, at, loc), indices.slice(axis, at, loc)}, axis, keepdim, loc);
}
Tensor nanmedian(const Tensor& x, Loc loc) {
  require_defined(x, "nanmedian", "x", loc);
  if (has_no_numbers(x, loc)) return full({}, NAN, {.dtype = x.dtype()}, loc);
  return nanmedian(x.reshape({-1}, loc), 0, false, loc).first;
}
std::pair<Tensor, Tensor> nanmedian(const Tensor& x, int64_t axis, bool keepdim, Loc loc) {
  require_defined(x, "nanmedian", "x", loc);
  if (!is_floating(x.dtype()) || x.rank() == 0) return median(x, axis, keepdim, loc);
  require_elements(x, axis, "nanmedian", loc);
  const auto [values, indices] = sort(x, axis, false, loc);
  // Of no numbers the first NaN.
  const Tensor last = maximum({sub({numbers_along(x, axis, loc), loc}, 1), loc}, 0);
  const Tensor at = floor_divide({last, loc}, 2);
  return without({gather(values, axis, at, loc), gather(indices, axis, at, loc)}, axis, keepdim,
                 loc);
}
// Sorted, equal elements are neighbours: runs are counted, and the first longest one ends where its
// length says.
std::pair<Tensor, Tensor> mode(const Tensor& x, int64_t axis, bool keepdim, Loc loc) {
  require_defined(x, "mode", "x", loc);
  if (x.rank() == 0) return sort(x, axis, false, loc);
  require_elements(x, axis, "mode", loc);
  const auto [values, indices] = sort(x.detach(), axis, false, loc);
  const Tensor next = values.slice(axis, {Dim(1), {}}, loc);
  const Tensor before = values.slice(axis, {{}, Dim(-1)}, loc);
  const Tensor begins = (Operand(next, loc) != before).to(DType::kInt64, loc);
  const Tensor none = zeros_like(indices, loc);
  const Tensor first = none.slice(axis, {{}, Dim(1)}, loc);
  const Tensor run = cumsum(cat({first, begins}, axis, loc), axis, loc);
  const Tensor lengths = scatter(none, axis, run, ones_like(indices, loc), "add", loc);
  const Tensor length = gather(lengths, axis, run, loc);
  const Tensor begin = argmax(length, axis, true, loc);
  const Tensor end = sub({add({begin, loc}, gather(length, axis, begin, loc)), loc}, 1);
  const Tensor place = gather(indices, axis, end, loc);
  return without({gather(x, axis, place, loc), place}, axis, keepdim, loc);
}
Tensor quantile(const Tensor& x, double q, std::optional<int64_t> axis, bool keepdim, Loc loc) {
  require_defined(x, "quantile", "x", loc);
  check_share(q, loc);
  const Line line = line_of(x, axis, loc);
  const Tensor values = sort(line.x, line.axis, false, loc).first;
  const Tensor last = dim_tensor(line.x.size(line.axis, loc) - 1, loc).to(x.dtype(), loc);
  const Tensor place = mul({last, loc}, q);
  const Tensor below = floor(place, loc);
  const auto element = [&](const Tensor& at) {
    return index_select(values, line.axis, at.to(DType::kInt64, loc).reshape({1}, loc), loc);
  };
  const Tensor low = element(below), high = element(ceil(place, loc));
  const Tensor share = sub({place, loc}, below);
  const Tensor of_numbers = add({low, loc}, mul(sub({high, loc}, low), share));
  const Tensor found = is_floating(x.dtype()) ? nan_where_any(of_numbers, line, loc) : of_numbers;
  if (keepdim) return axis ? found : found.reshape(Dims(x.rank(), 1), loc);
  return found.squeeze({line.axis}, loc);
}

Tensor nanquantile(const Tensor& x, double q, std::optional<int64_t> axis, bool keepdim, Loc loc) {
  require_defined(x, "nanquantile", "x", loc);
  if (!is_floating(x.dtype())) return quantile(x, q, axis, keepdim, loc);
  check_share(q, loc);
  const Line line = line_of(x, axis, loc);
  if (line.x.rank() == 0) return x;
  require_elements(line.x, line.axis, "nanquantile", loc);
  // Sorted, NaNs are last.
  const Tensor values = sort(line.x, line.axis, false, loc).first;
  const Tensor last =
      maximum({sub({numbers_along(line.x.detach(), line.axis, loc), loc}, 1), loc}, 0);
  const Tensor place = mul({last.to(DType::kDouble, loc), loc}, q);
  const auto element = [&](const Tensor& at) {
    return gather(values, line.axis, at.to(DType::kInt64, loc), loc);
  };
  const Tensor low = element(floor(place, loc)), high = element(ceil(place, loc));
  const Tensor share = sub({place, loc}, floor(place, loc)).to(x.dtype(), loc);
  const Tensor found = add({low, loc}, mul(sub({high, loc}, low), share));
  if (keepdim) return axis ? found : found.reshape(Dims(x.rank(), 1), loc);
  return found.squeeze({line.axis}, loc);
}

Tensor diff(const Tensor& x, int64_t times, int64_t axis, Loc loc) {
  require_defined(x, "diff", "x", loc);
  if (times < 0) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": diff: expected at least 0 times, got ",
         times);
  }
  Tensor found = x;
  for (int64_t i = 0; i < times; ++i) {
    const Tensor next = found.slice(axis, {Dim(1), {}}, loc),
                 at = found.slice(axis, {{}, Dim(-1)}, loc);
    found = x.dtype() == DType::kBool ? Operand(next, loc) != at : sub({next, loc}, at);
  }
  return found;
}
Tensor cumprod(const Tensor& x, int64_t axis, Loc loc) {
  require_defined(x, "cumprod", "x", loc);
  static const OpDef& op = op_named("CumProd");
  const Tensor value = is_floating(x.dtype()) ? x : x.to(DType::kInt64, loc);
  return apply(op, {value, literal(sardonyx::Tensor::scalar(axis))}, loc);
}

Tensor nonzero(const Tensor& x, Loc loc) {
  require_defined(x, "nonzero", "x", loc);
  static const OpDef& op = op_named("NonZero");
  return apply(op, {x.detach()}, loc).transpose(0, 1, loc);
}
Tensor bincount(const Tensor& x, const Tensor& weights, int64_t minlength, Loc loc) {
  check_counted(x, weights, loc);
  if (minlength < 0) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": bincount: expected minlength of at least 0, got ", minlength);
  }
  static const OpDef& expand = op_named("Expand");
  const Tensor places = x.to(DType::kInt64, loc);
  // One more element, -1, makes the greatest of no elements -1.
  const Tensor padded = cat({places, int64s({-1})}, 0, loc);
  const Tensor length =
      maximum({add({padded.amax({0}, true, loc), loc}, 1), loc}, int64s({minlength}));
  const Tensor amounts = weights.defined() ? weights : ones_like(places, loc);
  const Tensor none = apply(expand, {literal(0, amounts.dtype()), length}, loc);
  return scatter(none, 0, places, amounts, "add", loc);
}
UniqueResult unique(const Tensor& x, std::optional<int64_t> axis, Loc loc) {
  require_defined(x, "unique", "x", loc);
  static const OpDef& op = op_named("Unique");
  AttrMap attrs{{"sorted", int64_t{1}}};
  if (axis) attrs["axis"] = *axis;
  const Tensor inputs[] = {x};
  const std::vector<Tensor> found = apply_many(op, inputs, attrs, 4, loc);
  return {found[0], axis ? found[2] : found[2].reshape(x.shape(loc), loc), found[3]};
}
Tensor bucketize(const Tensor& x, const Tensor& boundaries, bool right, Loc loc) {
  require_defined(x, "bucketize", "x", loc);
  require_defined(boundaries, "bucketize", "the boundaries", loc);
  if (boundaries.rank() != 1) {
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": bucketize: expected boundaries [n], got ",
         boundaries.type());
  }
  const Tensor each = x.detach().unsqueeze(-1, loc);
  const Tensor is_below =
      right ? Operand(boundaries, loc) <= each : Operand(boundaries, loc) < each;
  return is_below.sum({-1}, false, loc);
}
Tensor isin(const Tensor& x, const Tensor& elements, Loc loc) {
  require_defined(x, "isin", "x", loc);
  require_defined(elements, "isin", "the elements", loc);
  const Tensor each = x.detach().unsqueeze(-1, loc);
  return any(Operand(each, loc) == elements.reshape({-1}, loc), {-1}, false, loc);
}

}  // namespace sardonyx::eager
