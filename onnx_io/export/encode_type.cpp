#include "onnx_io/export/encode_type.h"

#include <memory>

#include "ir/core/error.h"
#include "onnx_io/dim_names.h"

namespace sardonyx::onnx_export {

using onnx_schema::TensorShapeProto;
using onnx_schema::TypeProto;

namespace {

// "" where there is nothing to write.
std::string written_name(const Dim& dim) {
  const std::string text = dim.text();
  if (is_of_one_dim(text)) return std::string(name_in_file(text));
  for (const std::string& symbol : dim.symbols()) {
    if (is_of_one_dim(symbol)) return "";
  }
  return text;
}

void write_dims(const Dims& dims, TensorShapeProto& proto) {
  for (const Dim& dim : dims) {
    TensorShapeProto::Dimension& written = *proto.add_dim();
    if (dim.is_known()) {
      written.set_dim_value(dim.value());
    } else if (std::string name = written_name(dim); !name.empty()) {
      written.set_dim_param(std::move(name));
    }
  }
}

// The members of TypeProto's `oneof` are made first and then given to it: protobuf's own accessors
// name a member before they have the memory for it, and a message that memory ran out on in between
// may not be destroyed.
template <typename TensorType>
TensorType* tensor_type(const Type& type) {
  auto proto = std::make_unique<TensorType>();
  proto->set_elem_type(static_cast<int>(type.dtype));
  if (type.shape) write_dims(*type.shape, *proto->mutable_shape());
  return proto.release();
}

template <typename HolderType>
HolderType* holder_type(const Type& type) {
  auto proto = std::make_unique<HolderType>();
  *proto->mutable_elem_type() = encode(*type.element);
  return proto.release();
}

TypeProto::Map* map_type(const Type& type) {
  auto proto = std::make_unique<TypeProto::Map>();
  proto->set_key_type(static_cast<int>(type.dtype));
  *proto->mutable_value_type() = encode(*type.element);
  return proto.release();
}

}  // namespace

TypeProto encode(const Type& type) {
  TypeProto proto;
  switch (type.kind) {
    case Type::Kind::kTensor:
      proto.set_allocated_tensor_type(tensor_type<TypeProto::Tensor>(type));
      break;
    case Type::Kind::kSparseTensor:
      proto.set_allocated_sparse_tensor_type(tensor_type<TypeProto::SparseTensor>(type));
      break;
    case Type::Kind::kSequence:
      proto.set_allocated_sequence_type(holder_type<TypeProto::Sequence>(type));
      break;
    case Type::Kind::kOptional:
      proto.set_allocated_optional_type(holder_type<TypeProto::Optional>(type));
      break;
    case Type::Kind::kMap:
      proto.set_allocated_map_type(map_type(type));
      break;
    default:
      break;
  }
  return proto;
}

}  // namespace sardonyx::onnx_export
