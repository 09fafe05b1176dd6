#include "onnx_io/export/exporter.h"

#include <algorithm>

#include "ir/core/run_control.h"
#include "ir/op_def.h"
#include "onnx_io/adopted.h"
#include "onnx_io/export/encode_attribute.h"
#include "onnx_io/export/encode_tensor.h"
#include "onnx_io/export/encode_type.h"
#include "onnx_io/load.h"
#include "onnx_io/metadata.h"
#include "onnx_io/op_versions.h"

namespace sardonyx::onnx_export {

using onnx_schema::AttributeProto;
using onnx_schema::GraphProto;
using onnx_schema::ModelProto;
using onnx_schema::NodeProto;
using onnx_schema::TensorProto;
using onnx_schema::ValueInfoProto;

namespace {

constexpr std::string_view kProducer = "sardonyx";

// The domain that files name for an operator.
std::string written_domain(const OpDef& op) {
  const bool is_adopted = op.domain == "com.microsoft" && adopted_below(op.name);
  return is_adopted ? "" : std::string(op.domain);
}

// The oldest IR version that knows what an opset needs, so that readers of that time take the file.
int64_t ir_version_for(int64_t opset) {
  constexpr std::pair<int64_t, int64_t> kFirstOpsets[] = {{26, 13}, {25, 13}, {24, 12}, {23, 11},
                                                          {21, 10}, {19, 9},  {15, 8},  {12, 7},
                                                          {11, 6},  {10, 5}};
  for (const auto& [first, ir_version] : kFirstOpsets) {
    if (opset >= first) return ir_version;
  }
  return 4;  // initializers need not be inputs
}

template <typename Entries>
void add_entry(Entries& entries, std::string_view key, const std::string& value) {
  auto& entry = *entries.Add();
  entry.set_key(std::string(key));
  entry.set_value(value);
}

void write_value(const std::string& name, const Type& type, ValueInfoProto& proto) {
  proto.set_name(name);
  if (!type.is_none()) *proto.mutable_type() = encode(type);
}

}  // namespace

Exporter::Exporter(int64_t opset, Place place) : opset_(opset), place_(std::move(place)) {}

ModelProto Exporter::run(const Model& model) {
  ModelProto proto;
  const bool keeps_opset = model.opsets.contains("") && model.opsets.at("") == opset_;
  proto.set_ir_version(
      std::max(ir_version_for(opset_), keeps_opset ? model.ir_version : int64_t{0}));
  proto.set_producer_name(model.producer_name.empty() ? std::string(kProducer)
                                                      : model.producer_name);
  if (!model.producer_version.empty()) proto.set_producer_version(model.producer_version);
  if (!model.domain.empty()) proto.set_domain(model.domain);
  if (model.model_version != 0) proto.set_model_version(model.model_version);
  if (!model.doc.empty()) proto.set_doc_string(model.doc);
  for (const auto& [key, value] : model.metadata)
    add_entry(*proto.mutable_metadata_props(), key, value);
  write_graph(*model.graph, *proto.mutable_graph());
  if (!refused_.empty()) {
    std::string list;
    for (const std::string& line : refused_)
      list += "\n  " + line;
    fail(ErrorCode::kUnsupported, "opset ", opset_, " can't express ", refused_.size(),
         refused_.size() == 1 ? " node:" : " nodes:", list);
  }
  write_opsets(proto);
  return proto;
}

void Exporter::write_opsets(ModelProto& proto) const {
  auto& onnx = *proto.add_opset_import();
  onnx.set_domain("");
  onnx.set_version(opset_);
  for (const auto& [domain, version] : domains_) {
    auto& import = *proto.add_opset_import();
    import.set_domain(domain);
    import.set_version(version);
  }
}

void Exporter::write_graph(const Graph& graph, GraphProto& proto) {
  names_.enter(graph);
  proto.set_name(graph.name.empty() ? "graph" : graph.name);
  if (!graph.doc.empty()) proto.set_doc_string(graph.doc);
  for (const Value* input : graph.inputs()) {
    write_value(names_.of(input), input->type, *proto.add_input());
    if (input->default_value) write_initializer(*input->default_value, names_.of(input), proto);
  }
  for (const auto& node : graph.nodes()) {
    check_interrupted();
    write_node(*node, proto);
  }
  write_outputs(graph, proto);
  write_constants(proto);
  names_.leave();
}

void Exporter::write_constants(GraphProto& proto) {
  for (const Value* constant : names_.constants()) {
    const std::string& name = names_.of(constant);
    // A constant that older forms have as an attribute is read by nobody any more.
    if (constant->uses.empty() || read_names_.contains(name))
      write_initializer(*constant->constant, name, proto);
  }
}

void Exporter::write_initializer(const Tensor& tensor, const std::string& name, GraphProto& proto) {
  TensorProto header = tensor_header(tensor, name);
  const bool is_string = tensor.dtype() == DType::kString;
  if (!is_string && place_ && place_(header, tensor)) {
    *proto.add_initializer() = std::move(header);
  } else if (!is_string && depth_ == 0) {
    pending_.push_back({std::move(header), tensor});
  } else {
    *proto.add_initializer() = encode(tensor, name);
  }
}

void Exporter::write_outputs(const Graph& graph, GraphProto& proto) {
  std::unordered_set<const Value*> seen;
  const auto& captures = graph.captures();
  for (const Value* output : graph.outputs()) {
    std::string name = names_.of(output);
    read_names_.insert(name);
    // An outer value, or one that is an output already, comes out under a name of its own.
    const bool is_capture = std::find(captures.begin(), captures.end(), output) != captures.end();
    const auto& constants = names_.constants();
    const bool is_outer = output->constant &&
                          std::find(constants.begin(), constants.end(), output) == constants.end();
    if (!seen.insert(output).second || is_capture || is_outer) {
      NodeProto& identity = *proto.add_node();
      identity.set_op_type("Identity");
      identity.add_input(name);
      name = names_.fresh(output->name + "_output");
      identity.add_output(name);
    }
    write_value(name, output->type, *proto.add_output());
  }
  for (const auto& node : graph.nodes()) {
    for (const Value* value : node->outputs) {
      if (!value || value->type.is_none() || graph.is_output(*value)) continue;
      write_value(names_.of(value), value->type, *proto.add_value_info());
    }
  }
}

void Exporter::note_operator(const OpDef& op) {
  if (written_domain(op).empty()) return;
  const std::optional<OpVersions> versions = versions_of(op.domain, op.name);
  int64_t version = op.since;
  // An operator that was removed needs the opset before.
  if (versions && versions->removed.back()) version = versions->since.back() - 1;
  int64_t& imported = domains_.try_emplace(std::string(op.domain), version).first->second;
  imported = std::max(imported, version);
}

void Exporter::refuse(const Node& node, const std::string& why) {
  const int64_t first = first_opset_with(node, opset_);
  const std::string remedy = first > 0 ? text("; save in opset ", first, " or later") : "";
  refused_.push_back(full_name(*node.op) + " \"" + node.name + "\"" +
                     (node.source.empty() ? "" : " at " + node.source) + ": " + why + remedy);
}

// Parts of a written-out op bear its name, but readers want each name once.
std::string Exporter::own_node_name(const std::string& name) {
  std::string own = name;
  for (size_t k = 1; !node_names_.insert(own).second; ++k)
    own = name + "." + std::to_string(k);
  return own;
}

void Exporter::write_node(const Node& node, GraphProto& graph) {
  if (node.op->domain == "sardonyx" && node.op->name == "SparseConstant") {
    const auto sparse = std::get<SparseTensor>(newest_call(node).attrs.at("value"));
    *graph.add_sparse_initializer() = encode(sparse, names_.of(node.outputs[0]));
    return;
  }
  if (node.op->domain == "sardonyx" && !node.op->body) {
    refused_.push_back(full_name(*node.op) + " \"" + node.name + "\"" +
                       (node.source.empty() ? "" : " at " + node.source) +
                       ": ONNX has no form of it; it runs at once and compiled only");
    return;
  }
  WrittenCall call = newest_call(node);
  note_operator(*node.op);
  if (node.op->domain.empty() && opset_ < kNewestOpset) {
    if (const std::string why = downgrade(call, opset_); !why.empty()) {
      refuse(node, why);
      return;
    }
  }
  for (const std::shared_ptr<Value>& constant : call.made) {
    names_.add_made(constant.get());
    made_.push_back(constant);
  }
  NodeProto proto;
  proto.set_op_type(call.op);
  if (const std::string domain = written_domain(*node.op); !domain.empty())
    proto.set_domain(domain);
  if (!node.name.empty()) proto.set_name(own_node_name(node.name));
  for (const Value* input : call.inputs) {
    proto.add_input(names_.of(input));
    read_names_.insert(names_.of(input));
  }
  for (const Value* output : node.outputs)
    proto.add_output(names_.of(output));
  while (proto.input_size() > 0 && proto.input(proto.input_size() - 1).empty()) {
    proto.mutable_input()->RemoveLast();
  }
  if (!node.scope.empty()) add_entry(*proto.mutable_metadata_props(), kScopeKey, node.scope);
  if (!node.source.empty()) add_entry(*proto.mutable_metadata_props(), kSourceKey, node.source);
  write_attributes(node, call.attrs, proto);
  *graph.add_node() = std::move(proto);
}

void Exporter::write_attributes(const Node& node, const AttrMap& attrs, NodeProto& proto) {
  for (const auto& [name, value] : attrs) {
    AttributeProto& attribute = *proto.add_attribute();
    attribute.set_name(name);
    write_attribute(node, value, attribute);
  }
}

void Exporter::write_subgraph(const Node& node, const Graph& graph, GraphProto& proto) {
  const size_t first = node.formal_inputs();
  SARDONYX_CHECK(graph.captures().size() == node.captures);
  for (size_t i = 0; i < node.captures; ++i)
    names_.alias(graph.captures()[i], node.inputs[first + i]);
  ++depth_;
  write_graph(graph, proto);
  --depth_;
}

void Exporter::write_attribute(const Node& node, const AttrValue& value, AttributeProto& proto) {
  if (const auto* graph = std::get_if<GraphPtr>(&value)) {
    proto.set_type(AttributeProto::GRAPH);
    write_subgraph(node, **graph, *proto.mutable_g());
  } else if (const auto* graphs = std::get_if<std::vector<GraphPtr>>(&value)) {
    proto.set_type(AttributeProto::GRAPHS);
    for (const GraphPtr& item : *graphs)
      write_subgraph(node, *item, *proto.add_graphs());
  } else {
    encode(value, proto);
  }
}

}  // namespace sardonyx::onnx_export
