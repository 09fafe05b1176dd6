// Which nodes of a session's graph which provider runs: the CPU's runs them all, each by itself.
#include "executor/ort_abi/ep/ep_assignment.h"

#include "executor/ort_abi/config_entries.h"
#include "executor/ort_abi/devices.h"
#include "executor/ort_abi/session.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"

namespace sardonyx::ort_abi {
namespace {

OrtStatus* read_text(const OrtEpAssignedNode* node, const char** out,
                     std::string OrtEpAssignedNode::*field) {
  return guarded([&] {
    const char*& place = require_place(out, "out");
    place = (require(node, "ep_node").*field).c_str();
  });
}

constexpr const char* kAssignmentKey = "session.record_ep_graph_assignment_info";

}  // namespace

bool is_assignment_asked_for(const OrtKeyValuePairs& config) {
  return config_value(config, kAssignmentKey) == "1";
}

EpAssignment::EpAssignment(const Graph& graph) {
  for (const auto& node : graph.nodes()) {
    OrtEpAssignedSubgraph& subgraph = subgraphs_.emplace_back();
    subgraph.node = {node->name, std::string(node->op->domain), std::string(node->op->name)};
    subgraph.nodes[0] = &subgraph.node;
  }
  for (const OrtEpAssignedSubgraph& subgraph : subgraphs_)
    listed_.push_back(&subgraph);
}

OrtStatus* Functions::Session_GetEpGraphAssignmentInfo(
    const OrtSession* session, const OrtEpAssignedSubgraph* const** ep_subgraphs,
    size_t* num_ep_subgraphs) {
  return guarded([&] {
    const OrtSession& of = require(session, "session");
    if (!is_assignment_asked_for(of.config)) {
      refuse(ORT_FAIL, "Session configuration entry '", kAssignmentKey,
             "' must be set to \"1\" to retrieve EP graph assignment information.");
    }
    require(ep_subgraphs, "ep_subgraphs");
    require(num_ep_subgraphs, "num_ep_subgraphs");
    *ep_subgraphs = of.assignment->subgraphs().data();
    *num_ep_subgraphs = of.assignment->subgraphs().size();
  });
}

OrtStatus* Functions::EpAssignedSubgraph_GetEpName(const OrtEpAssignedSubgraph* ep_subgraph,
                                                   const char** out) {
  return guarded([&] {
    const char*& place = require_place(out, "out");
    require(ep_subgraph, "ep_subgraph");
    place = cpu_device().ep_name;
  });
}

OrtStatus* Functions::EpAssignedSubgraph_GetNodes(const OrtEpAssignedSubgraph* ep_subgraph,
                                                  const OrtEpAssignedNode* const** ep_nodes,
                                                  size_t* num_ep_nodes) {
  return guarded([&] {
    const OrtEpAssignedNode* const*& place = require_place(ep_nodes, "ep_nodes");
    require(num_ep_nodes, "num_ep_nodes") = 1;
    place = require(ep_subgraph, "ep_subgraph").nodes;
  });
}

OrtStatus* Functions::EpAssignedNode_GetName(const OrtEpAssignedNode* ep_node, const char** out) {
  return read_text(ep_node, out, &OrtEpAssignedNode::name);
}
OrtStatus* Functions::EpAssignedNode_GetDomain(const OrtEpAssignedNode* ep_node, const char** out) {
  return read_text(ep_node, out, &OrtEpAssignedNode::domain);
}
OrtStatus* Functions::EpAssignedNode_GetOperatorType(const OrtEpAssignedNode* ep_node,
                                                     const char** out) {
  return read_text(ep_node, out, &OrtEpAssignedNode::op);
}

}  // namespace sardonyx::ort_abi
