// Passes: named rewrites of one node at a time, run to a fixed point by one driver.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace sardonyx {

// Says whether it changed anything. It may erase `node` and insert nodes around it; links are
// changed last, through Graph alone, and new nodes are typed (GraphEmitter does it).
struct Pass {
  std::string_view name;
  bool (*apply)(Graph& graph, Node& node);
  std::string_view file = "";     // where `apply` is
  std::string_view summary = "";  // what it does, in a few words
  // Makes floats of quantised weights: left out while quantised graphs become integer ops.
  bool dequantizes_weights = false;
  // What it makes is computed in float32 alone: left out where products are to be in bfloat16.
  bool is_float32_only = false;
};

struct PassEffect {
  std::string_view pass;
  size_t changes = 0;
};

struct PassOptions {
  std::vector<std::string> disabled;  // names of passes
  bool verify_each = false;           // check the graph after every change
};

// Applies the passes over all nodes, subgraphs included, until none changes anything (bounded). An
// error gets "while running pass P on node N" put before it.
std::vector<PassEffect> run_passes(Graph& graph, std::span<const Pass> passes,
                                   const PassOptions& options = {});

// What every graph profits from: constants, common subexpressions, identities, dead code.
std::span<const Pass> generic_passes();

// Removes nodes whose outputs nobody reads; unused constants too.
size_t remove_dead_nodes(Graph& graph);

// The rewrites themselves, one file each in ir/passes.
namespace passes {
bool fold_constants(Graph& graph, Node& node);
bool fold_dequantized(Graph& graph, Node& node);
bool merge_common_subexpressions(Graph& graph, Node& node);
bool remove_identity(Graph& graph, Node& node);
bool push_constants_into_subgraphs(Graph& graph, Node& node);
bool inline_constant_if(Graph& graph, Node& node);
bool expand_body(Graph& graph, Node& node);
}  // namespace passes

}  // namespace sardonyx
