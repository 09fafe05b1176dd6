// Names that are not UTF-8 would spoil what they are written into: messages, JSON, saved files.
#pragma once

#include "onnx_io/import/leniency.h"
#include "onnx_io/onnx.pb.h"

namespace sardonyx::onnx_import {

// Writes bytes of names that are no UTF-8 as "\xe9" throughout the model, so that equal names stay
// equal, and tells of each name once. Throws kInvalidModel where two names would become one.
void make_names_readable(onnx_schema::ModelProto& model, const Leniency& leniency);

}  // namespace sardonyx::onnx_import
