// Tensors and other values to messages of the schema. The same value gives the same bytes.
#pragma once

#include <string_view>

#include "ir/datum.h"
#include "onnx_io/onnx.pb.h"

namespace sardonyx::onnx_export {

// Name, type and dims, without the elements.
onnx_schema::TensorProto tensor_header(const Tensor& tensor, std::string_view name);
// Elements go to raw_data; strings to string_data.
onnx_schema::TensorProto encode(const Tensor& tensor, std::string_view name);
onnx_schema::SparseTensorProto encode(const SparseTensor& sparse, std::string_view name);
onnx_schema::SequenceProto encode(const Sequence& sequence, std::string_view name);
onnx_schema::OptionalProto encode(const OptionalDatum& optional, std::string_view name);
onnx_schema::MapProto encode(const Map& map, std::string_view name);

// The message's bytes; throws kResourceExhausted beyond protobuf's 2 GiB.
std::string serialized(const google::protobuf::MessageLite& message);

}  // namespace sardonyx::onnx_export
