// Builds models message by message, for tests.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/reference_evaluator.h"
#include "onnx_io/export/encode_tensor.h"
#include "onnx_io/load.h"
#include "onnx_io/onnx.pb.h"

namespace sardonyx::test {

using onnx_schema::GraphProto;
using onnx_schema::ModelProto;
using onnx_schema::NodeProto;
using onnx_schema::ValueInfoProto;

using DimSpec = std::variant<int, std::string>;
using Names = std::vector<std::string>;

inline void set_attributes(NodeProto& node, const AttrMap& attrs) {
  for (const auto& [name, value] : attrs) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    if (const auto* i = std::get_if<int64_t>(&value)) {
      attribute.set_type(onnx_schema::AttributeProto::INT);
      attribute.set_i(*i);
    } else if (const auto* f = std::get_if<float>(&value)) {
      attribute.set_type(onnx_schema::AttributeProto::FLOAT);
      attribute.set_f(*f);
    } else if (const auto* s = std::get_if<std::string>(&value)) {
      attribute.set_type(onnx_schema::AttributeProto::STRING);
      attribute.set_s(*s);
    } else if (const auto* t = std::get_if<Tensor>(&value)) {
      attribute.set_type(onnx_schema::AttributeProto::TENSOR);
      *attribute.mutable_t() = onnx_export::encode(*t, "");
    } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) {
      attribute.set_type(onnx_schema::AttributeProto::INTS);
      for (const int64_t item : *ints)
        attribute.add_ints(item);
    } else if (const auto* floats = std::get_if<std::vector<float>>(&value)) {
      attribute.set_type(onnx_schema::AttributeProto::FLOATS);
      for (const float item : *floats)
        attribute.add_floats(item);
    } else if (const auto* strings = std::get_if<std::vector<std::string>>(&value)) {
      attribute.set_type(onnx_schema::AttributeProto::STRINGS);
      for (const std::string& item : *strings)
        attribute.add_strings(item);
    }
  }
}

inline NodeProto& add_node(google::protobuf::RepeatedPtrField<NodeProto>& nodes,
                           const std::string& op, const Names& inputs, const Names& outputs,
                           const AttrMap& attrs = {}) {
  NodeProto& node = *nodes.Add();
  node.set_op_type(op);
  node.set_name(op + "_" + std::to_string(nodes.size() - 1));
  for (const std::string& input : inputs)
    node.add_input(input);
  for (const std::string& output : outputs)
    node.add_output(output);
  set_attributes(node, attrs);
  return node;
}

inline void set_type(ValueInfoProto& info, DType dtype,
                     const std::optional<std::vector<DimSpec>>& dims) {
  auto& tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(static_cast<int>(dtype));
  if (!dims) return;
  tensor.mutable_shape();
  for (const DimSpec& dim : *dims) {
    auto& written = *tensor.mutable_shape()->add_dim();
    if (const int* value = std::get_if<int>(&dim)) {
      written.set_dim_value(*value);
    } else {
      written.set_dim_param(std::get<std::string>(dim));
    }
  }
}

struct GraphBuilder {
  GraphProto& graph;

  void input(const std::string& name, DType dtype = DType::kFloat,
             const std::optional<std::vector<DimSpec>>& dims = std::nullopt) {
    ValueInfoProto& info = *graph.add_input();
    info.set_name(name);
    set_type(info, dtype, dims);
  }
  void untyped_input(const std::string& name) { graph.add_input()->set_name(name); }
  void output(const std::string& name) { graph.add_output()->set_name(name); }
  void output(const std::string& name, DType dtype,
              const std::optional<std::vector<DimSpec>>& dims = std::nullopt) {
    output(name);
    set_type(*graph.mutable_output(graph.output_size() - 1), dtype, dims);
  }
  void initializer(const std::string& name, const Tensor& tensor) {
    *graph.add_initializer() = onnx_export::encode(tensor, name);
  }
  NodeProto& node(const std::string& op, const Names& inputs, const Names& outputs,
                  const AttrMap& attrs = {}) {
    return add_node(*graph.mutable_node(), op, inputs, outputs, attrs);
  }
};

// The attribute's graph.
inline GraphBuilder add_subgraph(NodeProto& node, const std::string& name) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx_schema::AttributeProto::GRAPH);
  attribute.mutable_g()->set_name(name);
  return {*attribute.mutable_g()};
}

struct ModelBuilder {
  ModelProto proto;

  explicit ModelBuilder(int64_t opset = kNewestOpset, int64_t ir_version = kNewestIrVersion) {
    proto.set_ir_version(ir_version);
    import("", opset);
    proto.mutable_graph()->set_name("test");
  }
  void import(const std::string& domain, int64_t version) {
    auto& import = *proto.add_opset_import();
    import.set_domain(domain);
    import.set_version(version);
  }
  GraphBuilder graph() { return {*proto.mutable_graph()}; }
  std::string bytes() const { return onnx_export::serialized(proto); }
  Model load(const LoadOptions& options = {}) const {
    const std::string serialized = bytes();
    return load_model(std::as_bytes(std::span(serialized)), options);
  }
};

// The message of the error that loading ends with; "" where there is none.
inline std::string load_error(const ModelBuilder& model, const LoadOptions& options = {}) {
  try {
    model.load(options);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

inline Tensor floats(const std::vector<float>& values) {
  return Tensor::vector(values);
}

// The outputs of the loaded model for `inputs`.
inline std::vector<Datum> run(const ModelBuilder& model, const std::vector<Datum>& inputs) {
  const Model loaded = model.load();
  verify(*loaded.graph);
  return evaluate(*loaded.graph, inputs);
}

// A function of the domain "local".
inline onnx_schema::FunctionProto& add_function(ModelBuilder& model, const std::string& name,
                                                const Names& inputs, const Names& outputs) {
  auto& function = *model.proto.add_functions();
  function.set_domain("local");
  function.set_name(name);
  for (const std::string& input : inputs)
    function.add_input(input);
  for (const std::string& output : outputs)
    function.add_output(output);
  auto& import = *function.add_opset_import();
  import.set_domain("");
  import.set_version(13);
  return function;
}

inline void call(GraphBuilder graph, const std::string& function, const Names& inputs,
                 const Names& outputs, const AttrMap& attrs = {}) {
  graph.node(function, inputs, outputs, attrs).set_domain("local");
}

// x -> y, to be filled with calls of functions.
inline ModelBuilder function_model() {
  ModelBuilder model;
  model.import("local", 1);
  model.graph().input("x", DType::kFloat, {{"n"}});
  model.graph().output("y");
  return model;
}

}  // namespace sardonyx::test
