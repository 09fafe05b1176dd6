// Loading for those who pack the weights and need not hold them as the file does.
#pragma once

#include <filesystem>

#include "onnx_io/load.h"

namespace sardonyx {

// As load_model, but large initializers that are nothing but weights of convolutions and matrix
// products, or tables of Gather, are still to be read, defaults of inputs among them: they are in
// evictable buffers, whose elements are not there (see ir/core/memory/evictable_buffer.h). These
// keep the file open; they throw kInvalidArgument where it was written to before they were read. A
// look in passing is into a mapping of the file, unless options.map_external_data forbids it.
Model load_model_lazily(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace sardonyx
