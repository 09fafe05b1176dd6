#include "onnx_io/model_addition.h"

#include <algorithm>

#include "ir/core/bad_alloc.h"
#include "onnx_io/export/encode_attribute.h"
#include "onnx_io/export/encode_tensor.h"
#include "onnx_io/export/encode_type.h"
#include "onnx_io/import/parse.h"

namespace sardonyx {
namespace {

using onnx_schema::GraphProto;
using onnx_schema::ModelProto;
using onnx_schema::NodeProto;

ModelProto parsed_model(std::span<const std::byte> bytes, const LoadLimits& limits) {
  ModelProto proto;
  if (bytes.empty()) {
    proto.set_ir_version(kNewestIrVersion);
    proto.mutable_graph()->set_name("graph");
  } else {
    onnx_import::parse_message(bytes, "the model", ErrorCode::kInvalidModel, limits, proto);
  }
  return proto;
}

auto* import_of(ModelProto& proto, std::string_view domain) {
  auto& imports = *proto.mutable_opset_import();
  const auto at = std::ranges::find_if(imports, [&](const auto& import) {
    return canonical_domain(import.domain()) == canonical_domain(domain);
  });
  return at == imports.end() ? nullptr : &*at;
}

void add_opsets(ModelProto& proto, const std::map<std::string, int64_t>& opsets) {
  for (const auto& [domain, version] : opsets) {
    auto* known = import_of(proto, domain);
    if (known) {
      known->set_version(std::max(known->version(), version));
      continue;
    }
    auto& import = *proto.add_opset_import();
    import.set_domain(std::string(canonical_domain(domain)));
    import.set_version(version);
  }
}

void add_node(GraphProto& graph, const AddedNode& node) {
  NodeProto& proto = *graph.add_node();
  proto.set_op_type(node.op);
  proto.set_domain(std::string(canonical_domain(node.domain)));
  proto.set_name(node.name);
  for (const std::string& input : node.inputs)
    proto.add_input(input);
  for (const std::string& output : node.outputs)
    proto.add_output(output);
  for (const auto& [name, value] : node.attrs) {
    auto& attribute = *proto.add_attribute();
    attribute.set_name(name);
    if (!onnx_export::encode(value, attribute)) {
      fail(ErrorCode::kUnsupported, node.op, " ", node.name, ": attribute ", name,
           ": graphs can't be added");
    }
  }
}

void set_values(google::protobuf::RepeatedPtrField<onnx_schema::ValueInfoProto>& list,
                const std::vector<AddedValue>& values) {
  if (values.empty()) return;
  list.Clear();
  for (const AddedValue& value : values) {
    auto& proto = *list.Add();
    proto.set_name(value.name);
    if (!value.type.is_none()) *proto.mutable_type() = onnx_export::encode(value.type);
  }
}

}  // namespace

std::string with_addition(std::span<const std::byte> bytes, const ModelAddition& addition,
                          const LoadLimits& limits) {
  return reporting_out_of_memory([&] {
    ModelProto proto = parsed_model(bytes, limits);
    GraphProto& graph = *proto.mutable_graph();
    add_opsets(proto, addition.opsets);
    set_values(*graph.mutable_input(), addition.inputs);
    set_values(*graph.mutable_output(), addition.outputs);
    for (const auto& [name, tensor] : addition.initializers)
      *graph.add_initializer() = onnx_export::tensor_header(tensor, name);
    for (const AddedNode& node : addition.nodes)
      add_node(graph, node);
    return onnx_export::serialized(proto);
  });
}

}  // namespace sardonyx
