// Gradients of CumSum and CumProd.
#include "ir/ops/reduction/cumulative_gradient.h"

#include <numeric>

#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/reduction/reduce.h"

namespace sardonyx::ops {
namespace {

AttrMap attributes(bool exclusive, bool reverse) {
  return {{"exclusive", int64_t{exclusive}}, {"reverse", int64_t{reverse}}};
}

// Each element's place along `axis`.
Term places_along(const Term& x, const Term& axis) {
  Emitter& e = *x.e;
  const Term ones{&e, e.call("Expand", {e.scalar(DType::kInt64, 1), sardonyx::shape_of(e, x)})};
  return apply("CumSum", ones, axis, attributes(true, false));
}

// 0, 1 ... up to the size of x along `axis`, as the first dim of a tensor of one dim more than x.
Term numbers_along(const Term& x, const Term& axis, size_t rank) {
  Emitter& e = *x.e;
  const Term size = apply("Gather", Term{&e, sardonyx::shape_of(e, x)}, axis);
  const Val zero = e.scalar(DType::kInt64, 0), one = e.scalar(DType::kInt64, 1);
  std::vector<int64_t> others(rank);
  std::iota(others.begin(), others.end(), int64_t{1});
  return {&e, e.call("Unsqueeze", {e.call("Range", {zero, size, one}), e.int64s(others)})};
}

}  // namespace

Vals cumulative_sum_gradient(Emitter& e, const GradCall& c) {
  const auto& attrs = c.attrs<CumulativeAttrs>();
  return {
      e.call("CumSum", {c.d_outputs[0], c.inputs[1]}, attributes(attrs.exclusive, !attrs.reverse))};
}

// Element k is a factor of the results i from k on. Its gradient is
//   (the product of those before k) * (the sum over i of d_i * the product of those from k+1 to i),
// where all factors stay what they are, so that zeros among them do no harm in any order. One k
// after the other stands in a new first dim: that takes the axis' size times x in memory.
Vals cumulative_product_gradient(Emitter& e, const GradCall& c) {
  const auto& attrs = c.attrs<CumulativeAttrs>();
  const Term x = input(e, c, 0);
  if (!e.type(x).has_rank()) {
    fail(ErrorCode::kUnsupported, "the rank of x must be known to differentiate the product");
  }
  const Term axis = cast(apply("Reshape", input(e, c, 1), int64s(e, {})), DType::kInt64);
  const Term inner_axis = where(axis < 0, axis, axis + 1);
  const Term i = places_along(x, axis), k = numbers_along(x, axis, e.type(x).rank());
  const Term follows = attrs.reverse ? i < k : i > k;
  const Term counts = attrs.exclusive ? follows : attrs.reverse ? i <= k : i >= k;
  const Term products = apply("CumProd", where(follows, x, 1), inner_axis,
                              attributes(attrs.exclusive, attrs.reverse));
  const Term parts = where(counts, products, 0) * d_output(e, c, 0);
  const Term sums = apply("ReduceSum", parts, apply("Unsqueeze", inner_axis, int64s(e, {0})));
  const Term own{&e, e.call("ReduceSum", {where(equal(i, k), sums, 0), e.int64s({0})},
                            {{"keepdims", int64_t{0}}})};
  return {apply("CumProd", x, input(e, c, 1), attributes(true, attrs.reverse)) * own};
}

}  // namespace sardonyx::ops
