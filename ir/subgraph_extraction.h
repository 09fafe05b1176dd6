// A part of a graph as a graph of its own.
#pragma once

#include <span>
#include <string>

#include "ir/graph.h"

namespace sardonyx {

// The nodes that `outputs` need, computed from `inputs` on; both name values of the graph itself
// (not of its subgraphs), and names, types and constants stay. Inputs and outputs keep the given
// order. Without `inputs`, those inputs of the graph that the outputs need, in its own order.
// Throws kInvalidArgument: a name that is not in the graph or stands twice, an input that no output
// depends on, an output that also depends on an input of the graph that is not listed.
std::shared_ptr<Graph> extract(const Graph& graph, std::span<const std::string> inputs,
                               std::span<const std::string> outputs);

}  // namespace sardonyx
