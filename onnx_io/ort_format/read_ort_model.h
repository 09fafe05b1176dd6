// Reads models in ONNX Runtime's own format (.ort) into the messages of an .onnx file.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "onnx_io/import/model_reader.h"
#include "onnx_io/onnx.pb.h"
#include "onnx_io/ort_format/is_ort_model.h"
#include "onnx_io/tensor_file.h"

namespace sardonyx::ort_format {

// Fills `proto`, whose address must not change afterwards; the elements of large initializers are
// in what is returned. Nodes that ONNX Runtime fused stay as it wrote them. Throws kInvalidModel
// with `name`, the file's, where the bytes are corrupt, and kUnsupported where they are of a
// version of the format that is not known.
onnx_import::RawData read_ort_model(std::span<const std::byte> bytes, std::string_view name,
                                    const LoadLimits& limits, onnx_schema::ModelProto& proto);

}  // namespace sardonyx::ort_format
