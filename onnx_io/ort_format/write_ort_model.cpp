#include "onnx_io/ort_format/write_ort_model.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <unordered_map>

#include "onnx_io/op_versions.h"
#include "onnx_io/ort_format/flat_writer.h"
#include "onnx_io/ort_format/ort_schema.h"

namespace sardonyx::ort_format {

using onnx_export::PendingTensor;
using onnx_schema::AttributeProto;
using onnx_schema::GraphProto;
using onnx_schema::ModelProto;
using onnx_schema::NodeProto;
using onnx_schema::TensorProto;
using onnx_schema::TensorShapeProto;
using onnx_schema::TypeProto;

namespace {

constexpr std::string_view kWrittenVersion = "4";
// Readers use elements where they are in the file.
constexpr size_t kElementAlignment = 16;

// Types of names in one graph, and in those around it.
struct NamedTypes {
  const NamedTypes* outer = nullptr;
  std::unordered_map<std::string, const TypeProto*> types = {};

  bool has(const std::string& name) const { return types.contains(name); }
  const TypeProto* type_of(const std::string& name) const {
    const auto at = types.find(name);
    if (at != types.end()) return at->second;
    return outer ? outer->type_of(name) : nullptr;
  }
};

// From an output of one node to an input of another.
struct EdgeEnd {
  uint32_t node;
  int32_t from, to;
};
struct Edges {
  std::vector<EdgeEnd> in, out;
};

// Names that the graphs within a node take from around it, once each.
void find_outer_names(const GraphProto& graph, std::set<std::string>& known,
                      std::vector<std::string>& found);

void find_outer_names(const NodeProto& node, const std::set<std::string>& known,
                      std::vector<std::string>& found) {
  for (const AttributeProto& attribute : node.attribute()) {
    std::set<std::string> inner = known;
    if (attribute.has_g()) find_outer_names(attribute.g(), inner, found);
    for (const GraphProto& graph : attribute.graphs()) {
      inner = known;
      find_outer_names(graph, inner, found);
    }
  }
}

void find_outer_names(const GraphProto& graph, std::set<std::string>& known,
                      std::vector<std::string>& found) {
  const auto use = [&](const std::string& name) {
    if (name.empty() || known.contains(name)) return;
    if (std::ranges::find(found, name) == found.end()) found.push_back(name);
  };
  for (const auto& input : graph.input())
    known.insert(input.name());
  for (const auto& tensor : graph.initializer())
    known.insert(tensor.name());
  for (const NodeProto& node : graph.node())
    known.insert(node.output().begin(), node.output().end());
  for (const NodeProto& node : graph.node()) {
    for (const std::string& name : node.input())
      use(name);
    find_outer_names(node, known, found);
  }
  for (const auto& output : graph.output())
    use(output.name());
}

class Writer {
 public:
  Writer(const ModelProto& model, std::span<const PendingTensor> pending)
      : model_(model), pending_(pending) {
    for (const auto& import : model.opset_import())
      opsets_[import.domain()] = import.version();
  }

  std::vector<std::byte> file() {
    if (model_.functions_size() > 0)
      fail(ErrorCode::kUnsupported, "functions of a model have no form in a file of the kind .ort");
    const auto at = FlatFields()
                        .offset(SessionField::kVersion)
                        .offset(SessionField::kModel)
                        .write(out_, FlatWriter::root());
    out_.text(at[SessionField::kVersion], kWrittenVersion);
    model(at[SessionField::kModel]);
    out_.align(kElementAlignment);
    return out_.take();
  }

 private:
  void model(size_t from) {
    using Field = ModelField;
    const auto at = FlatFields()
                        .number<int64_t>(Field::kIrVersion, model_.ir_version())
                        .number<int64_t>(Field::kModelVersion, model_.model_version())
                        .offset(Field::kOpsetImport)
                        .offset(Field::kProducerName)
                        .offset(Field::kProducerVersion)
                        .offset(Field::kDomain)
                        .offset(Field::kDocString)
                        .offset(Field::kGraph)
                        .offset(Field::kGraphDocString)
                        .offset(Field::kMetadataProps)
                        .write(out_, from);
    out_.each(at[Field::kOpsetImport], model_.opset_import(), [&](size_t place, const auto& one) {
      const auto opset = FlatFields()
                             .number<int64_t>(OpsetField::kVersion, one.version())
                             .offset(OpsetField::kDomain)
                             .write(out_, place);
      out_.text(opset[OpsetField::kDomain], one.domain());
    });
    out_.text(at[Field::kProducerName], model_.producer_name());
    out_.text(at[Field::kProducerVersion], model_.producer_version());
    out_.text(at[Field::kDomain], model_.domain());
    out_.text(at[Field::kDocString], model_.doc_string());
    graph(at[Field::kGraph], model_.graph(), nullptr, pending_);
    out_.text(at[Field::kGraphDocString], model_.graph().doc_string());
    out_.each(
        at[Field::kMetadataProps], model_.metadata_props(), [&](size_t place, const auto& one) {
          const auto entry =
              FlatFields().offset(EntryField::kKey).offset(EntryField::kValue).write(out_, place);
          out_.text(entry[EntryField::kKey], one.key());
          out_.text(entry[EntryField::kValue], one.value());
        });
  }

  void graph(size_t from, const GraphProto& proto, const NamedTypes* outer,
             std::span<const PendingTensor> pending) {
    using Field = GraphField;
    std::map<std::string, TypeProto> made;  // of initializers, which have types of their own
    const NamedTypes scope = scope_of(proto, outer, pending, made);
    const std::vector<std::vector<std::string>> implicit = implicit_inputs(proto);
    const auto at =
        FlatFields()
            .number<uint32_t>(Field::kMaxNodeIndex, static_cast<uint32_t>(proto.node_size()))
            .offset(Field::kInitializers)
            .offset(Field::kNodeArgs)
            .offset(Field::kNodes)
            .offset(Field::kNodeEdges)
            .offset(Field::kInputs)
            .offset(Field::kOutputs)
            .offset(Field::kSparseInitializers)
            .write(out_, from);
    initializers(at[Field::kInitializers], proto, pending);
    node_args(at[Field::kNodeArgs], proto, scope, implicit);
    const std::vector<size_t> places =
        out_.offsets(at[Field::kNodes], static_cast<size_t>(proto.node_size()));
    for (size_t i = 0; i < places.size(); ++i)
      node(places[i], proto.node(static_cast<int>(i)), i, implicit[i], scope);
    edges(at[Field::kNodeEdges], proto, implicit);
    std::vector<std::string> names;
    for (const auto& input : proto.input())
      names.push_back(input.name());
    out_.texts(at[Field::kInputs], names);
    names.clear();
    for (const auto& output : proto.output())
      names.push_back(output.name());
    out_.texts(at[Field::kOutputs], names);
    out_.each(at[Field::kSparseInitializers], proto.sparse_initializer(),
              [&](size_t place, const auto& sparse) {
                const auto part = FlatFields()
                                      .offset(SparseField::kValues)
                                      .offset(SparseField::kIndices)
                                      .offset(SparseField::kDims)
                                      .write(out_, place);
                tensor(part[SparseField::kValues], sparse.values());
                tensor(part[SparseField::kIndices], sparse.indices());
                out_.numbers(part[SparseField::kDims], sparse.dims());
              });
  }

  static NamedTypes scope_of(const GraphProto& proto, const NamedTypes* outer,
                             std::span<const PendingTensor> pending,
                             std::map<std::string, TypeProto>& made) {
    NamedTypes scope{outer};
    const auto add_tensor = [&](const TensorProto& tensor) {
      auto& type = *made[tensor.name()].mutable_tensor_type();
      type.set_elem_type(tensor.data_type());
      type.mutable_shape();
      for (const int64_t dim : tensor.dims())
        type.mutable_shape()->add_dim()->set_dim_value(dim);
      scope.types[tensor.name()] = &made[tensor.name()];
    };
    for (const TensorProto& tensor : proto.initializer())
      add_tensor(tensor);
    for (const PendingTensor& tensor : pending)
      add_tensor(tensor.header);
    for (const auto* list : {&proto.value_info(), &proto.input(), &proto.output()}) {
      for (const auto& value : *list)
        scope.types[value.name()] = value.has_type() ? &value.type() : nullptr;
    }
    for (const NodeProto& node : proto.node()) {
      for (const std::string& name : node.output())
        scope.types.try_emplace(name, nullptr);
    }
    return scope;
  }

  static std::vector<std::vector<std::string>> implicit_inputs(const GraphProto& proto) {
    std::vector<std::vector<std::string>> all(static_cast<size_t>(proto.node_size()));
    for (size_t i = 0; i < all.size(); ++i)
      find_outer_names(proto.node(static_cast<int>(i)), {}, all[i]);
    return all;
  }

  void initializers(size_t from, const GraphProto& proto, std::span<const PendingTensor> pending) {
    const std::vector<size_t> places =
        out_.offsets(from, static_cast<size_t>(proto.initializer_size()) + pending.size());
    size_t next = 0;
    for (const TensorProto& one : proto.initializer())
      tensor(places[next++], one);
    for (const PendingTensor& one : pending) {
      const auto* elements = static_cast<const std::byte*>(one.tensor.raw());
      tensor(places[next++], one.header, std::span(elements, one.tensor.bytes()));
    }
  }

  // All names that nodes of the graph use, also those of the graphs around it.
  void node_args(size_t from, const GraphProto& proto, const NamedTypes& scope,
                 const std::vector<std::vector<std::string>>& implicit) {
    std::set<std::string> names;
    for (const auto& [name, type] : scope.types)
      names.insert(name);
    for (const NodeProto& one : proto.node())
      names.insert(one.input().begin(), one.input().end());
    for (const std::vector<std::string>& more : implicit)
      names.insert(more.begin(), more.end());
    out_.each(from, names, [&](size_t place, const std::string& name) {
      const TypeProto* type = scope.type_of(name);
      FlatFields fields;
      fields.offset(ValueField::kName);
      if (type && has_words_for(*type)) fields.offset(ValueField::kType);
      const auto at = fields.write(out_, place);
      out_.text(at[ValueField::kName], name);
      if (type && has_words_for(*type)) value_type(at[ValueField::kType], *type);
    });
  }

  void node(size_t from, const NodeProto& proto, size_t index,
            const std::vector<std::string>& implicit, const NamedTypes& scope) {
    using Field = NodeField;
    const auto at = FlatFields()
                        .number<int32_t>(Field::kSinceVersion, since_version(proto))
                        .number<uint32_t>(Field::kIndex, static_cast<uint32_t>(index))
                        .offset(Field::kName)
                        .offset(Field::kDomain)
                        .offset(Field::kOpType)
                        .offset(Field::kProvider)
                        .offset(Field::kInputs)
                        .offset(Field::kOutputs)
                        .offset(Field::kAttributes)
                        .offset(Field::kInputArgCounts)
                        .offset(Field::kImplicitInputs)
                        .write(out_, from);
    out_.text(at[Field::kName], proto.name());
    out_.text(at[Field::kDomain], proto.domain());
    out_.text(at[Field::kOpType], proto.op_type());
    out_.text(at[Field::kProvider], "CPUExecutionProvider");
    out_.texts(at[Field::kInputs], proto.input());
    out_.texts(at[Field::kOutputs], proto.output());
    out_.each(at[Field::kAttributes], proto.attribute(),
              [&](size_t place, const AttributeProto& one) { attribute(place, one, scope); });
    out_.numbers(at[Field::kInputArgCounts],
                 std::vector<int32_t>(static_cast<size_t>(proto.input_size()), 1));
    out_.texts(at[Field::kImplicitInputs], implicit);
  }

  int32_t since_version(const NodeProto& node) const {
    const auto opset = opsets_.find(node.domain());
    const std::optional<OpVersions> versions = versions_of(node.domain(), node.op_type());
    if (opset == opsets_.end() || !versions) return 1;
    return std::max(1, version_in(*versions, opset->second).since);
  }

  void edges(size_t from, const GraphProto& proto,
             const std::vector<std::vector<std::string>>& implicit) {
    std::unordered_map<std::string, EdgeEnd> makers;
    for (int i = 0; i < proto.node_size(); ++i) {
      for (int k = 0; k < proto.node(i).output_size(); ++k)
        makers[proto.node(i).output(k)] = {static_cast<uint32_t>(i), k, 0};
    }
    std::vector<Edges> all(static_cast<size_t>(proto.node_size()));
    const auto connect = [&](size_t reader, const std::string& name, int slot) {
      const auto maker = makers.find(name);
      if (name.empty() || maker == makers.end()) return;
      const auto [node, output, unused] = maker->second;
      all[reader].in.push_back({node, output, slot});
      all[node].out.push_back({static_cast<uint32_t>(reader), output, slot});
    };
    for (size_t i = 0; i < all.size(); ++i) {
      int slot = 0;
      for (const std::string& name : proto.node(static_cast<int>(i)).input())
        connect(i, name, slot++);
      for (const std::string& name : implicit[i])
        connect(i, name, slot++);
    }
    uint32_t index = 0;
    out_.each(from, all, [&](size_t place, const Edges& one) {
      constexpr size_t kIndex = 0, kIn = 1, kOut = 2;
      const auto at =
          FlatFields().number(kIndex, index++).offset(kIn).offset(kOut).write(out_, place);
      out_.vector(at[kIn], one.in.data(), one.in.size(), sizeof(EdgeEnd), alignof(EdgeEnd));
      out_.vector(at[kOut], one.out.data(), one.out.size(), sizeof(EdgeEnd), alignof(EdgeEnd));
    });
  }

  void attribute(size_t from, const AttributeProto& proto, const NamedTypes& scope) {
    using Field = AttributeField;
    FlatFields fields;
    fields.offset(Field::kName).number<int32_t>(Field::kType, proto.type());
    fields.number(Field::kFloat, proto.f()).number<int64_t>(Field::kInt, proto.i());
    fields.offset(Field::kString).offset(Field::kFloats).offset(Field::kInts);
    fields.offset(Field::kStrings).offset(Field::kTensors).offset(Field::kGraphs);
    if (proto.has_t()) fields.offset(Field::kTensor);
    if (proto.has_g()) fields.offset(Field::kGraph);
    const auto at = fields.write(out_, from);
    out_.text(at[Field::kName], proto.name());
    out_.text(at[Field::kString], proto.s());
    if (proto.has_t()) tensor(at[Field::kTensor], proto.t());
    if (proto.has_g()) graph(at[Field::kGraph], proto.g(), &scope, {});
    out_.numbers(at[Field::kFloats], proto.floats());
    out_.numbers(at[Field::kInts], proto.ints());
    out_.texts(at[Field::kStrings], proto.strings());
    out_.each(at[Field::kTensors], proto.tensors(),
              [&](size_t place, const TensorProto& one) { tensor(place, one); });
    out_.each(at[Field::kGraphs], proto.graphs(),
              [&](size_t place, const GraphProto& one) { graph(place, one, &scope, {}); });
  }

  void tensor(size_t from, const TensorProto& proto,
              std::optional<std::span<const std::byte>> elements = std::nullopt) {
    if (proto.data_location() == TensorProto::EXTERNAL) {
      fail(ErrorCode::kUnsupported, "the initializer \"", proto.name(),
           "\" can't be in another file: files of the kind .ort have all elements");
    }
    using Field = TensorField;
    const bool has_texts = proto.data_type() == TensorProto::STRING;
    FlatFields fields;
    fields.offset(Field::kName)
        .offset(Field::kDims)
        .offset(has_texts ? Field::kStrings : Field::kRawData);
    const auto at = fields.number<int32_t>(Field::kDataType, proto.data_type()).write(out_, from);
    out_.text(at[Field::kName], proto.name());
    out_.numbers(at[Field::kDims], proto.dims());
    if (has_texts) return out_.texts(at[Field::kStrings], proto.string_data());
    const std::string& raw = proto.raw_data();
    const auto bytes = elements.value_or(std::as_bytes(std::span(raw)));
    out_.vector(at[Field::kRawData], bytes.data(), bytes.size(), 1, kElementAlignment);
  }

  // The format tells no optionals and no sparse tensors.
  static bool has_words_for(const TypeProto& type) {
    if (type.has_sequence_type()) return has_words_for(type.sequence_type().elem_type());
    if (type.has_map_type()) return has_words_for(type.map_type().value_type());
    return type.has_tensor_type();
  }

  void value_type(size_t from, const TypeProto& proto) {
    const TypeKind kind = proto.has_tensor_type()     ? TypeKind::kTensor
                          : proto.has_sequence_type() ? TypeKind::kSequence
                                                      : TypeKind::kMap;
    const auto at = FlatFields()
                        .offset(TypeField::kDenotation)
                        .number(TypeField::kKind, static_cast<uint8_t>(kind))
                        .offset(TypeField::kValue)
                        .write(out_, from);
    out_.text(at[TypeField::kDenotation], proto.denotation());
    const size_t value = at[TypeField::kValue];
    if (kind == TypeKind::kTensor) return tensor_type(value, proto.tensor_type());
    if (kind == TypeKind::kSequence) {
      const auto inner = FlatFields().offset(SequenceTypeField::kElementType).write(out_, value);
      return value_type(inner[SequenceTypeField::kElementType], proto.sequence_type().elem_type());
    }
    const auto inner = FlatFields()
                           .number<int32_t>(MapTypeField::kKeyType, proto.map_type().key_type())
                           .offset(MapTypeField::kValueType)
                           .write(out_, value);
    value_type(inner[MapTypeField::kValueType], proto.map_type().value_type());
  }

  void tensor_type(size_t from, const TypeProto::Tensor& proto) {
    FlatFields fields;
    fields.number<int32_t>(TensorTypeField::kElementType, proto.elem_type());
    if (proto.has_shape()) fields.offset(TensorTypeField::kShape);
    const auto at = fields.write(out_, from);
    if (!proto.has_shape()) return;
    const auto shape =
        FlatFields().offset(ShapeField::kDims).write(out_, at[TensorTypeField::kShape]);
    out_.each(shape[ShapeField::kDims], proto.shape().dim(),
              [&](size_t place, const TensorShapeProto::Dimension& one) { dim(place, one); });
  }

  void dim(size_t from, const TensorShapeProto::Dimension& proto) {
    const auto at =
        FlatFields().offset(DimField::kValue).offset(DimField::kDenotation).write(out_, from);
    const DimKind kind = proto.has_dim_value()   ? DimKind::kNumber
                         : proto.has_dim_param() ? DimKind::kSymbol
                                                 : DimKind::kUnknown;
    const auto value = FlatFields()
                           .number(DimValueField::kKind, static_cast<int8_t>(kind))
                           .number<int64_t>(DimValueField::kNumber, proto.dim_value())
                           .offset(DimValueField::kSymbol)
                           .write(out_, at[DimField::kValue]);
    out_.text(value[DimValueField::kSymbol], proto.dim_param());
    out_.text(at[DimField::kDenotation], proto.denotation());
  }

  const ModelProto& model_;
  std::span<const PendingTensor> pending_;
  std::map<std::string, int64_t> opsets_;
  FlatWriter out_{kModelIdentifier};
};

}  // namespace

std::vector<std::byte> ort_model_bytes(const ModelProto& proto,
                                       std::span<const PendingTensor> pending) {
  return Writer(proto, pending).file();
}

}  // namespace sardonyx::ort_format
