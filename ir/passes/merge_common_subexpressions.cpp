// Two nodes with the same op, attributes and inputs compute the same: the later one goes. It does
// not fire for random ops, for nodes with subgraphs, and where both outputs are the graph's (each
// name must stay).
#include "ir/pass.h"

namespace sardonyx::passes {
namespace {

// The most readers of its input that a node is compared with: a value may have very many.
constexpr int kMaxCompared = 256;

bool computes_the_same(const Graph& graph, const Node& a, const Node& b) {
  if (a.op != b.op || a.inputs != b.inputs || a.outputs.size() != b.outputs.size()) return false;
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    if (graph.is_output(*a.outputs[i]) && graph.is_output(*b.outputs[i])) return false;
  }
  return a.attrs == b.attrs;
}

}  // namespace

bool merge_common_subexpressions(Graph& graph, Node& node) {
  if (node.op->is(kRandom) || node.inputs.empty() || !node.inputs[0]) return false;
  if (!subgraphs_of(node).empty()) return false;
  int compared = 0;
  for (const Use& use : node.inputs[0]->uses) {
    Node& earlier = *use.node;
    if (use.slot != 0 || earlier.order >= node.order) continue;
    if (++compared > kMaxCompared) return false;
    if (!computes_the_same(graph, earlier, node)) continue;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const bool renames = graph.is_output(*node.outputs[i]);
      graph.replace_uses(*node.outputs[i], *earlier.outputs[i]);
      if (renames) graph.take_name(*earlier.outputs[i], *node.outputs[i]);
    }
    graph.erase(node);
    return true;
  }
  return false;
}

}  // namespace sardonyx::passes
