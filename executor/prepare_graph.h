// Makes an imported graph ready for a set of providers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "executor/session_options.h"
#include "ir/pass.h"

namespace sardonyx {

struct PassName {
  std::string_view name;
  int level;               // the lowest optimization level that runs it; 0: runs for bfloat16
  std::string_view stage;  // passes of a stage are repeated until none changes anything
  std::string_view file;   // the source of its function, whose name has _ for -
  std::string_view summary;
};
// All passes in the order in which they run.
std::vector<PassName> list_passes();

// Runs the passes of the level and writes out ops that no provider knows and that have only a body.
// Throws kUnsupported naming every node that cannot run. Where nobody else looks at the graph's
// constants, which is what `owns_weights` says, weights that passes make need not be in memory.
std::vector<PassEffect> prepare_graph(Graph& graph, const SessionOptions& options,
                                      std::span<const Provider* const> providers,
                                      bool owns_weights = false);

}  // namespace sardonyx
