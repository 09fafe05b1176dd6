// Weights that came without a file are held once by all sessions of the process.
#pragma once

#include "ir/graph.h"

namespace sardonyx {

// Puts large constants of `graph`, inner graphs included, on the memory of any that another session
// holds with the same elements, known by their 128-bit hash. They get an origin by it (see
// Buffer::origin), so that what is packed of them is shared as well.
void share_contents(Graph& graph);

}  // namespace sardonyx
