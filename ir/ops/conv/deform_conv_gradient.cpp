#include "ir/ops/conv/deform_conv_gradient.h"

#include "ir/autodiff/autodiff_body.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/shape_arithmetic.h"

namespace sardonyx::ops {

namespace {

using Ints = std::vector<int64_t>;

Val quotient(Emitter& e, const Val& a, int64_t b) {
  return call_folded(e, "Div", {a, e.int64s({b})});
}

// 0, step, 2 * step ... (`count` is a list of one), plus `begin`, along axis `axis` of `rank`.
Val positions(Emitter& e, const Val& count, int64_t step, int64_t begin, size_t axis, size_t rank) {
  const Val places = call_folded(
      e, "Range",
      {e.scalar(DType::kInt64, 0), call_folded(e, "Squeeze", {count}), e.scalar(DType::kInt64, 1)});
  const auto number = [&](int64_t value) { return e.constant(Tensor::scalar(value)); };
  const Val at =
      call_folded(e, "Add", {call_folded(e, "Mul", {places, number(step)}), number(begin)});
  Ints others;
  for (size_t i = 0; i < rank; ++i) {
    if (i != axis) others.push_back(static_cast<int64_t>(i));
  }
  return call_folded(e, "Unsqueeze", {at, e.int64s(others)});
}

// The sizes of a call of DeformConv, as lists of integers.
struct Deformed {
  const BodyCall& call;
  const DeformConvAttrs& attrs;
  size_t axes;
  Val kernel, out;
  Val taps, points;  // their numbers of elements
  Val batch;
};

// Where each tap of each output would read if it were not moved, along one axis: [taps, points].
Val unmoved(Emitter& e, const Deformed& d, size_t axis) {
  const auto setting = [&](const OptionalInts& list, int64_t otherwise) {
    return list ? (*list)[axis] : otherwise;
  };
  const auto own = static_cast<int64_t>(axis);
  const size_t rank = 2 * d.axes;
  const Val taps = positions(e, part_of(e, d.kernel, own, own + 1), setting(d.attrs.dilations, 1),
                             0, axis, rank);
  const Val starts = positions(e, part_of(e, d.out, own, own + 1), setting(d.attrs.strides, 1),
                               -setting(d.attrs.pads, 0), d.axes + axis, rank);
  const Val all = call_folded(
      e, "Expand", {call_folded(e, "Add", {taps, starts}), joined_lists(e, {d.kernel, d.out})});
  return call_folded(e, "Reshape", {all, joined_lists(e, {d.taps, d.points})},
                     {{"allowzero", int64_t{1}}});
}

// The points that are read, as GridSample names them: [batch * groups, taps, points, axes].
Val sampling_grid(Emitter& e, const Deformed& d, const Val& images) {
  const Val &x = d.call.inputs[0], &offset = d.call.inputs[2];
  const DType wide = e.type(x).dtype == DType::kDouble ? DType::kDouble : DType::kFloat;
  const Val axes = e.int64s({static_cast<int64_t>(d.axes)});
  const Val moved = reshaped(e, offset, joined_lists(e, {images, d.taps, axes, d.points}));
  Vals coordinates(d.axes);
  for (size_t axis = 0; axis < d.axes; ++axis) {
    const auto own = static_cast<int64_t>(axis);
    const Val number = e.constant(Tensor::scalar(own));
    const Val by = e.call("Gather", {moved, number}, {{"axis", int64_t{2}}});
    const Term at = cast({&e, unmoved(e, d, axis)}, wide) + cast({&e, by}, wide);
    const Term size =
        cast({&e, call_folded(e, "Squeeze", {dims_of(e, x, own + 2, own + 3)})}, wide);
    // The grid names the last axis first.
    coordinates[d.axes - 1 - axis] = e.call("Unsqueeze", {(at * 2 + 1) / size - 1, e.int64s({-1})});
  }
  return e.call_many("Concat", coordinates, {{"axis", int64_t{-1}}}, 1)[0];
}

// The samples of every input channel at every tap: [batch, channels, taps, points].
Val sampled(Emitter& e, const Deformed& d) {
  const Val& x = d.call.inputs[0];
  const int64_t groups = d.attrs.offset_group;
  const Val images = call_folded(e, "Mul", {d.batch, e.int64s({groups})});
  const Val members = quotient(e, dims_of(e, x, 1, 2), groups);
  const Val grid = sampling_grid(e, d, images);
  const Val one_axis = joined_lists(e, {images, call_folded(e, "Mul", {d.taps, d.points})});
  // GridSample's output has as many axes as its input.
  const Val ones = e.int64s(Ints(d.axes - 1, 1));
  const Val axes = e.int64s({static_cast<int64_t>(d.axes)});
  const Val places = reshaped(e, grid, joined_lists(e, {one_axis, ones, axes}));
  const Val split = reshaped(e, x, joined_lists(e, {images, members, dims_of(e, x, 2)}));
  Val read = e.call("GridSample", {split, places}, {{"padding_mode", std::string("zeros")}});
  read = reshaped(e, read, joined_lists(e, {images, members, d.taps, d.points}));
  if (d.call.has(4)) {
    const Val one = e.int64s({1});
    const Val mask =
        reshaped(e, d.call.inputs[4], joined_lists(e, {images, one, d.taps, d.points}));
    read = e.call("Mul", {read, mask});
  }
  return reshaped(e, read, joined_lists(e, {dims_of(e, x, 0, 2), d.taps, d.points}));
}

// Each channel of `stream` [batch, channels, ...] with a row of w [channels, 1, taps]. Where the
// number of channels is not known, which Conv has as an attribute, the taps are gathered.
Val depthwise(Emitter& e, const Val& stream, const Val& w, const Val& length) {
  if (const auto channels = known_list(e, dims_of(e, w, 0, 1))) {
    return e.call("Conv", {stream, w}, {{"group", (*channels)[0]}});
  }
  const Val places = e.call(
      "Add", {positions(e, length, 1, 0, 0, 2), positions(e, dims_of(e, w, 2, 3), 1, 0, 1, 2)});
  const Val read = e.call("Gather", {stream, places}, {{"axis", int64_t{2}}});
  return e.call("ReduceSum", {e.call("Mul", {read, w}), e.int64s({3})}, {{"keepdims", int64_t{0}}});
}

}  // namespace

Vals deform_conv_decomposition(Emitter& e, const BodyCall& call) {
  const auto& attrs = call.attrs<DeformConvAttrs>();
  const Val &x = call.inputs[0], &w = call.inputs[1];
  const size_t rank = rank_of(e, x, call.op.name);
  const Val kernel = dims_of(e, w, 2), out = dims_of(e, call.inputs[2], 2);
  const Deformed d{call,
                   attrs,
                   rank - 2,
                   kernel,
                   out,
                   product_of(e, kernel),
                   product_of(e, out),
                   dims_of(e, x, 0, 1)};
  const Val groups = e.int64s({attrs.group}), outputs = dims_of(e, w, 0, 1);
  const Val row = call_folded(e, "Mul", {dims_of(e, w, 1, 2), d.taps});
  const Val columns = reshaped(e, sampled(e, d), joined_lists(e, {d.batch, groups, row, d.points}));
  const Val weights =
      reshaped(e, w, joined_lists(e, {groups, quotient(e, outputs, attrs.group), row}));
  const Val y =
      reshaped(e, e.call("MatMul", {weights, columns}), joined_lists(e, {d.batch, outputs, out}));
  if (!call.has(3)) return {y};
  const Val bias = e.call("Unsqueeze", {call.inputs[3], e.int64s(axes_between(1, rank - 1))});
  return {e.call("Add", {y, bias})};
}

Vals causal_conv_decomposition(Emitter& e, const BodyCall& call) {
  const Val &x = call.inputs[0], &w = call.inputs[1];
  const Val kept = call_folded(e, "Sub", {dims_of(e, w, 2, 3), e.int64s({1})});
  const Val past =
      call.has(3)
          ? call.inputs[3]
          : e.call("Expand", {e.scalar_like(x, 0), joined_lists(e, {dims_of(e, x, 0, 2), kept})});
  const Val stream = e.call("Concat", {past, x}, {{"axis", int64_t{2}}});
  const Val length = dims_of(e, x, 2, 3);
  Val y = depthwise(e, stream, w, length);
  if (call.has(2)) y = e.call("Add", {y, e.call("Unsqueeze", {call.inputs[2], e.int64s({1})})});
  if (call.attrs<CausalConvAttrs>().activation != "none")
    y = e.call("Mul", {y, e.call("Sigmoid", {y})});
  const Val end = call_folded(e, "Add", {length, kept});
  return {y, e.call("Slice", {stream, length, end, e.int64s({2})})};
}

Vals deform_conv_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, deform_conv_decomposition);
}

Vals causal_conv_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, causal_conv_decomposition);
}

}  // namespace sardonyx::ops
