// The exporter: writes a graph as the messages of a file.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"
#include "onnx_io/export/downgrade.h"
#include "onnx_io/export/names.h"
#include "onnx_io/onnx.pb.h"

namespace sardonyx::onnx_export {

// A tensor whose elements are written by the caller.
struct PendingTensor {
  onnx_schema::TensorProto header;
  Tensor tensor;
};

class Exporter {
 public:
  // `place` is asked for every tensor of an initializer. It may set where the elements are and take
  // them.
  using Place = std::function<bool(onnx_schema::TensorProto& header, const Tensor& tensor)>;
  Exporter(int64_t opset, Place place);

  // The model without the initializers of its main graph that were not placed: these are in
  // pending().
  onnx_schema::ModelProto run(const Model& model);
  const std::vector<PendingTensor>& pending() const { return pending_; }

 private:
  void write_graph(const Graph& graph, onnx_schema::GraphProto& proto);
  void write_constants(onnx_schema::GraphProto& proto);
  void write_node(const Node& node, onnx_schema::GraphProto& proto);
  void write_attributes(const Node& node, const AttrMap& attrs, onnx_schema::NodeProto& proto);
  void write_attribute(const Node& node, const AttrValue& value,
                       onnx_schema::AttributeProto& proto);
  void write_subgraph(const Node& node, const Graph& graph, onnx_schema::GraphProto& proto);
  void write_outputs(const Graph& graph, onnx_schema::GraphProto& proto);
  void write_initializer(const Tensor& tensor, const std::string& name,
                         onnx_schema::GraphProto& proto);
  void refuse(const Node& node, const std::string& why);
  std::string own_node_name(const std::string& name);
  void note_operator(const OpDef& op);
  void write_opsets(onnx_schema::ModelProto& proto) const;

  int64_t opset_;
  Place place_;
  Names names_;
  int depth_ = 0;
  std::unordered_set<std::string> node_names_;
  std::unordered_set<std::string> read_names_;  // by nodes and as outputs, in all graphs
  std::vector<std::shared_ptr<Value>> made_;    // constants that older forms ask for
  std::vector<PendingTensor> pending_;
  std::map<std::string, int64_t> domains_;  // other than ai.onnx: the version to import
  std::vector<std::string> refused_;        // nodes without a form in the opset
};

}  // namespace sardonyx::onnx_export
