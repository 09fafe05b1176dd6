// Gradients of the reductions.
#include "ir/ops/reduction/reduce_gradient.h"

#include <algorithm>
#include <limits>

#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/reduction/reduce.h"

namespace sardonyx::ops {
namespace {

// `reduced`, of the output's shape, with its reduced dims back as 1: it broadcasts with the input.
Term spread(const GradCall& c, const Term& reduced) {
  if (c.attrs<ReduceAttrs>().keepdims || !c.has(1)) return reduced;
  return apply("Unsqueeze", reduced, Term{reduced.e, c.inputs[1]});
}

Term spread_d(Emitter& e, const GradCall& c) {
  return spread(c, d_output(e, c, 0));
}

// Which dims go, where rank and axes are known.
std::optional<ReducedDims> reduced_dims_of(const Emitter& e, const GradCall& c) {
  const Type type = e.type(c.inputs[0]);
  if (!type.has_rank()) return std::nullopt;
  std::vector<int64_t> axes;
  if (c.has(1)) {
    const std::optional<Dims> given = e.dims_value(c.inputs[1]);
    const std::optional<Shape> known = given ? known_shape(*given) : std::nullopt;
    if (!known) return std::nullopt;
    axes = *known;
  }
  return reduced_dims(c.attrs<ReduceAttrs>(), axes, type.rank());
}

// 1 / the number of elements that each element of the output reduces, as x's type.
Term inverse_count(Emitter& e, const GradCall& c) {
  const Term x = input(e, c, 0), y = output(e, c, 0);
  if (const auto gone = reduced_dims_of(e, c)) {
    const Dims dims = *e.type(x).shape;
    Dim count = 1;
    for (size_t i = 0; i < dims.size(); ++i)
      if ((*gone)[i]) count *= dims[i];
    if (count.is_known()) return x.number(1.0 / static_cast<double>(count.value()));
  }
  const DType wide = x.dtype() == DType::kDouble ? DType::kDouble : DType::kFloat;
  return cast(cast(apply("Size", y), wide) / cast(apply("Size", x), wide), x.dtype());
}

// The product of all elements but one's own, along one axis: those before it and those after it.
// Right where elements are 0, in every order.
Term product_of_others(const Term& x, int64_t axis) {
  const Term at{x.e, x.e->constant(Tensor::scalar(axis))};
  const Term before = apply("CumProd", x, at, {{"exclusive", int64_t{1}}});
  return before * apply("CumProd", x, at, {{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}});
}

// The product of the other elements over several axes: they are moved to the end and made one.
Term product_of_others(const Term& x, const ReducedDims& gone) {
  const auto reduced = std::ranges::count(gone, true);
  if (reduced == 0) return x.number(1);
  if (reduced == 1) return product_of_others(x, std::ranges::find(gone, true) - gone.begin());
  Emitter& e = *x.e;
  std::vector<int64_t> order, back(gone.size());
  for (const bool part : {false, true}) {
    for (size_t i = 0; i < gone.size(); ++i)
      if (gone[i] == part) order.push_back(static_cast<int64_t>(i));
  }
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  const Term moved = apply("Transpose", x, {{"perm", order}});
  const Term shape{&e, sardonyx::shape_of(e, moved)};
  const auto kept = static_cast<int64_t>(gone.size()) - reduced;
  const auto part = [&](int64_t begin, int64_t end) {
    return Term{&e, e.call("Slice", {shape, e.int64s({begin}), e.int64s({end})})};
  };
  const Term count = apply("ReduceProd", part(kept, static_cast<int64_t>(gone.size())));
  const Term flat_shape = apply("Concat", part(0, kept), count, {{"axis", int64_t{0}}});
  const AttrMap exact{{"allowzero", int64_t{1}}};
  const Term others = product_of_others(apply("Reshape", moved, flat_shape, exact), kept);
  return apply("Transpose", apply("Reshape", others, shape, exact), {{"perm", back}});
}

}  // namespace

Vals reduce_sum_gradient(Emitter& e, const GradCall& c) {
  return {e.call("Expand", {spread_d(e, c), sardonyx::shape_of(e, c.inputs[0])})};
}

Vals reduce_mean_gradient(Emitter& e, const GradCall& c) {
  const Term part = spread_d(e, c) * inverse_count(e, c);
  return {e.call("Expand", {part, sardonyx::shape_of(e, c.inputs[0])})};
}

// Elements that share the extreme share its gradient.
Vals reduce_extreme_gradient(Emitter& e, const GradCall& c) {
  const Term x = input(e, c, 0);
  const Term extreme = equal(x, spread(c, output(e, c, 0)));
  Vals counted{cast(extreme, x.dtype())};
  if (c.has(1)) counted.push_back(c.inputs[1]);
  const AttrMap attrs{
      {"keepdims", int64_t{c.attrs<ReduceAttrs>().keepdims}},
      {"noop_with_empty_axes", int64_t{c.attrs<ReduceAttrs>().noop_with_empty_axes}}};
  const Term count{&e, e.call_many("ReduceSum", counted, attrs, 1)[0]};
  return {where(extreme, spread(c, d_output(e, c, 0) / count), 0)};
}

Vals reduce_prod_gradient(Emitter& e, const GradCall& c) {
  const auto gone = reduced_dims_of(e, c);
  if (!gone) {
    fail(ErrorCode::kUnsupported,
         "the rank of data and the value of axes must be known to differentiate the product");
  }
  return {spread_d(e, c) * product_of_others(input(e, c, 0), *gone)};
}

Vals reduce_l1_gradient(Emitter& e, const GradCall& c) {
  return {spread_d(e, c) * apply("Sign", input(e, c, 0))};
}

// x / y, and 0 where all elements are.
Vals reduce_l2_gradient(Emitter& e, const GradCall& c) {
  const Term y = output(e, c, 0);
  return {input(e, c, 0) * spread(c, d_output(e, c, 0) / where(equal(y, 0), 1, y))};
}

Vals reduce_log_sum_gradient(Emitter& e, const GradCall& c) {
  const Term part = spread(c, d_output(e, c, 0) / apply("Exp", output(e, c, 0)));
  return {e.call("Expand", {part, sardonyx::shape_of(e, c.inputs[0])})};
}

// Where all elements are -infinity, so is y, and none of them matters.
Vals reduce_log_sum_exp_gradient(Emitter& e, const GradCall& c) {
  const Term y = output(e, c, 0);
  const Term finite = where(equal(y, -std::numeric_limits<double>::infinity()), 0, y);
  return {spread_d(e, c) * apply("Exp", input(e, c, 0) - spread(c, finite))};
}

Vals reduce_sum_square_gradient(Emitter& e, const GradCall& c) {
  return {input(e, c, 0) * spread(c, d_output(e, c, 0) * 2)};
}

}  // namespace sardonyx::ops
