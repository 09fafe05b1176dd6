// Tells models in ONNX Runtime's own format (.ort) from those of ONNX.
#pragma once

#include "onnx_io/ort_format/flat_buffer.h"
#include "onnx_io/ort_format/ort_schema.h"

namespace sardonyx::ort_format {

// The first eight bytes tell it.
inline bool is_ort_model(std::span<const std::byte> bytes) {
  return FlatBuffer::has_identifier(bytes, kModelIdentifier);
}

}  // namespace sardonyx::ort_format
