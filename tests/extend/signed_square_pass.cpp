// Mul(x, Abs(x)) becomes toy::SignedSquare(x). It does not fire where somebody else reads Abs(x).
#include "executor/passes/pattern.h"
#include "tests/extend/signed_square.h"

namespace sardonyx::extend {

bool fuse_signed_square(Graph& graph, Node& node) {
  if (!passes::is_op(node, "Mul")) return false;
  for (const size_t slot : {0, 1}) {
    Node* abs = passes::sole_producer(graph, node, slot);
    if (!abs || !passes::is_op(*abs, "Abs") || abs->inputs[0] != node.inputs[1 - slot]) continue;
    passes::absorb(graph, node, *abs, signed_square_row(), Attrs(), {abs->inputs[0]});
    return true;
  }
  return false;
}

}  // namespace sardonyx::extend
