// What must hold of any graph, whatever it computes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/graphs/graph_builder.h"

namespace sardonyx::graph_test {

struct Checked {
  std::vector<std::string> findings;  // what does not hold
  size_t runs = 0;                    // that were compared with another runtime
  std::string refused;                // what the other runtime said instead; empty: nothing
};

// Runs the graph with all of its inputs: rewritten (-O2) and as it is (-O0), on one thread and on
// two, twice, through slots that are kept, by fresh sessions, and with weights that are inputs.
// `other`: a libonnxruntime.so whose results must agree as well, where there are no empty inputs;
// may be empty. It runs in a process of its own, which may crash. `file`: where the model is
// written for it.
Checked check_graph(const GraphCase& graph, const std::filesystem::path& other,
                    const std::filesystem::path& file);

}  // namespace sardonyx::graph_test
