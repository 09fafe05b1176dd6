#include "ir/ops/data_movement/image_gradient.h"

#include "ir/autodiff/autodiff_body.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/data_movement/space_depth.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/shape_arithmetic.h"

namespace sardonyx::ops {

namespace {

using Ints = std::vector<int64_t>;

Term logical_or(const Term& a, const Term& b) {
  return apply("Or", a, b);
}

// An axis of the image that a grid reads.
struct GridAxis {
  const GridSampleAttrs& attrs;
  Term size;      // as a coordinate
  Val size_list;  // as a list of one integer

  Term low() const { return size.number(attrs.align_corners ? 0 : -0.5); }
  Term high() const { return size - (attrs.align_corners ? 1 : 0.5); }

  // From [-1, 1] to elements; what is not finite counts as just outside.
  Term coordinate(const Term& normal) const {
    const Term at =
        attrs.align_corners ? (normal + 1) * 0.5 * (size - 1) : ((normal + 1) * size - 1) * 0.5;
    return where(logical_or(apply("IsInf", at), apply("IsNaN", at)), -1, at);
  }
  Term clamped(const Term& at) const { return apply("Clip", at, size.number(0), size - 1); }
  // Folded back into [low, high] as often as it takes.
  Term reflected(const Term& at) const {
    const Term range = high() - low();
    const Term is_line = range > 0;
    const Term length = where(is_line, range, 1);
    const Term distance = apply("Abs", at - low());
    const Term folds = apply("Floor", distance / length);
    const Term rest = distance - folds * length;
    const Term is_even = equal(folds - apply("Floor", folds * 0.5) * 2, 0);
    return where(is_line, where(is_even, low() + rest, high() - rest), low());
  }
  // Moves a coordinate beyond the border to where the padding takes it.
  Term padded(const Term& at) const {
    const bool is_border = attrs.padding_mode == "border";
    if (attrs.padding_mode == "zeros" || (is_border && attrs.mode == "cubic")) return at;
    const Term inside = at >= low() && at <= high();
    return where(inside, at, is_border ? clamped(at) : reflected(at));
  }
  // The element at a whole coordinate, and (of padding zeros) whether there is one.
  Val element(const Term& at, Val& inside) const {
    const Term is_inside = at >= 0 && at < size;
    Term moved = at;
    if (attrs.padding_mode == "zeros")
      inside = is_inside;
    else if (attrs.padding_mode == "reflection")
      moved = where(is_inside, at, apply("Round", reflected(at)));
    return cast(clamped(moved), DType::kInt64);
  }
};

// A neighbour of every point: its element in a channel and its weight, both [batch, points].
struct Neighbour {
  Val element;
  Term weight;
};

// The weights of cubic convolution with a = -0.75, for the neighbours -1, 0, 1 and 2.
std::vector<Term> cubic_weights(const Term& ratio) {
  static constexpr double a = -0.75;
  const auto near = [](const Term& x) { return (x * (a + 2) - (a + 3)) * x * x + 1; };
  const auto far = [](const Term& x) { return ((x * a - 5 * a) * x + 8 * a) * x - 4 * a; };
  return {far(ratio + 1), near(ratio), near(1 - ratio), far(2 - ratio)};
}

// Multiplies the neighbours found so far with those of `at` along one more axis.
std::vector<Neighbour> with_axis(Emitter& e, const std::vector<Neighbour>& found,
                                 const GridAxis& axis, const Term& at) {
  const Term base = apply("Floor", at);
  const Term ratio = at - base;
  std::vector<Term> weights{1 - ratio, ratio};
  int first = 0;
  if (axis.attrs.mode == "cubic") {
    weights = cubic_weights(ratio);
    first = -1;
  } else if (axis.attrs.mode == "nearest") {
    weights = {Term{&e, full_like(e, ratio, 1)}};
  }
  std::vector<Neighbour> next;
  for (size_t i = 0; i < weights.size(); ++i) {
    Val inside;
    const Val element = axis.element(base + (first + static_cast<int>(i)), inside);
    const Term weight = inside ? where({&e, inside}, weights[i], 0) : weights[i];
    if (found.empty()) next.push_back({element, weight});
    for (const Neighbour& other : found) {
      const Val row = e.call("Mul", {other.element, axis.size_list});
      next.push_back({e.call("Add", {row, element}), other.weight * weight});
    }
  }
  return next;
}

}  // namespace

Vals grid_sample_decomposition(Emitter& e, const BodyCall& call) {
  const auto& attrs = call.attrs<GridSampleAttrs>();
  const Val &x = call.inputs[0], &grid = call.inputs[1];
  const size_t axes = rank_of(e, x, call.op.name) - 2;
  const DType dtype = e.type(x).dtype;
  const bool any_double = dtype == DType::kDouble || e.type(grid).dtype == DType::kDouble;
  const DType wide = any_double ? DType::kDouble : DType::kFloat;
  const Val out = dims_of(e, grid, 1, static_cast<int64_t>(axes) + 1);
  const Val points = product_of(e, out), batch = dims_of(e, x, 0, 1);
  const Val rank = e.int64s({static_cast<int64_t>(axes)});
  const Val places = cast({&e, reshaped(e, grid, joined_lists(e, {batch, points, rank}))}, wide);
  std::vector<Neighbour> neighbours;
  for (size_t i = 0; i < axes; ++i) {
    const auto own = static_cast<int64_t>(i) + 2;
    const Val size = dims_of(e, x, own, own + 1);
    const GridAxis axis{attrs,
                        {&e, call_folded(e, "Cast", {call_folded(e, "Squeeze", {size})},
                                         {{"to", static_cast<int64_t>(wide)}})},
                        size};
    // The grid names the last axis first.
    const Val number = e.scalar(DType::kInt64, static_cast<double>(axes - 1 - i));
    Term at = axis.coordinate({&e, e.call("Gather", {places, number}, {{"axis", int64_t{2}}})});
    if (attrs.mode == "nearest") at = apply("Round", at);
    neighbours = with_axis(e, neighbours, axis, axis.padded(at));
  }
  const Val channels = dims_of(e, x, 0, 2);
  const Val flat = reshaped(e, cast({&e, x}, wide),
                            joined_lists(e, {channels, product_of(e, dims_of(e, x, 2))}));
  const Val picked_shape = joined_lists(e, {channels, points}), axis = e.int64s({1});
  Term sum{&e, {}};
  for (const Neighbour& neighbour : neighbours) {
    const Val element =
        e.call("Expand", {e.call("Unsqueeze", {neighbour.element, axis}), picked_shape});
    const Term picked{&e, e.call("GatherElements", {flat, element}, {{"axis", int64_t{2}}})};
    const Term part = picked * Term{&e, e.call("Unsqueeze", {neighbour.weight, axis})};
    sum = sum.val ? sum + part : part;
  }
  return {cast({&e, reshaped(e, sum, joined_lists(e, {channels, out}))}, dtype)};
}

Vals grid_sample_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, grid_sample_decomposition);
}

// A grid is theta times the points' coordinates, which theta = [I 0] shows.
Vals affine_grid_grad(Emitter& e, const GradCall& call) {
  const Val &theta = call.inputs[0], &d_grid = call.d_outputs[0];
  const auto axes = static_cast<int64_t>(rank_of(e, d_grid, call.op.name)) - 2;
  const DType dtype = e.type(theta).dtype;
  const Val shape = e.int64s({axes, axes + 1});
  const Val identity =
      call_folded(e, "EyeLike", {call_folded(e, "Expand", {e.scalar(dtype, 0), shape})});
  const Val one = e.int64s({1}), zero = e.int64s({0});
  const Val size = joined_lists(e, {one, part_of(e, call.inputs[1], 1)});
  const Val inputs[] = {e.call("Unsqueeze", {identity, zero}), size};
  const Val grid = e.emit(call.op, inputs, call.raw_attrs, 1)[0];
  const Val points = product_of(e, dims_of(e, d_grid, 1, axes + 1)), width = e.int64s({axes});
  const Val places = reshaped(e, grid, joined_lists(e, {points, width}));
  const Val ones = e.call("Expand", {e.scalar(dtype, 1), joined_lists(e, {points, one})});
  const Val full = e.call("Concat", {places, ones}, {{"axis", int64_t{1}}});
  const Val rows = reshaped(e, d_grid, joined_lists(e, {dims_of(e, d_grid, 0, 1), points, width}));
  return {e.call("MatMul", {e.call("Transpose", {rows}, {{"perm", Ints{0, 2, 1}}}), full})};
}

// Reads the blocks out of the image again: a convolution of each channel with one kernel for each
// place in a block.
Vals col2im_grad(Emitter& e, const GradCall& call) {
  const auto& attrs = call.attrs<Col2ImAttrs>();
  const Val &d_y = call.d_outputs[0], &block = call.inputs[2];
  const Val one = e.int64s({1}), places = product_of(e, block);
  const Val square = e.call("Expand", {e.scalar_like(d_y, 0), joined_lists(e, {places, places})});
  const Val kernels =
      reshaped(e, e.call("EyeLike", {square}), joined_lists(e, {places, one, block}));
  const Val images = product_of(e, dims_of(e, d_y, 0, 2));
  const Val planes = reshaped(e, d_y, joined_lists(e, {images, one, dims_of(e, d_y, 2)}));
  const ConvAttrs reads{.dilations = attrs.dilations, .pads = attrs.pads, .strides = attrs.strides};
  const Val blocks = e.emit(op_named("Conv"), std::vector{planes, kernels}, Attrs(reads), 1)[0];
  return {reshape_like(e, blocks, call.inputs[0])};
}

}  // namespace sardonyx::ops
