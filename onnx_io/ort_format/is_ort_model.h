// Tells models in ONNX Runtime's own format (.ort) from those of ONNX.
#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "onnx_io/ort_format/flat_buffer.h"
#include "onnx_io/ort_format/ort_schema.h"

namespace sardonyx::ort_format {

// The first eight bytes tell it.
inline bool is_ort_model(std::span<const std::byte> bytes) {
  return FlatBuffer::has_identifier(bytes, kModelIdentifier);
}

// Is the file called as one that is to be of that format? ".ort", in letters of any case.
inline bool has_ort_name(const std::filesystem::path& path) {
  std::string extension = path.extension();
  std::ranges::transform(extension, extension.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return extension == ".ort";
}

}  // namespace sardonyx::ort_format
