// Names in the messages of a graph: what its subgraphs take from outside, and an order in which
// nodes can be read.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "onnx_io/onnx.pb.h"

namespace sardonyx::onnx_import {

class FunctionTable;

using NodeList = google::protobuf::RepeatedPtrField<onnx_schema::NodeProto>;

// Finds the names that graphs and functions use without defining them, each of them once.
class FreeNames {
 public:
  // `functions` may be null, and must have no function that reaches itself.
  explicit FreeNames(const FunctionTable* functions = nullptr) : functions_(functions) {}

  // The free names of a subgraph, or a function, in the order of their first use.
  const std::vector<std::string>& of(const onnx_schema::GraphProto& graph);
  const std::vector<std::string>& of(const onnx_schema::FunctionProto& function);
  // The free names of the subgraphs of a node and of the function that it calls, taken together.
  std::vector<std::string> within(const onnx_schema::NodeProto& node);
  // Whether anything in the graph asks for a value of this name.
  bool is_used(const onnx_schema::GraphProto& graph, const std::string& name);

 private:
  template <typename Definer>
  const std::vector<std::string>& found(const Definer& definer);

  const FunctionTable* functions_;
  std::unordered_map<const void*, std::vector<std::string>> known_;  // by message
};

// "Relu \"conv1/relu\"", or by its first output where it has no name.
std::string label_of(const onnx_schema::NodeProto& node);

// Indices of the nodes so that each comes after those whose outputs it uses; nodes that are in
// order already stay as they are. Throws kInvalidModel naming the nodes of a cycle, and where two
// nodes produce one value.
std::vector<int> sorted_nodes(const NodeList& nodes, FreeNames& free_names);

}  // namespace sardonyx::onnx_import
