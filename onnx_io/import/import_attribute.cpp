// Attributes, the subgraphs among them, and calls of model-local functions.
#include <algorithm>

#include "onnx_io/import/importer.h"
#include "onnx_io/import/parse.h"

namespace sardonyx::onnx_import {

using onnx_schema::AttributeProto;
using onnx_schema::FunctionProto;
using onnx_schema::GraphProto;
using onnx_schema::NodeProto;

namespace {

using Kind = AttributeProto::AttributeType;

std::vector<Kind> filled_kinds(const AttributeProto& proto) {
  std::vector<Kind> kinds;
  const auto note = [&](bool is_filled, Kind kind) {
    if (is_filled) kinds.push_back(kind);
  };
  note(proto.has_f(), AttributeProto::FLOAT);
  note(proto.has_i(), AttributeProto::INT);
  note(proto.has_s(), AttributeProto::STRING);
  note(proto.has_t(), AttributeProto::TENSOR);
  note(proto.has_g(), AttributeProto::GRAPH);
  note(proto.has_sparse_tensor(), AttributeProto::SPARSE_TENSOR);
  note(proto.has_tp(), AttributeProto::TYPE_PROTO);
  note(proto.floats_size() > 0, AttributeProto::FLOATS);
  note(proto.ints_size() > 0, AttributeProto::INTS);
  note(proto.strings_size() > 0, AttributeProto::STRINGS);
  note(proto.tensors_size() > 0, AttributeProto::TENSORS);
  note(proto.graphs_size() > 0, AttributeProto::GRAPHS);
  note(proto.sparse_tensors_size() > 0, AttributeProto::SPARSE_TENSORS);
  note(proto.type_protos_size() > 0, AttributeProto::TYPE_PROTOS);
  return kinds;
}

// Writers of the first IR version left the kind out, and proto3 writers leave out values that are
// zero or empty.
Kind kind_of(const AttributeProto& proto) {
  const std::vector<Kind> filled = filled_kinds(proto);
  if (filled.size() > 1) {
    fail(ErrorCode::kInvalidModel, "holds values of ", filled.size(), " kinds, expected one");
  }
  if (proto.has_type() && proto.type() != AttributeProto::UNDEFINED) {
    if (!filled.empty() && filled[0] != proto.type()) {
      fail(ErrorCode::kInvalidModel, "its type does not fit the value that it holds");
    }
    return proto.type();
  }
  if (filled.empty()) fail(ErrorCode::kInvalidModel, "has neither a known type nor a value");
  return filled[0];
}

template <typename To, typename Field>
std::vector<To> list_of(const Field& field) {
  return std::vector<To>(field.begin(), field.end());
}

}  // namespace

AttrMap Importer::attributes(Frame& frame, NodeProto& node,
                             const std::vector<std::string>& captured,
                             std::span<const Type> implied) {
  AttrMap attrs;
  std::unordered_set<std::string> seen;
  for (AttributeProto& proto : *node.mutable_attribute()) {
    require_utf8(proto.name(), "attribute name");
    if (proto.name().empty()) fail(ErrorCode::kInvalidModel, "an attribute has no name");
    if (!seen.insert(proto.name()).second) {
      fail(ErrorCode::kInvalidModel, "attribute ", in_quotes(proto.name()), " is given twice");
    }
    try {
      if (std::optional<AttrValue> value = attribute(frame, proto, captured, implied)) {
        attrs.emplace(proto.name(), std::move(*value));
      }
    } catch (const Error& error) {
      if (!error.node().empty()) throw;
      throw error.with_context("attribute " + in_quotes(proto.name()));
    }
  }
  return attrs;
}

std::optional<AttrValue> Importer::attribute(Frame& frame, AttributeProto& proto,
                                             const std::vector<std::string>& captured,
                                             std::span<const Type> implied) {
  if (!proto.ref_attr_name().empty()) {
    const std::string& name = proto.ref_attr_name();
    if (!frame.call) {
      fail(ErrorCode::kInvalidModel, "ref_attr_name ", in_quotes(name),
           " refers to an attribute of a function, but the node is in none");
    }
    if (!frame.call->parameters.contains(name)) {
      fail(ErrorCode::kInvalidModel, "ref_attr_name ", in_quotes(name), ": ", frame.call->label,
           " has no such attribute");
    }
    const auto found = frame.call->attrs.find(name);
    return found == frame.call->attrs.end() ? std::nullopt : std::optional(found->second);
  }
  switch (kind_of(proto)) {
    case AttributeProto::FLOAT:
      return proto.f();
    case AttributeProto::INT:
      return AttrValue(int64_t{proto.i()});
    case AttributeProto::STRING:
      return proto.s();
    case AttributeProto::TENSOR:
      return tensors_.tensor(*proto.mutable_t());
    case AttributeProto::SPARSE_TENSOR:
      return tensors_.sparse(*proto.mutable_sparse_tensor());
    case AttributeProto::GRAPH:
      return subgraph(frame, *proto.mutable_g(), captured, implied);
    case AttributeProto::TYPE_PROTO:
      return types_.type(proto.tp(), "the attribute");
    case AttributeProto::FLOATS:
      return list_of<float>(proto.floats());
    case AttributeProto::INTS:
      return list_of<int64_t>(proto.ints());
    case AttributeProto::STRINGS:
      return list_of<std::string>(proto.strings());
    case AttributeProto::TENSORS: {
      std::vector<Tensor> tensors;
      for (auto& tensor : *proto.mutable_tensors())
        tensors.push_back(tensors_.tensor(tensor));
      return tensors;
    }
    case AttributeProto::SPARSE_TENSORS: {
      std::vector<SparseTensor> tensors;
      for (auto& tensor : *proto.mutable_sparse_tensors())
        tensors.push_back(tensors_.sparse(tensor));
      return tensors;
    }
    case AttributeProto::GRAPHS: {
      std::vector<GraphPtr> graphs;
      for (auto& graph : *proto.mutable_graphs()) {
        graphs.push_back(subgraph(frame, graph, captured, implied));
      }
      return graphs;
    }
    case AttributeProto::TYPE_PROTOS: {
      std::vector<Type> types;
      for (const auto& type : proto.type_protos())
        types.push_back(types_.type(type, "the attribute"));
      return types;
    }
    case AttributeProto::UNDEFINED:
      break;
  }
  fail(ErrorCode::kInvalidModel, "has no type");
}

GraphPtr Importer::subgraph(Frame& frame, GraphProto& proto,
                            const std::vector<std::string>& captured,
                            std::span<const Type> implied) {
  auto graph = std::make_shared<Graph>();
  Frame inner{.graph = *graph,
              .outer = &frame,
              .call = frame.call,
              .opsets = frame.opsets,
              .scope = frame.scope};
  for (const std::string& name : captured) {
    const Value* outer = frame.values.at(name);
    Value* capture = graph->add_capture(name, outer->type);
    capture->dims = outer->dims;
    if (poisoned_.contains(outer)) poisoned_.insert(capture);
    bind(inner, name, capture);
  }
  for (const std::string& name : free_names_.of(proto)) {
    const auto outer = frame.values.find(name);
    if (outer == frame.values.end() || inner.values.contains(name)) continue;
    Value* value = outer->second;
    bind(inner, name, value ? graph->add_constant(name, *value->constant) : nullptr);
  }
  import_graph(inner, proto, implied);
  return graph;
}

FunctionCall Importer::function_call(Frame& frame, NodeProto& node, FunctionProto& function) {
  FunctionCall call{
      .label = label_of(function), .attrs = attributes(frame, node, {}, {}), .parameters = {}};
  call.parameters.insert(function.attribute().begin(), function.attribute().end());
  for (const auto& [name, value] : call.attrs) {
    const bool is_graph = std::holds_alternative<GraphPtr>(value) ||
                          std::holds_alternative<std::vector<GraphPtr>>(value);
    if (is_graph)
      fail(ErrorCode::kUnsupported, "attribute ", in_quotes(name),
           ": functions with graphs as attributes");
  }
  for (const std::string& name : function.attribute()) {
    if (!call.attrs.contains(name)) {
      fail(ErrorCode::kInvalidModel, call.label, " needs the attribute ", in_quotes(name),
           ", which the call does not give");
    }
  }
  Frame defaults{.graph = frame.graph, .opsets = frame.opsets};
  for (AttributeProto& proto : *function.mutable_attribute_proto()) {
    call.parameters.insert(proto.name());
    if (call.attrs.contains(proto.name())) continue;
    std::optional<AttrValue> value = attribute(defaults, proto, {}, {});
    if (value) call.attrs.emplace(proto.name(), std::move(*value));
  }
  for (const auto& [name, value] : call.attrs) {
    if (!call.parameters.contains(name)) {
      fail(ErrorCode::kInvalidModel, call.label, " has no attribute ", in_quotes(name));
    }
  }
  return call;
}

void Importer::expand(Frame& frame, NodeProto& node, FunctionProto& function) {
  const FunctionCall call = function_call(frame, node, function);
  const auto [opsets, is_new] = function_opsets_.try_emplace(&function);
  if (is_new) opsets->second = read_opsets(function.opset_import(), call.label);
  const std::string own = node.name().empty() ? node.op_type() : node.name();
  Frame inner{.graph = frame.graph,
              .call = &call,
              .opsets = &opsets->second,
              .scope = frame.scope.empty() ? own : frame.scope + "." + own,
              .names_are_final = false};
  const Vals inputs = node_inputs(frame, node);
  if (inputs.size() > static_cast<size_t>(function.input_size())) {
    fail(ErrorCode::kInvalidModel, call.label, " has ", function.input_size(),
         " inputs, the call gives ", inputs.size());
  }
  for (int i = 0; i < function.input_size(); ++i) {
    check_new_name(inner, function.input(i), "function input");
    const auto index = static_cast<size_t>(i);
    bind(inner, function.input(i),
         index < inputs.size() ? GraphEmitter::unwrap(inputs[index]) : nullptr);
  }
  try {
    import_nodes(inner, *function.mutable_node());
  } catch (const Error& error) {
    throw error.with_context(call.label);
  }
  if (node.output_size() > function.output_size()) {
    fail(ErrorCode::kInvalidModel, call.label, " has ", function.output_size(),
         " outputs, the call names ", node.output_size());
  }
  Vals results;
  for (const std::string& output : function.output()) {
    const auto found = inner.values.find(output);
    if (found == inner.values.end()) {
      fail(ErrorCode::kInvalidModel, call.label, " never produces its output ", in_quotes(output));
    }
    results.push_back(GraphEmitter::wrap(found->second));
  }
  GraphEmitter emitter(frame.graph);
  emitter.set_origin(inner.scope, frame.scope, "");
  bind_outputs(frame, node, results, emitter);
}

}  // namespace sardonyx::onnx_import
