// The precision that a graph itself asks for.
#pragma once

#include "ir/graph.h"
#include "ir/kernel.h"

namespace sardonyx {

// kBFloat16 where the CPU has instructions for it, the graph has matrix products or convolutions,
// and all of them, subgraphs and gradients included, are of bfloat16 values: a function traced
// under Autocast, say. With it as SessionOptions::precision such products are computed as they are
// written. kFloat32 otherwise: the chains of narrow values are computed in float32 then.
Precision precision_of_products(const Graph& graph);

}  // namespace sardonyx
