// The nodes of a session's graph, as a caller asks which provider runs them.
#pragma once

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "executor/ort_abi/table/ort_c_api.h"
#include "ir/graph.h"

struct OrtEpAssignedNode {
  std::string name, domain, op;
};

struct OrtEpAssignedSubgraph {
  OrtEpAssignedNode node;
  const OrtEpAssignedNode* nodes[1];
};

namespace sardonyx::ort_abi {

// The graph is the model's as it is optimised, before kernels take several of its nodes as one.
class EpAssignment {
 public:
  explicit EpAssignment(const Graph& graph);
  std::span<const OrtEpAssignedSubgraph* const> subgraphs() const { return listed_; }

 private:
  std::deque<OrtEpAssignedSubgraph> subgraphs_;
  std::vector<const OrtEpAssignedSubgraph*> listed_;
};

// Do the entries of a session ask for it?
bool is_assignment_asked_for(const OrtKeyValuePairs& config);

}  // namespace sardonyx::ort_abi
