// Gradients of Concat, Split, Tile, Slice and Pad.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include "ir/ops/data_movement/concat_split.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/gradient/index_gradient.h"

namespace sardonyx::ops {
namespace {

// The size of x along an axis that may count from the end.
Term size_along(const Term& x, int64_t axis) {
  return axis == -1 ? sizes_of(x, -1) : sizes_of(x, axis, axis + 1);
}

std::optional<std::vector<int64_t>> known_int64s(const Emitter& e, const Val& val) {
  const std::optional<Dims> dims = e.dims_value(val);
  return dims ? known_shape(*dims) : std::nullopt;
}

// ---- Slice

// The facts of a Slice that are known before the run: its axes and its steps.
struct SliceAxes {
  Term axes;  // 1-D
  std::vector<int64_t> steps;
};
std::optional<SliceAxes> slice_axes(Emitter& e, const GradCall& c) {
  std::optional<std::vector<int64_t>> steps;
  if (c.has(4)) {
    steps = known_int64s(e, c.inputs[4]);
  } else {
    const Type starts = e.type(c.inputs[1]);
    const auto count = starts.has_rank() ? starts.shape->at(0).try_value() : std::nullopt;
    if (count) steps = std::vector<int64_t>(static_cast<size_t>(*count), 1);
  }
  if (!steps) return std::nullopt;
  if (c.has(3)) return SliceAxes{{&e, c.inputs[3]}, *steps};
  std::vector<int64_t> first;
  for (size_t i = 0; i < steps->size(); ++i)
    first.push_back(static_cast<int64_t>(i));
  return SliceAxes{int64s(e, first), *steps};
}

// The gradient of a Slice with steps of 1: d padded with zeros where the Slice took nothing.
Term pad_back(Emitter& e, const GradCall& c, const SliceAxes& sliced) {
  const Term axes = cast(sliced.axes, DType::kInt64), starts = input(e, c, 1);
  const auto along_axes = [&](const Val& x) {
    return apply("Gather", Term{&e, sardonyx::shape_of(e, x)}, axes);
  };
  const Term size = along_axes(c.inputs[0]), taken = along_axes(c.outputs[0]);
  const Term given = cast(starts, DType::kInt64);
  const Term from_front = where(given < 0, given + size, given);
  const Term zero = given.number(0);
  const Term begin = apply("Min", apply("Max", from_front, zero), size);
  const Term pads = apply("Concat", begin, size - begin - taken, {{"axis", int64_t{0}}});
  return {&e, e.call("Pad", {c.d_outputs[0], pads, Val(), axes})};
}

// The elements of x along an axis, `step` apart from each other, with zeros between them and after
// the last one.
Term spread_apart(const Term& x, size_t axis, int64_t step) {
  Emitter& e = *x.e;
  Shape shape = *e.type(x).known_shape();
  Shape wide = shape;
  wide[axis] *= step;
  shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis) + 1, 1);
  const Term apart{&e, e.call("Pad", {reshaped(x, int64s(e, shape)), e.int64s({0, step - 1}), Val(),
                                      e.int64s({static_cast<int64_t>(axis) + 1})})};
  return reshaped(apart, int64s(e, wide));
}

Term flipped(const Term& x, const std::vector<int64_t>& axes) {
  Emitter& e = *x.e;
  const std::vector<int64_t> back(axes.size(), -1);
  const std::vector<int64_t> all(axes.size(), std::numeric_limits<int64_t>::min());
  return {&e, e.call_many("Slice",
                          std::vector<Val>{x, e.int64s(back), e.int64s(all), e.int64s(axes),
                                           e.int64s(back)},
                          {}, 1)[0]};
}

// The gradient of a Slice with any steps, where all sizes are known.
std::optional<Term> pad_back_as_planned(Emitter& e, const GradCall& c, const SliceAxes& sliced) {
  const std::optional<Shape> shape = e.type(c.inputs[0]).known_shape();
  const auto starts = known_int64s(e, c.inputs[1]), ends = known_int64s(e, c.inputs[2]);
  const auto axes = known_int64s(e, sliced.axes);
  if (!shape || !starts || !ends || !axes) return std::nullopt;
  const SliceRanges ranges = slice_ranges(*shape, *starts, *ends, *axes, sliced.steps);
  std::vector<int64_t> reversed, before, after;
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].length == 0) return zeros_like(input(e, c, 0));
    if (ranges[i].step < 0 && ranges[i].length > 1) reversed.push_back(static_cast<int64_t>(i));
  }
  Term d = d_output(e, c, 0);
  if (!reversed.empty()) d = flipped(d, reversed);
  for (size_t i = 0; i < ranges.size(); ++i) {
    const auto [start, step, length] = ranges[i];
    const int64_t apart = length > 1 ? std::abs(step) : 1;
    if (apart > 1) d = spread_apart(d, i, apart);
    before.push_back(step < 0 ? start + (length - 1) * step : start);
    after.push_back((*shape)[i] - before.back() - length * apart);
  }
  before.insert(before.end(), after.begin(), after.end());
  if (std::ranges::all_of(before, [](int64_t pad) { return pad == 0; })) return d;
  return apply("Pad", d, int64s(e, before));
}

// ---- Pad

// Where it put the constant, all of it belongs to the constant.
Term constant_gradient(Emitter& e, const GradCall& c) {
  const Term d = d_output(e, c, 0), data = input(e, c, 0);
  const Val axes = c.has(3) ? c.inputs[3] : Val();
  const Term outside{&e, e.call("Pad", {zeros_like(data), c.inputs[1], data.number(1), axes},
                                c.raw_attrs.to_map())};
  return {&e, sum_to(e, d * outside, c.inputs[2])};
}

}  // namespace

Vals concat_gradient(Emitter& e, const GradCall& c) {
  if (c.inputs.size() == 1) return {c.d_outputs[0]};
  const int64_t axis = c.attrs<ConcatAttrs>().axis;
  std::vector<Term> sizes;
  for (size_t i = 0; i < c.inputs.size(); ++i)
    sizes.push_back(size_along(input(e, c, i), axis));
  return e.call_many("Split", std::vector<Val>{c.d_outputs[0], joined(e, sizes)}, {{"axis", axis}},
                     c.inputs.size());
}

Vals split_gradient(Emitter& e, const GradCall& c) {
  Vals shapes(c.outputs.begin(), c.outputs.end());
  if (std::ranges::any_of(shapes, [](const Val& output) { return !output; })) {
    shapes = e.emit(c.op, c.inputs, c.raw_attrs, shapes.size());
  }
  Vals parts;
  for (size_t i = 0; i < shapes.size(); ++i)
    parts.push_back(c.has_d(i) ? c.d_outputs[i] : full_like(e, shapes[i], 0));
  if (parts.size() == 1) return parts;
  return e.call_many("Concat", parts, {{"axis", c.attrs<SplitAttrs>().axis}}, 1);
}

// Each dim of the result is seen as two: the repeats, which are summed, and x's.
Vals tile_gradient(Emitter& e, const GradCall& c) {
  const Type type = e.type(c.inputs[0]);
  const Type repeats_type = e.type(c.inputs[1]);
  std::optional<int64_t> rank;
  if (type.has_rank()) rank = static_cast<int64_t>(type.rank());
  if (!rank && repeats_type.has_rank()) rank = repeats_type.shape->at(0).try_value();
  if (!rank) {
    fail(ErrorCode::kUnsupported, "the rank of the input must be known to differentiate");
  }
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < *rank; ++i)
    axes.push_back(2 * i);
  const Term last = int64s(e, {1});
  const Term shape{&e, sardonyx::shape_of(e, c.inputs[0])};
  const Term pairs = apply("Concat", apply("Unsqueeze", input(e, c, 1), last),
                           apply("Unsqueeze", shape, last), {{"axis", int64_t{1}}});
  const Term split = reshaped(d_output(e, c, 0), apply("Reshape", pairs, int64s(e, {2 * *rank})));
  if (axes.empty()) return {split};
  return {e.call("ReduceSum", {split, e.int64s(axes)}, {{"keepdims", int64_t{0}}})};
}

Vals slice_gradient(Emitter& e, const GradCall& c) {
  const std::optional<SliceAxes> sliced = slice_axes(e, c);
  if (sliced) {
    if (const std::optional<Term> planned = pad_back_as_planned(e, c, *sliced)) return {*planned};
    if (std::ranges::all_of(sliced->steps, [](int64_t step) { return step == 1; }))
      return {pad_back(e, c, *sliced)};
  }
  Vals inputs(c.inputs.begin(), c.inputs.end());
  const Term x = input(e, c, 0);
  inputs[0] = positions(x);
  const Term taken{&e, e.emit(c.op, inputs, c.raw_attrs, 1)[0]};
  return {scattered_back(x, taken, d_output(e, c, 0))};
}

Vals pad_gradient(Emitter& e, const GradCall& c) {
  const Term x = input(e, c, 0), d = d_output(e, c, 0);
  const Val axes = c.has(3) ? c.inputs[3] : Val();
  Vals gradients(c.inputs.size());
  if (pad_mode(c.attrs<PadAttrs>()) == PadMode::kConstant) {
    if (c.wants(0)) gradients[0] = e.call("Pad", {d, -input(e, c, 1), Val(), axes});
    if (c.wants(2)) gradients[2] = constant_gradient(e, c);
    return gradients;
  }
  const Term from{&e,
                  e.call("Pad", {positions(x), c.inputs[1], Val(), axes}, c.raw_attrs.to_map())};
  gradients[0] = scattered_back(x, from, d);
  return gradients;
}

}  // namespace sardonyx::ops
