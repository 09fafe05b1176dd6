#include "onnx_io/ort_format/read_ort_model.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>
#include <utility>

#include "onnx_io/import/parse.h"

namespace sardonyx::ort_format {

using onnx_schema::AttributeProto;
using onnx_schema::GraphProto;
using onnx_schema::ModelProto;
using onnx_schema::NodeProto;
using onnx_schema::TensorProto;
using onnx_schema::TensorShapeProto;
using onnx_schema::TypeProto;
using onnx_schema::ValueInfoProto;

namespace {

constexpr std::array<std::string_view, 6> kKnownVersions = {"1", "2", "3", "4", "5", "6"};
// Parts of a file may be referred to from many places, so what they become is bounded here: that
// many tables and texts, and so many times the file's size of characters and of lists of numbers.
constexpr size_t kMaxTables = 1'000'000;
constexpr size_t kMaxTexts = 10 * kMaxTables;
constexpr size_t kCopiesPerByte = 64;
// Smaller elements stay in their message.
constexpr size_t kLarge = 4096;

class Reader {
 public:
  Reader(const FlatBuffer& file, const LoadLimits& limits) : file_(file), limits_(limits) {}

  void model(const FlatTable& session, ModelProto& proto) {
    check_version(session.text(SessionField::kVersion));
    const std::optional<FlatTable> table = session.table(SessionField::kModel);
    if (!table) file_.refuse();
    using Field = ModelField;
    proto.set_ir_version(table->number<int64_t>(Field::kIrVersion));
    proto.set_producer_name(text(table->text(Field::kProducerName)));
    proto.set_producer_version(text(table->text(Field::kProducerVersion)));
    proto.set_domain(text(table->text(Field::kDomain)));
    proto.set_model_version(table->number<int64_t>(Field::kModelVersion));
    proto.set_doc_string(text(table->text(Field::kDocString)));
    each(*table, Field::kOpsetImport, [&](const FlatTable& opset) {
      auto& made = *proto.add_opset_import();
      made.set_domain(text(opset.text(OpsetField::kDomain)));
      made.set_version(opset.number<int64_t>(OpsetField::kVersion));
    });
    each(*table, Field::kMetadataProps, [&](const FlatTable& entry) {
      auto& made = *proto.add_metadata_props();
      made.set_key(text(entry.text(EntryField::kKey)));
      made.set_value(text(entry.text(EntryField::kValue)));
    });
    const std::optional<FlatTable> main = table->table(Field::kGraph);
    if (!main) file_.refuse();
    proto.mutable_graph()->set_doc_string(text(table->text(Field::kGraphDocString)));
    graph(*main, *proto.mutable_graph(), &raw_data_);
  }

  onnx_import::RawData take_raw_data() { return std::move(raw_data_); }

 private:
  // Counts how deep tables are in each other while it lives.
  class TableDepth {
   public:
    explicit TableDepth(Reader& reader) : reader_(reader) {
      if (++reader_.depth_ > reader_.limits_.nesting) reader_.refuse_size("nested too deeply");
    }
    TableDepth(const TableDepth&) = delete;
    ~TableDepth() { --reader_.depth_; }

   private:
    Reader& reader_;
  };

  [[noreturn]] void refuse_size(std::string_view what) const {
    fail(ErrorCode::kResourceExhausted, file_.name(), ": the tables of the file are ", what);
  }

  void check_version(std::string_view version) const {
    if (std::ranges::find(kKnownVersions, version) != kKnownVersions.end()) return;
    fail(ErrorCode::kUnsupported, file_.name(), ": The ORT format model version [",
         onnx_import::in_quotes(version), "] is not supported; expected 1 to 6");
  }

  template <typename Visit>
  void each(const FlatTable& table, size_t field, const Visit& visit) {
    table.each_table(field, [&](const FlatTable& element) {
      if (++tables_ > kMaxTables) refuse_size("too many");
      visit(element);
    });
  }

  template <typename Visit>
  void each_text(const FlatTable& table, size_t field, const Visit& visit) {
    table.each_text(field, [&](std::string_view value) {
      if (++texts_ > kMaxTexts) refuse_size("too many");
      visit(value);
    });
  }

  template <typename T>
  std::vector<T> numbers(const FlatTable& table, size_t field) {
    count_copied(table.bytes(field, sizeof(T)).size());
    return table.numbers<T>(field);
  }

  void count_copied(size_t bytes) {
    copied_ += bytes;
    if (copied_ / kCopiesPerByte > file_.size()) refuse_size("too large");
  }

  std::string text(std::string_view value) {
    onnx_import::require_utf8(value, file_.name());
    return bytes_of(value);
  }

  // Large elements of the main graph's initializers go to `raw_data`.
  void graph(const FlatTable& table, GraphProto& proto, onnx_import::RawData* raw_data) {
    const TableDepth depth(*this);
    using Field = GraphField;
    each(table, Field::kInitializers, [&](const FlatTable& initializer) {
      tensor(initializer, *proto.add_initializer(), raw_data);
    });
    each(table, Field::kSparseInitializers, [&](const FlatTable& sparse) {
      auto& made = *proto.add_sparse_initializer();
      part(sparse, SparseField::kValues, *made.mutable_values());
      part(sparse, SparseField::kIndices, *made.mutable_indices());
      for (const int64_t dim : numbers<int64_t>(sparse, SparseField::kDims))
        made.add_dims(dim);
    });
    std::unordered_map<std::string, ValueInfoProto> values;
    each(table, Field::kNodeArgs, [&](const FlatTable& value) {
      ValueInfoProto made = value_info(value);
      std::string name = made.name();
      values.insert_or_assign(std::move(name), std::move(made));
    });
    const auto port = [&](std::string_view called, ValueInfoProto& made) {
      const std::string name = text(called);
      const auto at = values.find(name);
      if (at != values.end()) made = at->second;
      made.set_name(name);
    };
    each_text(table, Field::kInputs,
              [&](std::string_view name) { port(name, *proto.add_input()); });
    each_text(table, Field::kOutputs,
              [&](std::string_view name) { port(name, *proto.add_output()); });
    each(table, Field::kNodes, [&](const FlatTable& element) { node(element, *proto.add_node()); });
    declare(values, proto);
  }

  // Types of what nodes give, for operators that don't tell them.
  static void declare(std::unordered_map<std::string, ValueInfoProto>& values, GraphProto& proto) {
    for (const ValueInfoProto& output : proto.output())
      values.erase(output.name());
    for (const NodeProto& node : proto.node()) {
      for (const std::string& name : node.output()) {
        const auto at = values.find(name);
        if (at != values.end() && at->second.has_type())
          *proto.add_value_info() = std::move(at->second);
        if (at != values.end()) values.erase(at);
      }
    }
  }

  void part(const FlatTable& table, size_t field, TensorProto& proto) {
    const std::optional<FlatTable> found = table.table(field);
    if (!found) file_.refuse();
    tensor(*found, proto, nullptr);
  }

  void tensor(const FlatTable& table, TensorProto& proto, onnx_import::RawData* raw_data) {
    using Field = TensorField;
    proto.set_name(text(table.text(Field::kName)));
    if (table.number<int64_t>(Field::kExternalOffset, -1) >= 0) {
      fail(ErrorCode::kUnsupported, file_.name(), ": the elements of the tensor \"", proto.name(),
           "\" are in another file");
    }
    for (const int64_t dim : numbers<int64_t>(table, Field::kDims))
      proto.add_dims(dim);
    proto.set_data_type(table.number<int32_t>(Field::kDataType));
    if (proto.data_type() == TensorProto::STRING) {
      each_text(table, Field::kStrings,
                [&](std::string_view element) { proto.add_string_data(bytes_of(element)); });
      return;
    }
    const std::span<const std::byte> elements = table.bytes(Field::kRawData);
    elements_ += elements.size();
    if (elements_ > file_.size()) refuse_size("too large");
    if (!raw_data || elements.size() < kLarge) {
      proto.set_raw_data(elements.data(), elements.size());
      return;
    }
    std::shared_ptr<Buffer> buffer = Buffer::allocate(elements.size());
    std::memcpy(buffer->data(), elements.data(), elements.size());
    (*raw_data)[&proto] = std::move(buffer);
  }

  void node(const FlatTable& table, NodeProto& proto) {
    using Field = NodeField;
    proto.set_name(text(table.text(Field::kName)));
    proto.set_doc_string(text(table.text(Field::kDocString)));
    proto.set_domain(text(table.text(Field::kDomain)));
    proto.set_op_type(text(table.text(Field::kOpType)));
    each_text(table, Field::kInputs, [&](std::string_view name) { proto.add_input(text(name)); });
    each_text(table, Field::kOutputs, [&](std::string_view name) { proto.add_output(text(name)); });
    each(table, Field::kAttributes,
         [&](const FlatTable& element) { attribute(element, *proto.add_attribute()); });
  }

  void attribute(const FlatTable& table, AttributeProto& proto) {
    using Field = AttributeField;
    proto.set_name(text(table.text(Field::kName)));
    proto.set_doc_string(text(table.text(Field::kDocString)));
    const auto kind = table.number<int32_t>(Field::kType);
    if (!AttributeProto::AttributeType_IsValid(kind)) {
      fail(ErrorCode::kInvalidModel, file_.name(), ": the attribute \"", proto.name(),
           "\" is of a kind that is not known: ", kind);
    }
    proto.set_type(static_cast<AttributeProto::AttributeType>(kind));
    if (kind == AttributeProto::FLOAT) proto.set_f(table.number<float>(Field::kFloat));
    if (kind == AttributeProto::INT) proto.set_i(table.number<int64_t>(Field::kInt));
    if (kind == AttributeProto::STRING) proto.set_s(bytes_of(table.text(Field::kString)));
    if (kind == AttributeProto::TENSOR) part(table, Field::kTensor, *proto.mutable_t());
    if (kind == AttributeProto::GRAPH) {
      const std::optional<FlatTable> body = table.table(Field::kGraph);
      if (!body) file_.refuse();
      graph(*body, *proto.mutable_g(), nullptr);
    }
    for (const float value : numbers<float>(table, Field::kFloats))
      proto.add_floats(value);
    for (const int64_t value : numbers<int64_t>(table, Field::kInts))
      proto.add_ints(value);
    each_text(table, Field::kStrings,
              [&](std::string_view value) { proto.add_strings(bytes_of(value)); });
    each(table, Field::kTensors,
         [&](const FlatTable& element) { tensor(element, *proto.add_tensors(), nullptr); });
    each(table, Field::kGraphs,
         [&](const FlatTable& element) { graph(element, *proto.add_graphs(), nullptr); });
  }

  // Text that need not be UTF-8.
  std::string bytes_of(std::string_view value) {
    count_copied(value.size());
    return std::string(value);
  }

  ValueInfoProto value_info(const FlatTable& table) {
    ValueInfoProto made;
    made.set_name(text(table.text(ValueField::kName)));
    made.set_doc_string(text(table.text(ValueField::kDocString)));
    if (const auto type_table = table.table(ValueField::kType)) {
      TypeProto of;
      if (type(*type_table, of)) *made.mutable_type() = std::move(of);
    }
    return made;
  }

  // False where the format has no words for the type: optionals and sparse tensors.
  bool type(const FlatTable& table, TypeProto& proto) {
    const TableDepth depth(*this);
    if (const std::string_view denotation = table.text(TypeField::kDenotation); !denotation.empty())
      proto.set_denotation(text(denotation));
    const std::optional<FlatTable> value = table.table(TypeField::kValue);
    if (!value) return false;
    switch (static_cast<TypeKind>(table.number<uint8_t>(TypeField::kKind))) {
      case TypeKind::kTensor: {
        auto& tensor_type = *proto.mutable_tensor_type();
        tensor_type.set_elem_type(value->number<int32_t>(TensorTypeField::kElementType));
        if (const auto dims = value->table(TensorTypeField::kShape))
          shape(*dims, *tensor_type.mutable_shape());
        return true;
      }
      case TypeKind::kSequence:
        return inner_type(*value, SequenceTypeField::kElementType,
                          *proto.mutable_sequence_type()->mutable_elem_type());
      case TypeKind::kMap:
        proto.mutable_map_type()->set_key_type(value->number<int32_t>(MapTypeField::kKeyType));
        return inner_type(*value, MapTypeField::kValueType,
                          *proto.mutable_map_type()->mutable_value_type());
      default:
        return false;
    }
  }

  bool inner_type(const FlatTable& table, size_t field, TypeProto& proto) {
    const std::optional<FlatTable> inner = table.table(field);
    return inner && type(*inner, proto);
  }

  void shape(const FlatTable& table, TensorShapeProto& proto) {
    each(table, ShapeField::kDims, [&](const FlatTable& dim) {
      auto& made = *proto.add_dim();
      if (const std::string_view word = dim.text(DimField::kDenotation); !word.empty())
        made.set_denotation(text(word));
      const std::optional<FlatTable> value = dim.table(DimField::kValue);
      if (!value) return;
      const auto kind = static_cast<DimKind>(value->number<int8_t>(DimValueField::kKind));
      if (kind == DimKind::kNumber)
        made.set_dim_value(value->number<int64_t>(DimValueField::kNumber));
      if (kind == DimKind::kSymbol) made.set_dim_param(text(value->text(DimValueField::kSymbol)));
    });
  }

  const FlatBuffer& file_;
  const LoadLimits& limits_;
  onnx_import::RawData raw_data_;
  int depth_ = 0;
  size_t tables_ = 0, texts_ = 0, copied_ = 0, elements_ = 0;
};

}  // namespace

onnx_import::RawData read_ort_model(std::span<const std::byte> bytes, std::string_view name,
                                    const LoadLimits& limits, ModelProto& proto) {
  const FlatBuffer file(bytes, std::string(name));
  Reader reader(file, limits);
  reader.model(FlatTable::root_of(file), proto);
  return reader.take_raw_data();
}

}  // namespace sardonyx::ort_format
