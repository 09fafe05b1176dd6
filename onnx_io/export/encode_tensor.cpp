#include "onnx_io/export/encode_tensor.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <limits>

#include "ir/core/error.h"

namespace sardonyx::onnx_export {

using onnx_schema::MapProto;
using onnx_schema::OptionalProto;
using onnx_schema::SequenceProto;
using onnx_schema::SparseTensorProto;
using onnx_schema::TensorProto;

namespace {

SequenceProto::DataType element_kind(const Type& type) {
  switch (type.kind) {
    case Type::Kind::kTensor:
      return SequenceProto::TENSOR;
    case Type::Kind::kSparseTensor:
      return SequenceProto::SPARSE_TENSOR;
    case Type::Kind::kSequence:
      return SequenceProto::SEQUENCE;
    case Type::Kind::kMap:
      return SequenceProto::MAP;
    case Type::Kind::kOptional:
      return SequenceProto::OPTIONAL;
    default:
      return SequenceProto::UNDEFINED;
  }
}

Tensor element(const Tensor& tensor, int64_t index) {
  return tensor.slice(index, index + 1).reshaped({});
}

}  // namespace

TensorProto tensor_header(const Tensor& tensor, std::string_view name) {
  TensorProto proto;
  for (const int64_t dim : tensor.shape())
    proto.add_dims(dim);
  proto.set_data_type(static_cast<int>(tensor.dtype()));
  if (!name.empty()) proto.set_name(std::string(name));
  return proto;
}

TensorProto encode(const Tensor& tensor, std::string_view name) {
  TensorProto proto = tensor_header(tensor, name);
  if (tensor.dtype() == DType::kString) {
    for (const std::string& value : tensor.values<std::string>())
      proto.add_string_data(value);
  } else {
    const size_t bytes = tensor.bytes();
    proto.set_raw_data(bytes == 0 ? "" : static_cast<const char*>(tensor.raw()), bytes);
  }
  return proto;
}

SparseTensorProto encode(const SparseTensor& sparse, std::string_view name) {
  SparseTensorProto proto;
  *proto.mutable_values() = encode(sparse.values, name);
  *proto.mutable_indices() = encode(sparse.indices, "");
  for (const int64_t dim : sparse.shape)
    proto.add_dims(dim);
  return proto;
}

SequenceProto encode(const Sequence& sequence, std::string_view name) {
  SequenceProto proto;
  if (!name.empty()) proto.set_name(std::string(name));
  proto.set_elem_type(element_kind(sequence.element));
  for (const Datum& item : sequence.items) {
    if (item.is_tensor()) *proto.add_tensor_values() = encode(item.tensor(), "");
    if (item.is_sparse()) *proto.add_sparse_tensor_values() = encode(item.sparse(), "");
    if (item.is_sequence()) *proto.add_sequence_values() = encode(item.sequence(), "");
    if (item.is_map()) *proto.add_map_values() = encode(item.map(), "");
    if (item.is_optional()) *proto.add_optional_values() = encode(item.optional(), "");
  }
  return proto;
}

OptionalProto encode(const OptionalDatum& optional, std::string_view name) {
  OptionalProto proto;
  if (!name.empty()) proto.set_name(std::string(name));
  proto.set_elem_type(element_kind(optional.element));
  if (!optional.value()) return proto;
  const Datum& value = *optional.value();
  if (value.is_tensor()) *proto.mutable_tensor_value() = encode(value.tensor(), "");
  if (value.is_sparse()) *proto.mutable_sparse_tensor_value() = encode(value.sparse(), "");
  if (value.is_sequence()) *proto.mutable_sequence_value() = encode(value.sequence(), "");
  if (value.is_map()) *proto.mutable_map_value() = encode(value.map(), "");
  if (value.is_optional()) *proto.mutable_optional_value() = encode(value.optional(), "");
  return proto;
}

MapProto encode(const Map& map, std::string_view name) {
  MapProto proto;
  if (!name.empty()) proto.set_name(std::string(name));
  proto.set_key_type(static_cast<int>(map.keys.dtype()));
  if (map.keys.dtype() == DType::kString) {
    for (const std::string& key : map.keys.values<std::string>())
      proto.add_string_keys(key);
  } else {
    for (const int64_t key : map.keys.to_int64s())
      proto.add_keys(key);
  }
  SequenceProto& values = *proto.mutable_values();
  values.set_elem_type(SequenceProto::TENSOR);
  for (int64_t i = 0; i < map.values.count(); ++i) {
    *values.add_tensor_values() = encode(element(map.values, i), "");
  }
  return proto;
}

std::string serialized(const google::protobuf::MessageLite& message) {
  const size_t size = message.ByteSizeLong();
  if (size > static_cast<size_t>(std::numeric_limits<int>::max())) {
    fail(ErrorCode::kResourceExhausted, "the file would have ", size,
         " bytes, more than the 2 GiB of its format; keep large tensors as external data");
  }
  std::string bytes(size, '\0');
  google::protobuf::io::ArrayOutputStream array(bytes.data(), static_cast<int>(size));
  google::protobuf::io::CodedOutputStream stream(&array);
  stream.SetSerializationDeterministic(true);
  message.SerializeWithCachedSizes(&stream);
  return bytes;
}

}  // namespace sardonyx::onnx_export
