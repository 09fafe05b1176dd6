// Types to messages of the schema.
#pragma once

#include "ir/type.h"
#include "onnx_io/onnx.pb.h"

namespace sardonyx::onnx_export {

// Dims that inference invented are left open.
onnx_schema::TypeProto encode(const Type& type);

}  // namespace sardonyx::onnx_export
