// Mul(x, Sigmoid(x)) becomes Swish(x), Mul(x, HardSigmoid(x, 1/6, 1/2)) becomes HardSwish(x). It
// does not fire
//  1. where somebody else reads the sigmoid,
//  2. for other elements than float.
#include <cmath>

#include "executor/passes/all_passes.h"
#include "executor/passes/pattern.h"

namespace sardonyx::passes {

bool recognize_swish(Graph& graph, Node& node) {
  if (!is_op(node, "Mul") || !is_float(*node.outputs[0])) return false;
  for (const size_t slot : {1, 0}) {
    Node* gate = sole_producer(graph, node, slot);
    if (!gate || !gate->has_input(0) || gate->inputs[0] != node.inputs[1 - slot]) continue;
    const auto activation = activation_of(*gate);
    if (!activation) continue;
    Value* x = gate->inputs[0];
    if (activation->name == "Sigmoid") {
      absorb(graph, node, *gate, op_named("Swish"), Attrs::parse(*op_named("Swish").attrs, {}),
             {x});
      return true;
    }
    if (activation->name == "HardSigmoid" && std::abs(activation->params[0] - 1.f / 6) < 1e-6f &&
        activation->params[1] == 0.5f) {
      absorb(graph, node, *gate, op_named("HardSwish"), Attrs(), {x});
      return true;
    }
  }
  return false;
}

}  // namespace sardonyx::passes
