#include "onnx_io/export/older_bodies.h"

#include <algorithm>

#include "onnx_io/export/downgrade.h"
#include "onnx_io/op_versions.h"

namespace sardonyx::onnx_export {
namespace {

Val either(Emitter& e, const Val& a, const Val& b) {
  return e.call("Or", {a, b});
}

// Of floating numbers and of small integers; since opset 11 Equal takes them itself.
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

// Of integers.
template <const char* comparison>
Vals extreme_body(Emitter& e, const BodyCall& call) {
  Val result = call.inputs[0];
  for (const Val& input : call.inputs.subspan(1))
    result = chosen(e, comparison, result, input);
  return {result};
}
constexpr char kGreater[] = "Greater", kLess[] = "Less";

const OpDef kOlderBodies[] = {
    {.name = "Clip", .signature = "", .body = clip_body},
    {.name = "Equal", .signature = "", .body = equal_body},
    {.name = "Max", .signature = "", .body = extreme_body<kGreater>},
    {.name = "Min", .signature = "", .body = extreme_body<kLess>},
};

const OpDef* older_body(const Node& node) {
  if (!node.op->domain.empty()) return nullptr;
  const auto found = std::ranges::find(kOlderBodies, node.op->name, &OpDef::name);
  if (found == std::end(kOlderBodies)) return nullptr;
  const DType dtype = node.inputs[0]->type.dtype;
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
    graph.set_op(node, *older_body(node), Attrs(), std::move(inputs));
  }
  inline_body(graph, node);
}

}  // namespace sardonyx::onnx_export
