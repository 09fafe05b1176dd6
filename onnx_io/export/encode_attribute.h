// Attributes to messages of the schema.
#pragma once

#include "ir/attributes.h"
#include "onnx_io/onnx.pb.h"

namespace sardonyx::onnx_export {

// False, and nothing is written, where the value is a graph or a list of them.
bool encode(const AttrValue& value, onnx_schema::AttributeProto& proto);

}  // namespace sardonyx::onnx_export
