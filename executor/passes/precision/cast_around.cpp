#include "executor/passes/precision/cast_around.h"

#include <algorithm>

namespace sardonyx::passes {
namespace {

Val cast(GraphEmitter& emitter, const Val& value, DType to) {
  return emitter.call("Cast", {value}, {{"to", static_cast<int64_t>(to)}});
}

}  // namespace

bool compute_in(Graph& graph, Node& node, DType to, const std::function<bool(DType)>& applies) {
  const auto changes = [&](const Value* value) {
    return value && value->type.is_tensor() && applies(value->type.dtype);
  };
  if (std::ranges::none_of(node.inputs, changes)) return false;
  GraphEmitter emitter(graph, &node);
  emitter.set_origin(node);
  Vals inputs;
  for (Value* input : node.inputs) {
    const Val val = GraphEmitter::wrap(input);
    inputs.push_back(changes(input) ? cast(emitter, val, to) : val);
  }
  Vals results;
  try {
    results = emitter.emit(*node.op, inputs, node.attrs, node.outputs.size());
  } catch (const Error&) {
    return false;  // the casts are dead and go
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (!node.outputs[i]) continue;
    Value& old = *node.outputs[i];
    const Val back = changes(&old) ? cast(emitter, results[i], old.type.dtype) : results[i];
    Value* result = GraphEmitter::unwrap(back);
    const bool renames = graph.is_output(old);
    graph.replace_uses(old, *result);
    if (renames) graph.take_name(*result, old);
  }
  graph.erase(node);
  return true;
}

}  // namespace sardonyx::passes
