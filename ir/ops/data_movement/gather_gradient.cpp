// Gradients of the ops that pick elements: what was picked several times gets the sum.
#include "ir/ops/data_movement/gather.h"

#include "ir/ops/data_movement/space_depth.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/gradient/index_gradient.h"
#include "ir/ops/reduction/reduce.h"

namespace sardonyx::ops {
namespace {

const AttrMap& kAdd = *new AttrMap{{"reduction", std::string("add")}};

// The rule for every op that picks elements by their places alone: the places themselves are picked
// in the same way.
Term picked_back(Emitter& e, const GradCall& c) {
  const Term x = input(e, c, 0);
  Vals inputs(c.inputs.begin(), c.inputs.end());
  inputs[0] = positions(x);
  const Term from{&e, e.emit(c.op, inputs, c.raw_attrs, 1)[0]};
  return scattered_back(x, from, d_output(e, c, 0));
}

Term scatter_rows(const Term& zeros, const Term& indices, const Term& rows) {
  const Term tuples = apply("Unsqueeze", cast(indices, DType::kInt64), int64s(*zeros.e, {-1}));
  return {zeros.e, zeros.e->call("ScatterND", {zeros, tuples, rows}, kAdd)};
}

// The axis comes first while rows are added up.
Term gather_along(Emitter& e, const GradCall& c, int64_t axis) {
  const Term x = input(e, c, 0), indices = input(e, c, 1);
  const auto rank = static_cast<int64_t>(e.type(x).rank());
  const auto index_rank = static_cast<int64_t>(e.type(indices).rank());
  std::vector<int64_t> x_order{axis}, d_order, back;
  for (int64_t i = 0; i < index_rank; ++i)
    d_order.push_back(axis + i);
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis) x_order.push_back(i);
    if (i != axis) d_order.push_back(i < axis ? i : i + index_rank - 1);
    back.push_back(i < axis ? i + 1 : i == axis ? 0 : i);
  }
  const std::optional<Shape> known = e.type(x).known_shape();
  Term shape{&e, sardonyx::shape_of(e, x)};
  if (known) {
    std::vector<int64_t> sizes;
    for (const int64_t i : x_order)
      sizes.push_back((*known)[static_cast<size_t>(i)]);
    shape = int64s(e, sizes);
  } else {
    shape = apply("Gather", shape, int64s(e, x_order));
  }
  const Term zeros = apply("Expand", x.number(0), shape);
  const Term d = apply("Transpose", d_output(e, c, 0), {{"perm", d_order}});
  return apply("Transpose", scatter_rows(zeros, indices, d), {{"perm", back}});
}

}  // namespace

Vals gather_gradient(Emitter& e, const GradCall& c) {
  const Type x = e.type(c.inputs[0]);
  int64_t axis = c.attrs<GatherAttrs>().axis;
  if (axis < 0 && x.has_rank()) axis += static_cast<int64_t>(x.rank());
  if (axis == 0) {
    return {scatter_rows(zeros_like(input(e, c, 0)), input(e, c, 1), d_output(e, c, 0))};
  }
  const bool ranks_known = x.has_rank() && e.type(c.inputs[1]).has_rank();
  return {ranks_known ? gather_along(e, c, axis) : picked_back(e, c)};
}

Vals gather_elements_gradient(Emitter& e, const GradCall& c) {
  const AttrMap attrs{{"axis", c.attrs<GatherAttrs>().axis}, {"reduction", std::string("add")}};
  return {
      e.call("ScatterElements", {zeros_like(input(e, c, 0)), c.inputs[1], c.d_outputs[0]}, attrs)};
}

Vals gather_nd_gradient(Emitter& e, const GradCall& c) {
  if (c.attrs<GatherNDAttrs>().batch_dims != 0) return {picked_back(e, c)};
  return {e.call("ScatterND", {zeros_like(input(e, c, 0)), c.inputs[1], c.d_outputs[0]}, kAdd)};
}

// By the two values alone.
Vals one_hot_gradient(Emitter& e, const GradCall& c) {
  if (!c.wants(2)) return {};
  const Term d = d_output(e, c, 0), first = int64s(e, {0});
  const Term values = apply("Concat", apply("Unsqueeze", d.number(0), first),
                            apply("Unsqueeze", d.number(1), first), {{"axis", int64_t{0}}});
  const Term on{&e, e.call("OneHot", {c.inputs[0], c.inputs[1], values}, c.raw_attrs.to_map())};
  const auto sum = [&](const Term& x) {
    const Term total = apply("ReduceSum", x, {{"keepdims", int64_t{0}}});
    return apply("Unsqueeze", total, first);
  };
  return {Val(), Val(), apply("Concat", sum(d * (1 - on)), sum(d * on), {{"axis", int64_t{0}}})};
}

Vals compress_gradient(Emitter& e, const GradCall& c) {
  return {picked_back(e, c)};
}

Vals reverse_sequence_gradient(Emitter& e, const GradCall& c) {
  return {e.call("ReverseSequence", {c.d_outputs[0], c.inputs[1]}, c.raw_attrs.to_map())};
}

Vals top_k_gradient(Emitter& e, const GradCall& c) {
  Val indices = c.outputs.size() > 1 ? c.outputs[1] : Val();
  if (!indices) indices = e.emit(c.op, c.inputs, c.raw_attrs, 2)[1];
  return {e.call("ScatterElements", {zeros_like(input(e, c, 0)), indices, c.d_outputs[0]},
                 {{"axis", c.attrs<TopKAttrs>().axis}})};
}

// Channels of the input are [row, column, channel] of a block, or [channel, row, column] (CRD).
Vals depth_to_space_gradient(Emitter& e, const GradCall& c) {
  const auto& attrs = c.attrs<DepthToSpaceAttrs>();
  const Term blocks = apply("SpaceToDepth", d_output(e, c, 0), {{"blocksize", attrs.blocksize}});
  if (attrs.mode == "DCR") return {blocks};
  const Term d = d_output(e, c, 0), square = int64s(e, {attrs.blocksize * attrs.blocksize});
  const Term batch = sizes_of(d, 0, 1), channels = sizes_of(d, 1, 2), area = sizes_of(blocks, 2);
  const Term split = reshaped(blocks, joined(e, {batch, square, channels, area}));
  const Term moved = apply("Transpose", split, {{"perm", std::vector<int64_t>{0, 2, 1, 3, 4}}});
  return {reshape_like(e, moved, c.inputs[0])};
}

Vals space_to_depth_gradient(Emitter& e, const GradCall& c) {
  return {e.call("DepthToSpace", {c.d_outputs[0]}, c.raw_attrs.to_map())};
}

// The middle of one is on the middle of the other, whichever is the result.
Vals center_crop_pad_gradient(Emitter& e, const GradCall& c) {
  const auto& axes = c.attrs<CenterCropPadAttrs>().axes;
  Term sizes{&e, sardonyx::shape_of(e, c.inputs[0])};
  if (axes) sizes = apply("Gather", sizes, int64s(e, *axes));
  return {e.call("CenterCropPad", {c.d_outputs[0], sizes}, c.raw_attrs.to_map())};
}

}  // namespace sardonyx::ops
