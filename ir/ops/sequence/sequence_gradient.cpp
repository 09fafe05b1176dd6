#include "ir/ops/sequence/sequence_gradient.h"

#include <algorithm>

#include "ir/ops/control_flow/control.h"
#include "ir/ops/gradient/subgraph_builder.h"
#include "ir/ops/inference/shape_arithmetic.h"
#include "ir/ops/sequence/sequence.h"

namespace sardonyx::ops {

namespace {

Type item_type(const Emitter& e, const Val& sequence) {
  const Type type = e.type(sequence);
  return type.element ? *type.element : Type::none();
}

Vals map_items(Emitter& e, const Vals& inputs, GraphPtr body, size_t outputs, size_t captures = 0) {
  return e.emit(op_named("SequenceMap"), inputs, Attrs(SequenceMapAttrs{std::move(body)}), outputs,
                captures);
}

// A position counted from the front; without one that of the last item.
Val from_front(Emitter& e, const Val& sequence, const Val& position) {
  const Val length = e.call("SequenceLength", {sequence});
  if (!position) return e.call("Sub", {length, e.scalar(DType::kInt64, 1)});
  const Val wide = e.call("Cast", {position}, {{"to", static_cast<int64_t>(DType::kInt64)}});
  const Val is_negative = e.call("Less", {wide, e.scalar(DType::kInt64, 0)});
  return e.call("Where", {is_negative, e.call("Add", {wide, length}), wide});
}

Val inserted(Emitter& e, const Val& sequence, const Val& item, const Val& position) {
  return e.call("SequenceInsert", {sequence, item, position});
}

// The sizes of the items along `axis`, a 1-D tensor.
Val item_sizes(Emitter& e, const Val& sequence, int64_t axis) {
  SubgraphBuilder body;
  RecordingEmitter& inner = body.emitter();
  const Val shape = inner.call("Shape", {body.add_input(item_type(e, sequence))});
  body.add_output(inner.call("Gather", {shape, inner.int64s({axis})}));
  const Val sizes = map_items(e, {sequence}, body.graph(), 1)[0];
  return e.call("ConcatFromSequence", {sizes}, {{"axis", int64_t{0}}});
}

// The sum of a sequence of tensors like `like`, zero for none.
Val sum_of_items(Emitter& e, const Val& sequence, const Val& like) {
  const Val with_zero = inserted(e, sequence, zeros_like(e, like), e.scalar(DType::kInt64, 0));
  const Val stacked =
      e.call("ConcatFromSequence", {with_zero}, {{"axis", int64_t{0}}, {"new_axis", int64_t{1}}});
  return e.call("ReduceSum", {stacked, e.int64s({0})}, {{"keepdims", int64_t{0}}});
}

}  // namespace

bool carries_gradients(const Type& type) {
  // The floats of 8 bits and fewer carry none: no op adds them.
  if (type.is_tensor()) return kFloats.has(type.dtype);
  return (type.is_sequence() || type.is_optional()) && type.element &&
         carries_gradients(*type.element);
}

Val zeros_like(Emitter& e, const Val& x) {
  if (!e.type(x).is_sequence()) return full_like(e, x, 0);
  SubgraphBuilder body;
  const Val item = body.add_input(item_type(e, x));
  body.add_output(full_like(body.emitter(), item, 0));
  return map_items(e, {x}, body.graph(), 1)[0];
}

Val added_gradients(Emitter& e, const Val& a, const Val& b) {
  if (!e.type(a).is_sequence()) return e.call("Add", {a, b});
  SubgraphBuilder body;
  const Val first = body.add_input(item_type(e, a)), second = body.add_input(item_type(e, b));
  body.add_output(body.emitter().call("Add", {first, second}));
  return map_items(e, {a, b}, body.graph(), 1)[0];
}

Vals sequence_at_grad(Emitter& e, const GradCall& call) {
  const Val at = from_front(e, call.inputs[0], call.inputs[1]);
  const Val rest = e.call("SequenceErase", {zeros_like(e, call.inputs[0]), at});
  return {inserted(e, rest, call.d_outputs[0], at)};
}

Vals sequence_construct_grad(Emitter& e, const GradCall& call) {
  Vals found(call.inputs.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const Val at = e.scalar(DType::kInt64, static_cast<double>(i));
    if (call.wants(i)) found[i] = e.call("SequenceAt", {call.d_outputs[0], at});
  }
  return found;
}

Vals sequence_erase_grad(Emitter& e, const GradCall& call) {
  const Val& sequence = call.inputs[0];
  const Val at = from_front(e, sequence, call.has(1) ? call.inputs[1] : Val());
  const Val erased = e.call("SequenceAt", {sequence, at});
  return {inserted(e, call.d_outputs[0], zeros_like(e, erased), at)};
}

Vals sequence_insert_grad(Emitter& e, const GradCall& call) {
  const Val& d_y = call.d_outputs[0];
  const Val at =
      call.has(2) ? from_front(e, call.inputs[0], call.inputs[2]) : from_front(e, d_y, Val());
  Vals found(2);
  if (call.wants(0)) found[0] = e.call("SequenceErase", {d_y, at});
  if (call.wants(1)) found[1] = e.call("SequenceAt", {d_y, at});
  return found;
}

Vals concat_from_sequence_grad(Emitter& e, const GradCall& call) {
  const auto& attrs = call.attrs<ConcatFromSequenceAttrs>();
  const Val &sequence = call.inputs[0], &d_y = call.d_outputs[0];
  const AttrMap axis{{"axis", attrs.axis}, {"keepdims", int64_t{0}}};
  if (attrs.new_axis) return {e.call("SplitToSequence", {d_y}, axis)};
  return {e.call("SplitToSequence", {d_y, item_sizes(e, sequence, attrs.axis)}, axis)};
}

Vals split_to_sequence_grad(Emitter& e, const GradCall& call) {
  const auto& attrs = call.attrs<SplitToSequenceAttrs>();
  const bool drops_axis = !call.has(1) && !attrs.keepdims;
  return {e.call("ConcatFromSequence", {call.d_outputs[0]},
                 {{"axis", attrs.axis}, {"new_axis", int64_t{drops_axis}}})};
}

// The body's gradients for each item; those of what is the same for all items are summed.
Vals sequence_map_grad(Emitter& e, const GradCall& call) {
  const Attrs typed = typed_subgraphs(e, call);
  const Graph& map = *typed.as<SequenceMapAttrs>().body;
  const size_t formal = call.inputs.size() - call.captures;
  const auto first_capture = call.inputs.begin() + static_cast<std::ptrdiff_t>(formal);
  SubgraphBuilder body;
  Vals items, captures, ys, d_ys, xs, given(call.inputs.begin(), first_capture);
  for (const Value* input : map.inputs())
    items.push_back(body.add_input(input->type));
  std::vector<size_t> known;
  for (size_t i = 0; i < call.d_outputs.size(); ++i) {
    if (!call.has_d(i)) continue;
    known.push_back(i);
    d_ys.push_back(body.add_input(map.outputs()[i]->type));
    given.push_back(call.d_outputs[i]);
  }
  for (const Value* capture : map.captures())
    captures.push_back(body.add_capture(capture->type));
  given.insert(given.end(), first_capture, call.inputs.end());
  const Vals outputs = replay(map, body.emitter(), items, captures);
  for (const size_t output : known)
    ys.push_back(outputs[output]);
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.wants(i)) xs.push_back(i < formal ? items[i] : captures[i - formal]);
  }
  Vals inner = body.emitter().gradients(ys, d_ys, xs);
  for (size_t i = 0; i < inner.size(); ++i)
    body.add_output(inner[i] ? inner[i] : full_like(body.emitter(), xs[i], 0));
  const Vals found = map_items(e, given, body.graph(), inner.size(), call.captures);
  Vals gradients(call.inputs.size());
  for (size_t i = 0, next = 0; i < call.inputs.size(); ++i) {
    if (!call.wants(i)) continue;
    const Val& list = found[next++];
    const bool is_list = i < formal && e.type(call.inputs[i]).is_sequence();
    gradients[i] = is_list ? list : sum_of_items(e, list, call.inputs[i]);
  }
  return gradients;
}

Vals optional_grad(Emitter&, const GradCall& call) {
  return {call.d_outputs[0]};
}

}  // namespace sardonyx::ops
