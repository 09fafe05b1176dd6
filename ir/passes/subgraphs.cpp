// Rewrites of nodes that own subgraphs, and of ops that are written in other ops.
#include "ir/core/bools.h"
#include "ir/pass.h"

namespace sardonyx::passes {

// A captured value that is a constant becomes a constant inside, so that the subgraph can be folded
// by itself.
bool push_constants_into_subgraphs(Graph& graph, Node& node) {
  bool changed = false;
  for (size_t i = node.captures; i-- > 0;) {
    const Value* outer = node.inputs[node.formal_inputs() + i];
    if (!outer->constant) continue;
    for (const GraphPtr& inner : subgraphs_of(node)) {
      Value* constant = inner->add_constant(outer->name, *outer->constant);
      inner->replace_uses(*inner->captures()[i], *constant);
    }
    graph.remove_capture(node, i);
    changed = true;
  }
  return changed;
}

namespace {

// Moves copies of a subgraph's nodes before `owner`; gives the values that stand for its outputs.
std::vector<Value*> splice(Graph& graph, const Graph& inner, Node& owner) {
  std::unordered_map<const Value*, Value*> twins{{nullptr, nullptr}};
  for (size_t i = 0; i < inner.captures().size(); ++i) {
    twins[inner.captures()[i]] = owner.inputs[owner.formal_inputs() + i];
  }
  const auto twin_of = [&](const Value* value) {
    const auto at = twins.find(value);
    if (at != twins.end()) return at->second;
    return twins[value] = graph.add_constant(value->name, *value->constant);
  };
  for (const auto& node : inner.nodes()) {
    std::vector<Value*> inputs;
    for (const Value* input : node->inputs)
      inputs.push_back(twin_of(input));
    std::vector<std::string> names;
    for (const Value* output : node->outputs)
      names.push_back(output->name);
    Node* copy = graph.append(*node->op, node->attrs, std::move(inputs), std::move(names),
                              node->captures, &owner);
    copy->name = node->name;
    copy->scope = node->scope;
    copy->source = node->source;
    for (size_t i = 0; i < node->outputs.size(); ++i) {
      copy->outputs[i]->type = node->outputs[i]->type;
      copy->outputs[i]->dims = node->outputs[i]->dims;
      twins[node->outputs[i]] = copy->outputs[i];
    }
  }
  std::vector<Value*> results;
  for (const Value* output : inner.outputs())
    results.push_back(twin_of(output));
  return results;
}

}  // namespace

// If with a constant condition becomes the branch that is taken. It does not fire where an output
// of the graph would become a value that callers know by another name (an input, another output or
// a constant).
bool inline_constant_if(Graph& graph, Node& node) {
  if (node.op->name != "If" || !node.op->domain.empty() || !node.inputs[0]->constant) return false;
  if (node.inputs[0]->constant->count() != 1) return false;
  const bool condition = bool_at(node.inputs[0]->constant->raw(), 0);
  const auto branch =
      std::get<GraphPtr>(*node.attrs.get(condition ? "then_branch" : "else_branch"));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const Value* inner = branch->outputs()[i];
    const bool repeated = std::ranges::count(branch->outputs(), inner) > 1;
    if (graph.is_output(*node.outputs[i]) && (!inner->producer || repeated)) return false;
  }
  const std::vector<Value*> results = splice(graph, *branch, node);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Value* old = node.outputs[i];
    const bool renames = graph.is_output(*old);
    graph.replace_uses(*old, *results[i]);
    if (renames) graph.take_name(*results[i], *old);
  }
  graph.erase(node);
  return true;
}

// Writes an op out in the ops of its body.
bool expand_body(Graph& graph, Node& node) {
  if (!node.op->body) return false;
  inline_body(graph, node);
  return true;
}

}  // namespace sardonyx::passes
