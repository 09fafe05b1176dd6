// A node moved from some element types to another one.
#pragma once

#include <functional>

#include "ir/graph.h"

namespace sardonyx::passes {

// `node` computes on elements of type `to` in the place of those for which `applies` holds: its
// inputs of such a type are cast, and its outputs of such a type are cast back. False, with nothing
// changed, where no input is one of them or the op's row does not allow `to`.
bool compute_in(Graph& graph, Node& node, DType to, const std::function<bool(DType)>& applies);

}  // namespace sardonyx::passes
