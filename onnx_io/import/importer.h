// The importer: reads the messages of a file into a graph.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"
#include "onnx_io/check.h"
#include "onnx_io/import/decode_tensor.h"
#include "onnx_io/import/decode_type.h"
#include "onnx_io/import/functions.h"
#include "onnx_io/import/leniency.h"
#include "onnx_io/import/names.h"
#include "onnx_io/load.h"
#include "onnx_io/onnx.pb.h"
#include "onnx_io/upgrade/upgrade.h"

namespace sardonyx::onnx_import {

// A function while it is expanded in place of one call.
struct FunctionCall {
  std::string label;
  AttrMap attrs;                               // given by the call, or defaults
  std::unordered_set<std::string> parameters;  // all attributes that the function has
};

// Where names are looked up: one graph of the file, or one expanded function.
struct NameScope {
  Graph& graph;
  const NameScope* outer = nullptr;    // of the enclosing graph
  const FunctionCall* call = nullptr;  // of the function that the nodes belong to
  const Opsets* opsets = nullptr;
  std::string scope;                               // of expanded functions: "encoder.layer3"
  bool names_are_final = true;                     // values keep the names of the file
  std::unordered_map<std::string, Value*> values;  // null: an optional input that was not given
  std::unordered_map<std::string, Type> declared;  // by value_info and outputs
  // Initializers that are outputs of this type.
  std::unordered_map<std::string, SparseTensor> sparse_outputs;
};

// Whether an attribute is a graph or a list of them, not a reference to one.
bool holds_graph(const onnx_schema::AttributeProto& proto);

class Importer {
 public:
  // Takes tensors out of `proto`. Without `problems` the first fault is thrown; with it, all are
  // noted.
  Importer(onnx_schema::ModelProto& proto, RawData raw_data, const LoadOptions& options,
           ExternalFiles* external, std::vector<Problem>* problems);
  Model run();

 private:
  using DimList = google::protobuf::RepeatedField<int64_t>;
  // Of one graph, by name: the elements, of sparse ones those that are not zero, and the shape.
  struct Initializer {
    const onnx_schema::TensorProto* tensor;
    const DimList* dims;
  };
  using Initializers = std::unordered_map<std::string, Initializer>;

  // Runs `work`; true if it went well. A fault is thrown with `label`, a function or "", before it,
  // or noted.
  template <typename Label, typename Work>
  bool guarded(const Label& label, const std::string& node, const Work& work);

  // ---- importer.cpp: graphs ----
  void read_header();
  void import_graph(NameScope& name_scope, onnx_schema::GraphProto& proto,
                    std::span<const Type> implied);
  void add_inputs(NameScope& name_scope, onnx_schema::GraphProto& proto,
                  std::span<const Type> implied);
  void add_input(NameScope& name_scope, onnx_schema::ValueInfoProto& proto, const Type* implied,
                 onnx_schema::TensorProto* initializer);
  void add_initializers(NameScope& name_scope, onnx_schema::GraphProto& proto);
  const Tensor& initializer(const NameScope& name_scope, onnx_schema::TensorProto& proto);
  const Tensor* given_initializer(const NameScope& name_scope, const std::string& name,
                                  int64_t dtype, const DimList& dims);
  void check_given_are_used() const;
  void note_repeated(const Initializers& earlier, const onnx_schema::TensorProto& tensor,
                     const DimList& dims) const;
  void read_declared(NameScope& name_scope, const onnx_schema::GraphProto& proto);
  Type of_both(const Type& first, const Type& second, const std::string& name) const;
  void add_outputs(NameScope& name_scope, const onnx_schema::GraphProto& proto);
  Value* sparse_output(NameScope& name_scope, const std::string& name, Value& dense);
  void bind(NameScope& name_scope, const std::string& name, Value* value);
  void check_new_name(const NameScope& name_scope, const std::string& name,
                      std::string_view what) const;
  void vacate_name(NameScope& name_scope, const std::string& name);
  Value* placeholder(NameScope& name_scope);
  Type reconciled(const Type& inferred, const Type& declared, const std::string& name) const;
  Type declared_type(const NameScope& name_scope, const std::string& name,
                     const Type& inferred) const;

  // ---- import_node.cpp: nodes ----
  void check_outputs(const NameScope& name_scope, const onnx_schema::NodeProto& node) const;
  void import_nodes(NameScope& name_scope, NodeList& nodes);
  void import_node(NameScope& name_scope, onnx_schema::NodeProto& node);
  void poison_outputs(NameScope& name_scope, const onnx_schema::NodeProto& node);
  Vals node_inputs(const NameScope& name_scope, const onnx_schema::NodeProto& node) const;
  RawCall raw_call(NameScope& name_scope, onnx_schema::NodeProto& node, GraphEmitter& emitter);
  int64_t opset_of(const NameScope& name_scope, const RawCall& call,
                   const onnx_schema::NodeProto& node) const;
  void find_version(const NameScope& name_scope, RawCall& call,
                    const onnx_schema::NodeProto& node) const;
  void mend(RawCall& call, const onnx_schema::NodeProto& node) const;
  void mend_ranks(RawCall& call, const onnx_schema::NodeProto& node) const;
  void mend_axes(RawCall& call, const onnx_schema::NodeProto& node) const;
  void mend_flags(RawCall& call, const onnx_schema::NodeProto& node) const;
  void mend_slope(RawCall& call, const onnx_schema::NodeProto& node) const;
  void mend_group_scales(RawCall& call, const onnx_schema::NodeProto& node) const;
  void mend_statistics_axes(RawCall& call, const onnx_schema::NodeProto& node) const;
  void note_empty_tuples(const RawCall& call, const onnx_schema::NodeProto& node) const;
  void import_gradient(NameScope& name_scope, const onnx_schema::NodeProto& node, RawCall& call,
                       GraphEmitter& emitter);
  void check_rank(const std::string& name, const Type& type) const;
  void append_node(NameScope& name_scope, const onnx_schema::NodeProto& node, RawCall& call);
  void bind_outputs(NameScope& name_scope, const onnx_schema::NodeProto& node, const Vals& results,
                    GraphEmitter& emitter);
  void take_output(NameScope& name_scope, const std::string& name, Value* value,
                   GraphEmitter& emitter);

  // ---- import_constant.cpp: Constant nodes ----
  void mend_constants(NodeList& nodes) const;
  void drop_repeated_constants(NodeList& nodes) const;
  void prefer_constants(NameScope& name_scope, NodeList& nodes);
  void import_constant(NameScope& name_scope, onnx_schema::NodeProto& node);

  // ---- import_attribute.cpp: attributes, subgraphs ----
  AttrMap attributes(NameScope& name_scope, onnx_schema::NodeProto& node,
                     const std::vector<std::string>& captured, std::span<const Type> implied,
                     bool skips_graphs = false);
  std::optional<AttrValue> referred_attribute(const FunctionCall& call,
                                              const std::string& name) const;
  std::optional<AttrValue> attribute(NameScope& name_scope, onnx_schema::AttributeProto& proto,
                                     const std::vector<std::string>& captured,
                                     std::span<const Type> implied);
  GraphPtr subgraph(NameScope& name_scope, onnx_schema::GraphProto& proto,
                    const std::vector<std::string>& captured, std::span<const Type> implied);

  // ---- import_function.cpp: function calls ----
  void bind_parameters(NameScope& inner, const onnx_schema::FunctionProto& function,
                       const Vals& inputs);
  void bind_outer_names(const NameScope& name_scope, NameScope& inner,
                        const onnx_schema::FunctionProto& function);
  FunctionCall function_call(NameScope& name_scope, onnx_schema::NodeProto& node,
                             onnx_schema::FunctionProto& function);
  void expand(NameScope& name_scope, onnx_schema::NodeProto& node,
              onnx_schema::FunctionProto& function);
  onnx_schema::FunctionProto& with_graphs(NameScope& name_scope, const onnx_schema::NodeProto& node,
                                          onnx_schema::FunctionProto& function, NameScope& inner);
  void check_graph_given(const NameScope& name_scope, NameScope& inner,
                         onnx_schema::GraphProto& graph) const;

  onnx_schema::ModelProto& proto_;
  const LoadOptions& options_;
  Leniency leniency_;
  std::vector<Problem>* problems_;
  Model model_;
  TensorDecoder tensors_;
  TypeDecoder types_;
  FreeNames free_names_;
  std::unique_ptr<FunctionTable> functions_;
  Opsets opsets_;
  std::unordered_map<const onnx_schema::FunctionProto*, Opsets> function_opsets_;
  std::deque<onnx_schema::FunctionProto> specialised_;  // functions with graphs put in
  size_t specialised_bytes_ = 0, graphs_put_in_ = 0;
  std::unordered_set<const Value*> named_;            // values that bear a name of the file
  std::unordered_set<const Value*> poisoned_;         // stand in for what could not be made
  std::unordered_map<std::string, Tensor> replaced_;  // initializers, by the caller's
};

template <typename Label, typename Work>
bool Importer::guarded(const Label& label_of_work, const std::string& node, const Work& work) {
  try {
    try {
      work();
      return true;
    } catch (const std::bad_alloc&) {
      fail(ErrorCode::kResourceExhausted, "out of memory");
    }
  } catch (const Error& error) {
    std::string label;
    if constexpr (std::is_invocable_v<Label>) label = label_of_work();
    const bool stops =
        error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kDeadlineExceeded;
    // Inference names its node itself; a subgraph's fault is told with the nodes around it.
    const bool is_told = label.empty() || (!node.empty() && error.node() == node);
    Error located = is_told ? error : error.with_context(label);
    if (located.node().empty()) located = located.at_node(node);
    if (!problems_ || stops) throw located;
    problems_->push_back({located.code(), located.node(), located.what()});
  }
  return false;
}

}  // namespace sardonyx::onnx_import
