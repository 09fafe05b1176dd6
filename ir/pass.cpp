#include "ir/pass.h"

#include <algorithm>

#include "ir/core/run_control.h"

namespace sardonyx {
namespace {

// Rewrites settle in a few rounds; a pair that undoes each other must not go on for ever.
constexpr int kMaxRounds = 20;

size_t apply_over(Graph& graph, const Pass& pass, const PassOptions& options) {
  size_t changes = 0;
  graph.renumber();
  for (auto at = graph.nodes().begin(); at != graph.nodes().end();) {
    Node& node = **at;
    ++at;  // first: the pass may erase the node
    check_interrupted();
    for (const GraphPtr& inner : subgraphs_of(node))
      changes += apply_over(*inner, pass, options);
    const std::string name = node.name;
    try {
      if (!pass.apply(graph, node)) continue;
      ++changes;
      if (options.verify_each) verify(graph);
    } catch (const Error& error) {
      throw error.with_context(text("while running pass ", pass.name, " on node ", name));
    }
  }
  return changes;
}

std::vector<Type> output_types(const Graph& graph) {
  std::vector<Type> types;
  for (const Value* output : graph.outputs())
    types.push_back(output->type);
  return types;
}

// A value that took an output's place may have no shape where the model declares one. An input's
// type is the caller's.
void keep_declared(Graph& graph, const std::vector<Type>& declared) {
  for (size_t i = 0; i < declared.size() && i < graph.outputs().size(); ++i) {
    Value& output = *graph.outputs()[i];
    const bool lacks_shape = output.type.is_tensor() && !output.type.has_rank();
    if (lacks_shape && !graph.is_input(output) && output.type.dtype == declared[i].dtype)
      output.type = declared[i];
  }
}

}  // namespace

std::vector<PassEffect> run_passes(Graph& graph, std::span<const Pass> passes,
                                   const PassOptions& options) {
  std::vector<PassEffect> effects;
  for (const Pass& pass : passes)
    effects.push_back({pass.name, 0});
  const std::vector<Type> declared = output_types(graph);
  size_t changes = 1;
  for (int round = 0; round < kMaxRounds && changes > 0; ++round) {
    changes = 0;
    for (size_t i = 0; i < passes.size(); ++i) {
      if (std::ranges::count(options.disabled, passes[i].name) > 0) continue;
      const size_t here = apply_over(graph, passes[i], options);
      effects[i].changes += here;
      changes += here;
    }
    remove_dead_nodes(graph);
  }
  keep_declared(graph, declared);
  return effects;
}

std::span<const Pass> generic_passes() {
  static constexpr Pass kPasses[] = {
      {"fold-constants", passes::fold_constants, "ir/passes/fold_constants.cpp",
       "values that are known ahead become constants"},
      {"fold-dequantized", passes::fold_dequantized, "ir/passes/fold_constants.cpp",
       "DequantizeLinear of constants becomes constants", /*dequantizes_weights=*/true},
      {"push-constants-into-subgraphs", passes::push_constants_into_subgraphs,
       "ir/passes/subgraphs.cpp", "constants that subgraphs capture become their own"},
      {"inline-constant-if", passes::inline_constant_if, "ir/passes/subgraphs.cpp",
       "If of a constant becomes the branch taken"},
      {"remove-identity", passes::remove_identity, "ir/passes/remove_identity.cpp",
       "nodes that hand on their input go"},
      {"merge-common-subexpressions", passes::merge_common_subexpressions,
       "ir/passes/merge_common_subexpressions.cpp",
       "of two nodes that compute the same the later one goes"},
  };
  return kPasses;
}

size_t remove_dead_nodes(Graph& graph) {
  size_t removed = 0;
  const auto is_dead = [&](const Value* value) {
    return !value || (value->uses.empty() && !graph.is_output(*value));
  };
  // Backwards, so that a chain goes in one walk.
  for (auto at = graph.nodes().end(); at != graph.nodes().begin();) {
    Node& node = **--at;
    for (const GraphPtr& inner : subgraphs_of(node))
      removed += remove_dead_nodes(*inner);
    for (size_t i = node.captures; i-- > 0;) {  // captures that no subgraph reads any more
      const std::vector<GraphPtr> inner = subgraphs_of(node);
      if (std::ranges::all_of(inner, [&](const GraphPtr& graph_of_node) {
            const Value& capture = *graph_of_node->captures()[i];
            return capture.uses.empty() && !graph_of_node->is_output(capture);
          })) {
        graph.remove_capture(node, i);
      }
    }
    if (!std::ranges::all_of(node.outputs, is_dead)) continue;
    ++at;
    graph.erase(node);
    ++removed;
  }
  std::vector<Value*> unused;
  for (const auto& [value, owner] : graph.values()) {
    if (value->constant && !value->producer && is_dead(value) && !graph.is_input(*value) &&
        std::ranges::count(graph.captures(), value) == 0) {
      unused.push_back(value);
    }
  }
  for (Value* value : unused)
    graph.erase_value(*value);
  return removed;
}

}  // namespace sardonyx
