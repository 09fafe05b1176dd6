// Initializers that are inputs of the graph as well: defaults of what a run may be given.
#pragma once

#include <functional>
#include <string>

#include "ir/graph.h"

namespace sardonyx {

// Makes constants of the inputs of `graph` that have a default, but for those `is_given`, and
// infers all types anew: where what was known before contradicts it, `tell` is called and inference
// wins. Throws kInvalidModel where a node can't take its constants; the graph is then of no use.
void defaults_to_constants(Graph& graph,
                           const std::function<bool(const std::string& name)>& is_given,
                           const std::function<void(const Error& contradiction)>& tell);

}  // namespace sardonyx
