// Writes models in ONNX Runtime's own format (.ort).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "onnx_io/export/exporter.h"

namespace sardonyx::ort_format {

// The file of a model that an exporter made, with the initializers that are pending. The version
// of the format is 4, of which readers find the kernels by the operators themselves. Throws
// kUnsupported for what the format has no words for: functions, and elements in other files.
std::vector<std::byte> ort_model_bytes(const onnx_schema::ModelProto& proto,
                                       std::span<const onnx_export::PendingTensor> pending);

}  // namespace sardonyx::ort_format
