#include "executor/weights/graph_constants.h"

namespace sardonyx {

void for_each_constant(const Graph& graph,
                       const std::function<void(std::shared_ptr<const Tensor>&)>& visit) {
  const auto visit_value = [&](Value* value) {
    if (value && value->constant) visit(value->constant);
    if (value && value->default_value) visit(value->default_value);
  };
  for (Value* input : graph.inputs())
    visit_value(input);
  for (Value* output : graph.outputs())
    visit_value(output);
  for (const auto& node : graph.nodes()) {
    for (Value* input : node->inputs)
      visit_value(input);
    for (const GraphPtr& inner : subgraphs_of(*node))
      for_each_constant(*inner, visit);
  }
}

}  // namespace sardonyx
