#include "onnx_io/export/encode_attribute.h"

#include "onnx_io/export/encode_tensor.h"
#include "onnx_io/export/encode_type.h"

namespace sardonyx::onnx_export {
namespace {

using onnx_schema::AttributeProto;

// Has an overload for each kind of AttrKinds.
struct AttributeWriter {
  AttributeProto& proto;

  bool operator()(int64_t value) const {
    proto.set_type(AttributeProto::INT);
    proto.set_i(value);
    return true;
  }
  bool operator()(float value) const {
    proto.set_type(AttributeProto::FLOAT);
    proto.set_f(value);
    return true;
  }
  bool operator()(const std::string& value) const {
    proto.set_type(AttributeProto::STRING);
    proto.set_s(value);
    return true;
  }
  bool operator()(const Tensor& value) const {
    proto.set_type(AttributeProto::TENSOR);
    *proto.mutable_t() = encode(value, "");
    return true;
  }
  bool operator()(const SparseTensor& value) const {
    proto.set_type(AttributeProto::SPARSE_TENSOR);
    *proto.mutable_sparse_tensor() = encode(value, "");
    return true;
  }
  bool operator()(const GraphPtr&) const { return false; }
  bool operator()(const Type& value) const {
    proto.set_type(AttributeProto::TYPE_PROTO);
    *proto.mutable_tp() = encode(value);
    return true;
  }
  bool operator()(const std::vector<int64_t>& values) const {
    proto.set_type(AttributeProto::INTS);
    for (const int64_t value : values)
      proto.add_ints(value);
    return true;
  }
  bool operator()(const std::vector<float>& values) const {
    proto.set_type(AttributeProto::FLOATS);
    for (const float value : values)
      proto.add_floats(value);
    return true;
  }
  bool operator()(const std::vector<std::string>& values) const {
    proto.set_type(AttributeProto::STRINGS);
    for (const std::string& value : values)
      proto.add_strings(value);
    return true;
  }
  bool operator()(const std::vector<Tensor>& values) const {
    proto.set_type(AttributeProto::TENSORS);
    for (const Tensor& value : values)
      *proto.add_tensors() = encode(value, "");
    return true;
  }
  bool operator()(const std::vector<SparseTensor>& values) const {
    proto.set_type(AttributeProto::SPARSE_TENSORS);
    for (const SparseTensor& value : values)
      *proto.add_sparse_tensors() = encode(value, "");
    return true;
  }
  bool operator()(const std::vector<GraphPtr>&) const { return false; }
  bool operator()(const std::vector<Type>& values) const {
    proto.set_type(AttributeProto::TYPE_PROTOS);
    for (const Type& value : values)
      *proto.add_type_protos() = encode(value);
    return true;
  }
};

}  // namespace

bool encode(const AttrValue& value, onnx_schema::AttributeProto& proto) {
  return std::visit(AttributeWriter{proto}, static_cast<const AttrKinds&>(value));
}

}  // namespace sardonyx::onnx_export
