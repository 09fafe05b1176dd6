#include "ir/graph.h"

namespace sardonyx {

Vals GraphEmitter::emit(const OpDef& op, std::span<const Val> inputs, const Attrs& attrs,
                        size_t outputs, size_t captures) {
  std::vector<Value*> values;
  for (const Val& input : inputs)
    values.push_back(unwrap(input));
  Node* node = graph_.append(op, clone_subgraphs(attrs), std::move(values),
                             std::vector<std::string>(outputs), captures, before_);
  node->name = name_.empty() ? graph_.fresh_name(op.name) : name_;
  node->scope = scope_;
  node->source = source_;
  try {
    infer_node(graph_, *node);
  } catch (...) {
    graph_.erase(*node);
    throw;
  }
  Vals vals;
  for (Value* output : node->outputs)
    vals.push_back(wrap(output));
  return vals;
}

Val GraphEmitter::constant(Tensor value) {
  return wrap(graph_.add_constant("", std::move(value)));
}

Type GraphEmitter::type(const Val& val) const {
  return unwrap(val)->type;
}

std::optional<Tensor> GraphEmitter::constant_value(const Val& val) const {
  const Value* value = unwrap(val);
  return value->constant ? std::optional(*value->constant) : std::nullopt;
}

std::optional<Dims> GraphEmitter::dims_value(const Val& val) const {
  const Value* value = unwrap(val);
  if (value->dims) return value->dims;
  if (!value->constant || !is_integer(value->constant->dtype()) || value->constant->rank() > 1)
    return std::nullopt;
  return to_dims(value->constant->to_int64s());
}

void GraphEmitter::set_origin(const Node& node) {
  set_origin(node.name, node.scope, node.source);
}

void GraphEmitter::set_origin(std::string name, std::string scope, std::string source) {
  name_ = std::move(name);
  scope_ = std::move(scope);
  source_ = std::move(source);
}

void inline_body(Graph& graph, Node& node) {
  if (!node.op->body) {
    fail(ErrorCode::kUnsupported, "node ", node.name, ": ", full_name(*node.op),
         " has no body in other ops");
  }
  GraphEmitter emitter(graph, &node);
  emitter.set_origin(node);
  Vals inputs;
  for (Value* input : node.inputs)
    inputs.push_back(GraphEmitter::wrap(input));
  const Vals results = node.op->body(emitter, {*node.op, node.attrs, inputs, node.outputs.size()});
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Value* old = node.outputs[i];
    if (!old || i >= results.size() || !results[i]) continue;
    Value* result = GraphEmitter::unwrap(results[i]);
    const bool renames = graph.is_output(*old) && result->producer && !graph.is_output(*result);
    graph.replace_uses(*old, *result);
    if (renames) graph.take_name(*result, *old);
  }
  graph.erase(node);
}

Vals replay(const Graph& graph, Emitter& emitter, std::span<const Val> inputs,
            std::span<const Val> captures) {
  std::unordered_map<const Value*, Val> known{{nullptr, Val()}};
  SARDONYX_CHECK(inputs.size() == graph.inputs().size() &&
                 captures.size() == graph.captures().size());
  for (size_t i = 0; i < inputs.size(); ++i)
    known[graph.inputs()[i]] = inputs[i];
  for (size_t i = 0; i < captures.size(); ++i)
    known[graph.captures()[i]] = captures[i];
  const auto val_of = [&](const Value* value) {
    if (value && value->constant && !known.contains(value))
      known[value] = emitter.constant(*value->constant);
    return known.at(value);
  };
  for (const auto& node : graph.nodes()) {
    Vals in;
    for (const Value* input : node->inputs)
      in.push_back(val_of(input));
    const Vals out = emitter.emit(*node->op, in, node->attrs, node->outputs.size(), node->captures);
    for (size_t i = 0; i < out.size(); ++i)
      known[node->outputs[i]] = out[i];
  }
  Vals results;
  for (const Value* output : graph.outputs())
    results.push_back(val_of(output));
  return results;
}

}  // namespace sardonyx
