// Attributes and the subgraphs among them.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>

#include "onnx_io/import/importer.h"
#include "onnx_io/import/parse.h"

namespace sardonyx::onnx_import {

using onnx_schema::AttributeProto;
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

// Protobuf keeps a number that is none of the enum's aside, as if no type were there.
std::optional<uint32_t> unknown_type(const AttributeProto& proto) {
  using google::protobuf::internal::WireFormatLite;
  const std::string& rest = proto.unknown_fields();
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(rest.data()),
                                            static_cast<int>(rest.size()));
  while (const uint32_t tag = in.ReadTag()) {
    uint32_t value = 0;
    const bool is_type = WireFormatLite::GetTagFieldNumber(tag) == AttributeProto::kTypeFieldNumber;
    if (is_type && in.ReadVarint32(&value)) return value;
    if (!WireFormatLite::SkipField(&in, tag)) break;
  }
  return std::nullopt;
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
  if (const auto type = unknown_type(proto))
    fail(ErrorCode::kInvalidModel, "has the unknown type ", *type);
  if (filled.empty()) fail(ErrorCode::kInvalidModel, "has neither a known type nor a value");
  return filled[0];
}

template <typename To, typename Field>
std::vector<To> list_of(const Field& field) {
  return std::vector<To>(field.begin(), field.end());
}

}  // namespace

bool holds_graph(const AttributeProto& proto) {
  if (!proto.ref_attr_name().empty()) return false;
  return proto.has_g() || proto.graphs_size() > 0 || proto.type() == AttributeProto::GRAPH ||
         proto.type() == AttributeProto::GRAPHS;
}

AttrMap Importer::attributes(NameScope& name_scope, NodeProto& node,
                             const std::vector<std::string>& captured,
                             std::span<const Type> implied, bool skips_graphs) {
  AttrMap attrs;
  std::unordered_set<std::string> seen;
  for (AttributeProto& proto : *node.mutable_attribute()) {
    if (proto.name().empty()) fail(ErrorCode::kInvalidModel, "an attribute has no name");
    if (!seen.insert(proto.name()).second) {
      fail(ErrorCode::kInvalidModel, "attribute ", in_quotes(proto.name()), " is given twice");
    }
    try {
      if (skips_graphs && holds_graph(proto)) {
        kind_of(proto);  // checks that it holds that alone
        continue;
      }
      if (std::optional<AttrValue> value = attribute(name_scope, proto, captured, implied)) {
        attrs.emplace(proto.name(), std::move(*value));
      }
    } catch (const Error& error) {
      if (!error.node().empty()) throw;
      throw error.with_context("attribute " + in_quotes(proto.name()));
    }
  }
  return attrs;
}

// nullopt where the call and the function leave it out.
std::optional<AttrValue> Importer::referred_attribute(const FunctionCall& call,
                                                      const std::string& name) const {
  if (!call.parameters.contains(name)) {
    leniency_.tolerate(kFunctionAttribute, "ref_attr_name ", in_quotes(name), ": ", call.label,
                       " has no such attribute; it is left out");
  }
  const auto found = call.attrs.find(name);
  return found == call.attrs.end() ? std::nullopt : std::optional(found->second);
}

std::optional<AttrValue> Importer::attribute(NameScope& name_scope, AttributeProto& proto,
                                             const std::vector<std::string>& captured,
                                             std::span<const Type> implied) {
  if (!proto.ref_attr_name().empty()) {
    const std::string& name = proto.ref_attr_name();
    if (name_scope.call) return referred_attribute(*name_scope.call, name);
    leniency_.tolerate(kFunctionAttribute, "ref_attr_name ", in_quotes(name),
                       " refers to an attribute of a function, but the node is in none; the value "
                       "beside it counts");
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
      return subgraph(name_scope, *proto.mutable_g(), captured, implied);
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
        graphs.push_back(subgraph(name_scope, graph, captured, implied));
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

GraphPtr Importer::subgraph(NameScope& name_scope, GraphProto& proto,
                            const std::vector<std::string>& captured,
                            std::span<const Type> implied) {
  auto graph = std::make_shared<Graph>();
  NameScope inner{.graph = *graph,
                  .outer = &name_scope,
                  .call = name_scope.call,
                  .opsets = name_scope.opsets,
                  .scope = name_scope.scope};
  const std::vector<std::string>& names = free_names_.of(proto);
  const std::unordered_set<std::string_view> used(names.begin(), names.end());
  for (const std::string& name : captured) {
    // Another subgraph of the node may use what has a value of its own in this one.
    const bool is_used = used.contains(name);
    const Value* outer = name_scope.values.at(name);
    Value* capture = graph->add_capture(is_used ? name : "", outer->type);
    capture->dims = outer->dims;
    if (poisoned_.contains(outer)) poisoned_.insert(capture);
    if (is_used) bind(inner, name, capture);
  }
  for (const std::string& name : names) {
    const auto outer = name_scope.values.find(name);
    if (outer == name_scope.values.end() || inner.values.contains(name)) continue;
    Value* value = outer->second;
    bind(inner, name, value ? graph->add_constant(name, *value->constant) : nullptr);
  }
  import_graph(inner, proto, implied);
  return graph;
}

}  // namespace sardonyx::onnx_import
