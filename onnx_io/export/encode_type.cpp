#include "onnx_io/export/encode_type.h"

#include "ir/error.h"

namespace sardonyx::onnx_export {

using onnx_schema::TensorShapeProto;
using onnx_schema::TypeProto;

namespace {

bool is_invented(const Dim& dim) {
  for (const std::string& symbol : dim.symbols()) {
    if (symbol.starts_with('?')) return true;
  }
  return false;
}

void write_dims(const Dims& dims, TensorShapeProto& proto) {
  for (const Dim& dim : dims) {
    TensorShapeProto::Dimension& written = *proto.add_dim();
    if (dim.is_known()) {
      written.set_dim_value(dim.value());
    } else if (!is_invented(dim)) {
      written.set_dim_param(dim.text());
    }
  }
}

template <typename TensorType>
void write_tensor(const Type& type, TensorType& proto) {
  proto.set_elem_type(static_cast<int>(type.dtype));
  if (type.shape) write_dims(*type.shape, *proto.mutable_shape());
}

}  // namespace

TypeProto encode(const Type& type) {
  TypeProto proto;
  switch (type.kind) {
    case Type::Kind::kTensor:
      write_tensor(type, *proto.mutable_tensor_type());
      break;
    case Type::Kind::kSparseTensor:
      write_tensor(type, *proto.mutable_sparse_tensor_type());
      break;
    case Type::Kind::kSequence:
      *proto.mutable_sequence_type()->mutable_elem_type() = encode(*type.element);
      break;
    case Type::Kind::kOptional:
      *proto.mutable_optional_type()->mutable_elem_type() = encode(*type.element);
      break;
    case Type::Kind::kMap:
      proto.mutable_map_type()->set_key_type(static_cast<int>(type.dtype));
      *proto.mutable_map_type()->mutable_value_type() = encode(*type.element);
      break;
    default:
      break;
  }
  return proto;
}

}  // namespace sardonyx::onnx_export
