#include "onnx_io/export/older_bodies.h"

#include <algorithm>
#include <numeric>

#include "ir/ops/normalization/softmax.h"
#include "onnx_io/export/downgrade.h"
#include "onnx_io/op_versions.h"

namespace sardonyx::onnx_export {
namespace {

Val either(Emitter& e, const Val& a, const Val& b) {
  return e.call("Or", {a, b});
}

// Equal of floating numbers and of small integers; since opset 11 Equal takes them itself.
Vals equal_body(Emitter& e, const BodyCall& call) {
  const Val &a = call.inputs[0], &b = call.inputs[1];
  Val differ = either(e, e.call("Less", {a, b}), e.call("Greater", {a, b}));
  // NaN is neither less nor greater, and equal to nothing.
  if (is_floating(e.type(a).dtype))
    differ = either(e, differ, e.call("IsNaN", {e.call("Add", {a, b})}));
  return {e.call("Not", {differ})};
}

Val chosen(Emitter& e, const char* comparison, const Val& a, const Val& b) {
  return e.call("Where", {e.call(comparison, {a, b}), a, b});
}

// Bounds that are computed, or of integers.
Vals clip_body(Emitter& e, const BodyCall& call) {
  Val result = call.inputs[0];
  const bool is_float = is_floating(e.type(result).dtype);
  const auto bound = [&](size_t input, const char* op, const char* comparison) {
    if (input >= call.inputs.size() || !call.inputs[input]) return;
    const Val& limit = call.inputs[input];
    result = is_float ? e.call(op, {result, limit}) : chosen(e, comparison, limit, result);
  };
  bound(1, "Max", "Greater");
  bound(2, "Min", "Less");
  return {result};
}

// Max or Min of integers.
template <const char* comparison>
Vals extreme_body(Emitter& e, const BodyCall& call) {
  Val result = call.inputs[0];
  for (const Val& input : call.inputs.subspan(1))
    result = chosen(e, comparison, result, input);
  return {result};
}
constexpr char kGreater[] = "Greater", kLess[] = "Less";

// Greater, or Less, with equality: also where one is NaN.
template <const char* comparison>
Vals or_equal_body(Emitter& e, const BodyCall& call) {
  const Val &a = call.inputs[0], &b = call.inputs[1];
  return {either(e, e.call(comparison, {a, b}), e.call("Equal", {a, b}))};
}

// Whether the axis is not the last one, along which alone the older forms compute.
bool is_along_another_axis(const Node& node) {
  const Type& type = node.inputs[0]->type;
  if (!type.has_rank() || type.rank() == 0) return false;
  const auto last = static_cast<int64_t>(type.rank()) - 1;
  const int64_t axis = node.attrs.as<ops::SoftmaxAttrs>().axis;
  return axis != -1 && axis != last;
}
// Along another axis than the last: with these two exchanged.
Vals softmax_body(Emitter& e, const BodyCall& call) {
  const Val& x = call.inputs[0];
  const size_t rank = e.type(x).rank();
  const int64_t axis = call.attrs<ops::SoftmaxAttrs>().axis;
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis)],
            order[rank - 1]);
  const Val moved = e.call("Transpose", {x}, {{"perm", order}});
  const Val done = e.call(call.op.name, {moved}, {{"axis", int64_t{-1}}});
  return {e.call("Transpose", {done}, {{"perm", order}})};
}

const OpDef kOlderBodies[] = {
    {.name = "Clip", .signature = "", .body = clip_body},
    {.name = "Equal", .signature = "", .body = equal_body},
    {.name = "GreaterOrEqual", .signature = "", .body = or_equal_body<kGreater>},
    {.name = "Hardmax", .signature = "", .body = softmax_body},
    {.name = "LessOrEqual", .signature = "", .body = or_equal_body<kLess>},
    {.name = "LogSoftmax", .signature = "", .body = softmax_body},
    {.name = "Max", .signature = "", .body = extreme_body<kGreater>},
    {.name = "Min", .signature = "", .body = extreme_body<kLess>},
    {.name = "Softmax", .signature = "", .body = softmax_body},
};

const OpDef* older_body(const Node& node) {
  if (!node.op->domain.empty()) return nullptr;
  const auto found = std::ranges::find(kOlderBodies, node.op->name, &OpDef::name);
  if (found == std::end(kOlderBodies)) return nullptr;
  const Type& type = node.inputs[0]->type;
  if (found->body == softmax_body && !is_along_another_axis(node)) return nullptr;
  const DType dtype = type.dtype;
  const bool is_extreme = node.op->name == "Max" || node.op->name == "Min";
  const bool fits = is_extreme ? is_integer(dtype) : is_integer(dtype) || is_floating(dtype);
  return fits ? &*found : nullptr;
}

bool is_ours_alone(const OpDef& op) {
  return op.body && op.domain != "com.microsoft" && !versions_of(op.domain, op.name);
}

}  // namespace

bool must_be_written_out(const Node& node, int64_t opset) {
  if (is_ours_alone(*node.op)) return true;
  if (!node.op->domain.empty() || !(node.op->body || older_body(node))) return false;
  return !why_unsupported(node, opset).empty();
}

void write_out(Graph& graph, Node& node) {
  if (!node.op->body) {
    std::vector<Value*> inputs = node.inputs;
    graph.set_op(node, *older_body(node), Attrs(node.attrs), std::move(inputs));
  }
  inline_body(graph, node);
}

}  // namespace sardonyx::onnx_export
