// The constants of a graph.
#pragma once

#include <functional>

#include "ir/graph.h"

namespace sardonyx {

// Calls `visit` with every constant that a node reads or that is an output, and every default of an
// input, inner graphs included: once for each place where it is used. It may put another tensor of
// the same elements there.
void for_each_constant(const Graph& graph,
                       const std::function<void(std::shared_ptr<const Tensor>&)>& visit);

}  // namespace sardonyx
