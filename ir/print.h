// Graphs for people to read.
#pragma once

#include <string>

#include "ir/graph.h"

namespace sardonyx {

// One line a node, in order, with types, attributes and where it came from; constants as their
// types, small ones with their elements; subgraphs indented beneath their node.
std::string to_text(const Graph& graph);

// The graph as an image for Graphviz: nodes as boxes, types on the edges, subgraphs as clusters.
// Constants are left out.
std::string to_dot(const Graph& graph);

}  // namespace sardonyx
