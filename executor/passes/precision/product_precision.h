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

// Which products of a graph are of bfloat16 values as it is written. Passes then compute all of it
// in float32, so that fusions fit, and pass the names of nodes on: these tell afterwards what is to
// be bfloat16 again.
class WrittenProducts {
 public:
  explicit WrittenProducts(const Graph& graph);

  // Are some of bfloat16 and others of other floating types? Those of float32 keep it then.
  bool are_mixed() const { return mixed_; }
  // Passes that could make one node of a product of bfloat16 and one of float32.
  static const std::vector<std::string>& merging_passes();
  // narrowing_passes() on what became of the graph, then generic_passes(): all products that are
  // not faster in float32 in bfloat16, or, of a mixed graph, those written so.
  std::vector<PassEffect> narrow(Graph& graph, const PassOptions& options) const;

 private:
  size_t narrow_written(Graph& graph) const;

  bool mixed_ = false;
  std::set<std::string> narrow_;  // names of nodes
};

}  // namespace sardonyx
