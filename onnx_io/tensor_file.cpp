#include "onnx_io/tensor_file.h"

#include "onnx_io/export/encode_tensor.h"
#include "onnx_io/file_access.h"
#include "onnx_io/file_write.h"
#include "onnx_io/import/decode_tensor.h"
#include "onnx_io/import/parse.h"

namespace sardonyx {
namespace {

using onnx_import::TensorDecoder;
using onnx_schema::MapProto;
using onnx_schema::OptionalProto;
using onnx_schema::SequenceProto;
using onnx_schema::SparseTensorProto;
using onnx_schema::TensorProto;

[[noreturn]] void refuse(const std::string& message) {
  fail(ErrorCode::kInvalidModel, message);
}

// Messages to values; limits on nesting were kept while parsing.
class Decoder {
 public:
  explicit Decoder(const LoadLimits& limits) : tensors_(limits, nullptr) {}

  Datum tensor(TensorProto& proto) { return tensors_.tensor(proto); }
  Datum sparse(SparseTensorProto& proto) { return tensors_.sparse(proto); }

  Datum sequence(SequenceProto& proto, const Type* declared) {
    Sequence sequence;
    const Type* element = declared && declared->is_sequence() ? declared->element.get() : nullptr;
    if (element) sequence.element = *element;
    const auto add = [&](Datum item) { sequence.items.push_back(std::move(item)); };
    for (auto& item : *proto.mutable_tensor_values())
      add(tensor(item));
    for (auto& item : *proto.mutable_sparse_tensor_values())
      add(sparse(item));
    for (auto& item : *proto.mutable_sequence_values())
      add(this->sequence(item, element));
    for (auto& item : *proto.mutable_map_values())
      add(map(item));
    for (auto& item : *proto.mutable_optional_values())
      add(optional(item, element));
    if (sequence.element.is_none() && !sequence.items.empty()) {
      sequence.element = sequence.items[0].type();
      sequence.element.shape.reset();
    }
    for (const Datum& item : sequence.items) {
      if (!same_kind(item.type(), sequence.element)) {
        refuse(text("a sequence of ", sequence.element, " holds a ", item.type()));
      }
    }
    return sequence;
  }

  Datum optional(OptionalProto& proto, const Type* declared) {
    const Type* element = declared && declared->is_optional() ? declared->element.get() : nullptr;
    Datum value;
    if (proto.has_tensor_value()) value = tensor(*proto.mutable_tensor_value());
    if (proto.has_sparse_tensor_value()) value = sparse(*proto.mutable_sparse_tensor_value());
    if (proto.has_sequence_value()) value = sequence(*proto.mutable_sequence_value(), element);
    if (proto.has_map_value()) value = map(*proto.mutable_map_value());
    if (proto.has_optional_value()) value = optional(*proto.mutable_optional_value(), element);
    OptionalDatum out;
    if (element) out.element = *element;
    if (value) {
      if (out.element.is_none()) out.element = value.type();
      out.items.push_back(std::move(value));
    }
    return out;
  }

  Datum map(MapProto& proto) {
    const DType key = onnx_import::checked_dtype(proto.key_type(), "the key of a map");
    Map map{keys(proto, key), Tensor()};
    if (proto.values().elem_type() != SequenceProto::TENSOR) {
      fail(ErrorCode::kUnsupported, "a map of values that are no tensors");
    }
    const Sequence values = sequence(*proto.mutable_values(), nullptr).sequence();
    if (static_cast<int64_t>(values.items.size()) != map.keys.count()) {
      refuse(text("a map has ", map.keys.count(), " keys and ", values.items.size(), " values"));
    }
    map.values = joined(values);
    return map;
  }

 private:
  static Tensor keys(const MapProto& proto, DType dtype) {
    if (dtype == DType::kString) {
      return Tensor::vector(
          std::vector<std::string>(proto.string_keys().begin(), proto.string_keys().end()));
    }
    if (!is_integer(dtype))
      refuse(text("a map has ", dtype, " keys, expected integers or strings"));
    return Tensor::vector(std::vector<int64_t>(proto.keys().begin(), proto.keys().end()));
  }

  // The single elements of all values, as one 1-D tensor.
  static Tensor joined(const Sequence& values) {
    if (values.items.empty()) return Tensor::allocate(DType::kFloat, {0});
    const DType dtype = values.items[0].tensor().dtype();
    Tensor out = Tensor::allocate(dtype, {static_cast<int64_t>(values.items.size())});
    for (size_t i = 0; i < values.items.size(); ++i) {
      const Tensor& item = values.items[i].tensor();
      if (item.count() != 1 || item.dtype() != dtype || is_packed(dtype)) {
        refuse(text("value ", i, " of a map is ", item.dtype(), to_text(item.shape()),
                    ", expected one ", dtype));
      }
      if (dtype == DType::kString) {
        out.mutable_values<std::string>()[i] = item.values<std::string>()[0];
      } else {
        const size_t width = static_cast<size_t>(bits_of(dtype)) / 8;
        const auto* from = static_cast<const std::byte*>(item.raw());
        std::copy(from, from + width, static_cast<std::byte*>(out.raw()) + i * width);
      }
    }
    return out;
  }

  TensorDecoder tensors_;
};

template <typename Proto>
Proto parsed(std::span<const std::byte> bytes, const std::string& name, const LoadLimits& limits) {
  Proto proto;
  onnx_import::parse_message(bytes, name, ErrorCode::kInvalidArgument, limits, proto);
  return proto;
}

NamedDatum decode(std::span<const std::byte> bytes, const std::string& name, const Type& type,
                  const LoadLimits& limits) {
  Decoder decoder(limits);
  switch (type.kind) {
    case Type::Kind::kSequence: {
      auto proto = parsed<SequenceProto>(bytes, name, limits);
      return {proto.name(), decoder.sequence(proto, &type)};
    }
    case Type::Kind::kOptional: {
      auto proto = parsed<OptionalProto>(bytes, name, limits);
      return {proto.name(), decoder.optional(proto, &type)};
    }
    case Type::Kind::kMap: {
      auto proto = parsed<MapProto>(bytes, name, limits);
      return {proto.name(), decoder.map(proto)};
    }
    case Type::Kind::kSparseTensor: {
      auto proto = parsed<SparseTensorProto>(bytes, name, limits);
      return {proto.values().name(), decoder.sparse(proto)};
    }
    default: {
      auto proto = parsed<TensorProto>(bytes, name, limits);
      return {proto.name(), decoder.tensor(proto)};
    }
  }
}

}  // namespace

void LoadLimits::check_rank(std::string_view what, size_t dims) const {
  if (dims > rank) {
    fail(ErrorCode::kResourceExhausted, what, " has ", dims, " dims, more than the limit of ",
         rank);
  }
}

NamedDatum read_tensor_file(const std::filesystem::path& path, const std::optional<Type>& type,
                            const LoadLimits& limits) {
  const OpenFile file = open_regular(path);
  if (file.size > limits.file_bytes) {
    fail(ErrorCode::kInvalidArgument, file.name, ": has ", file.size,
         " bytes, more than the limit of ", limits.file_bytes);
  }
  std::vector<std::byte> bytes(file.size);
  read_exactly(file, 0, bytes.data(), bytes.size());
  try {
    return decode(bytes, file.name, type.value_or(Type::tensor(DType::kFloat)), limits);
  } catch (const Error& error) {
    const bool names_file = error.code() == ErrorCode::kInvalidArgument;
    if (names_file || error.code() == ErrorCode::kCancelled) throw;
    throw Error(ErrorCode::kInvalidArgument, file.name + ": " + error.what());
  }
}

void write_tensor_file(const std::filesystem::path& path, const std::string& name,
                       const Datum& value) {
  using onnx_export::encode;
  using onnx_export::serialized;
  std::string bytes;
  if (value.is_tensor()) bytes = serialized(encode(value.tensor(), name));
  if (value.is_sparse()) bytes = serialized(encode(value.sparse(), name));
  if (value.is_sequence()) bytes = serialized(encode(value.sequence(), name));
  if (value.is_optional()) bytes = serialized(encode(value.optional(), name));
  if (value.is_map()) bytes = serialized(encode(value.map(), name));
  if (!value.defined()) fail(ErrorCode::kInvalidArgument, path.native(), ": no value to write");
  write_atomically(path, bytes);
}

}  // namespace sardonyx
