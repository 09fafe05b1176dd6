// Type inference over graphs, and the check of a graph's invariants.
#include <algorithm>
#include <unordered_map>

#include "ir/graph.h"

namespace sardonyx {
namespace {

InferInput seen(const Value* value) {
  if (!value) return {};
  return {value->type, value->constant.get(), value->dims ? &*value->dims : nullptr};
}

void check_links(const Graph& graph, const Node& node,
                 const std::unordered_map<const Value*, size_t>& known) {
  for (size_t slot = 0; slot < node.inputs.size(); ++slot) {
    const Value* input = node.inputs[slot];
    if (!input) continue;
    SARDONYX_CHECK(known.contains(input));  // produced before it is read
    SARDONYX_CHECK(std::count(input->uses.begin(), input->uses.end(),
                              Use{const_cast<Node*>(&node), slot}) == 1);
  }
  for (size_t slot = 0; slot < node.outputs.size(); ++slot) {
    const Value* output = node.outputs[slot];
    if (!output) continue;
    SARDONYX_CHECK(output->producer == &node && output->producer_slot == slot);
    SARDONYX_CHECK(graph.find_value(output->name) == output);
  }
}

std::vector<InferOutput> infer_outputs(const Node& node, bool types_subgraphs) {
  std::vector<InferInput> inputs;
  inputs.reserve(node.inputs.size());
  for (const Value* input : node.inputs)
    inputs.push_back(seen(input));
  return infer(*node.op, node.attrs, inputs, node.formal_inputs(), node.outputs.size(),
               Graph::fresh_symbol, types_subgraphs);
}

// The node may read what it reads, and writes what its outputs say. Passes leave nodes that nobody
// reads any more as they are.
void check_types(const Graph& graph, const Node& node) {
  const bool is_read = std::ranges::any_of(node.outputs, [&](const Value* output) {
    return output && (!output->uses.empty() || graph.is_output(*output));
  });
  if (!is_read) return;
  try {
    const std::vector<InferOutput> outputs = infer_outputs(node, /*types_subgraphs=*/false);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (const Value* value = node.outputs[i])
        merge_types(outputs[i].type, value->type, value->name);
    }
  } catch (const Error& error) {
    throw error.with_context("node " + node.name);
  }
}

}  // namespace

Type merge_types(const Type& inferred, const Type& known, std::string_view name) {
  if (known.is_none()) return inferred;
  if (inferred.is_none()) return known;
  if (!same_kind(inferred, known)) {
    fail(ErrorCode::kInvalidModel, "value ", name, ": declared with type ", known, ", inferred ",
         inferred);
  }
  if (!known.shape || !inferred.shape) return inferred.shape ? inferred : known;
  if (known.rank() != inferred.rank()) {
    fail(ErrorCode::kInvalidModel, "value ", name, ": declared rank ", known.rank(), " (", known,
         "), inferred rank ", inferred.rank(), " (", inferred, ")");
  }
  Type result = inferred;
  for (size_t i = 0; i < known.rank(); ++i) {
    const Dim& a = (*known.shape)[i];
    Dim& b = (*result.shape)[i];
    if (a.is_known() && b.is_known() && a.value() != b.value()) {
      fail(ErrorCode::kInvalidModel, "value ", name, ": dim ", i, " is declared ", a, ", inferred ",
           b);
    }
    // A name that the file gives says more than a fresh symbol.
    if (!b.is_known() && (a.is_known() || b.text().starts_with('?'))) b = a;
  }
  return result;
}

void infer_node(Graph& /*graph*/, Node& node) {
  try {
    std::vector<InferOutput> outputs = infer_outputs(node, /*types_subgraphs=*/true);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Value* value = node.outputs[i];
      if (!value) continue;
      value->type = merge_types(outputs[i].type, value->type, value->name);
      if (outputs[i].dims) value->dims = std::move(outputs[i].dims);
    }
  } catch (const Error& error) {
    if (!error.node().empty() || node.name.empty()) throw;
    throw error.with_context("node " + node.name).at_node(node.name);
  }
}

void infer_types(Graph& graph) {
  for (const auto& node : graph.nodes())
    infer_node(graph, *node);
}

void verify(const Graph& graph) {
  std::unordered_map<const Value*, size_t> known;
  for (const auto& [value, owner] : graph.values()) {
    if (!value->producer) known.emplace(value, 0);
    for (const Use& use : value->uses)
      SARDONYX_CHECK(use.node->inputs.at(use.slot) == value);
  }
  for (const auto& node : graph.nodes()) {
    check_links(graph, *node, known);
    for (const Value* output : node->outputs) {
      if (output) SARDONYX_CHECK(known.emplace(output, 1).second);
    }
    for (const GraphPtr& inner : subgraphs_of(*node)) {
      SARDONYX_CHECK(inner->captures().size() == node->captures);
      verify(*inner);
    }
    check_types(graph, *node);
  }
  for (const Value* output : graph.outputs())
    SARDONYX_CHECK(known.contains(output));
}

}  // namespace sardonyx
