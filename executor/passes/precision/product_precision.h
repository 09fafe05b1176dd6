// The precision that a graph itself asks for.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "ir/kernel.h"
#include "ir/pass.h"

namespace sardonyx {

// kBFloat16 where the CPU has instructions for it and the graph has matrix products or convolutions
// of bfloat16 values, in subgraphs and as gradients too: a function traced under Autocast, say.
// With it as SessionOptions::precision these are computed as they are written. kFloat32 otherwise:
// the chains of narrow values are computed in float32 then.
Precision precision_of_products(const Graph& graph);

// The matrix products and convolutions whose operands are bfloat16 in the graph as it was imported,
// by node name. Passes widen the whole graph to float32 first, so that fusions match, and keep node
// names: these tell afterwards which products become bfloat16 again.
class WrittenProducts {
 public:
  explicit WrittenProducts(const Graph& graph);

  // Whether some products are bfloat16 and others of another floating type. Those of float32 then
  // stay float32.
  bool are_mixed() const { return mixed_; }
  // Passes that could merge a bfloat16 product and a float32 one into one node.
  static const std::vector<std::string>& merging_passes();
  // Runs narrowing_passes() on the rewritten graph, then generic_passes(). Products that are not
  // faster in float32 become bfloat16; in a mixed graph only those that were written so.
  std::vector<PassEffect> narrow(Graph& graph, const PassOptions& options) const;

 private:
  size_t narrow_written(Graph& graph) const;

  bool mixed_ = false;
  std::set<std::string> narrow_;  // names of nodes
};

}  // namespace sardonyx
