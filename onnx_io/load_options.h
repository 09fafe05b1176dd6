// How a model is loaded.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "ir/core/tensor.h"
#include "onnx_io/tensor_file.h"

namespace sardonyx {

// Something that ONNX forbids but that does not keep a model from being understood.
// docs/leniency.md lists the names.
struct LoadWarning {
  std::string name;     // "declared-shape"
  std::string message;  // what stands in the file, and what it is taken for
};

struct LoadOptions {
  // External data may be anywhere beneath this folder. Where it is not given: beneath the model
  // file's own folder, and a model that comes as bytes has none. Links are followed as long as they
  // stay beneath it.
  std::filesystem::path allowed_root = {};
  LoadLimits limits = {};
  // Use external data in place in the file (which must then not be changed) instead of reading
  // it.
  bool map_external_data = true;
  using NamedTensors = std::map<std::string, Tensor, std::less<>>;
  // Buffers that replace files of external data, by the location that the model gives: their bytes,
  // as uint8[size]. The model's weights are in these buffers where their alignment allows. With
  // them a model that comes as bytes needs no folder.
  NamedTensors external_files = {};
  // Tensors that replace the initializers of the main graph that have these names, whose elements
  // are not read; of the same type and shape. Throws kInvalidArgument where they don't fit, or the
  // model has no initializer of a name.
  NamedTensors initializers = {};
  // Refuse files that deviate from ONNX, even where the meaning is clear (kInvalidModel).
  bool strict = false;
  // Called for each deviation while the model is loaded, by the thread that loads it; may be empty.
  std::function<void(const LoadWarning&)> on_warning = {};
};

}  // namespace sardonyx
