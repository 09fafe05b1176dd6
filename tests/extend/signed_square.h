// An op, a kernel, a pass and a provider that are not part of sardonyx: the examples of
// docs/add-an-op.md and the pages beside it, which quote these sources.
#pragma once

#include "ir/kernel.h"
#include "ir/pass.h"

namespace sardonyx::extend {

// toy::SignedSquare: y = x * |x|
const OpDef& signed_square_row();
std::span<const KernelEntry> signed_square_kernels();
const Provider& toy_provider();
bool fuse_signed_square(Graph& graph, Node& node);

}  // namespace sardonyx::extend
