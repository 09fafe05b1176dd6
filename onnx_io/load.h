// Reads .onnx files: any IR version from 1 on and any opset, as a graph in the newest form of every
// op.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "ir/graph.h"
#include "onnx_io/tensor_file.h"

namespace sardonyx {

// The newest versions that are known; files that ask for later ones are refused.
constexpr int64_t kNewestIrVersion = 13;
constexpr int64_t kNewestOpset = 27;   // of ai.onnx
constexpr int64_t kNewestMlOpset = 5;  // of ai.onnx.ml

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
  // In place of files of external data, by the location that the model gives: their bytes, as
  // uint8[size]. The model's weights are in these buffers where their alignment allows. With them a
  // model that comes as bytes needs no folder.
  NamedTensors external_files = {};
  // In place of the initializers of the main graph that have these names, whose elements are not
  // read: tensors of the same type and shape. Throws kInvalidArgument where they don't fit, or the
  // model has no initializer of a name.
  NamedTensors initializers = {};
  // Refuse files that deviate from ONNX, even where the meaning is clear (kInvalidModel).
  bool strict = false;
  // Called for each deviation while the model is loaded, by the thread that loads it; may be empty.
  std::function<void(const LoadWarning&)> on_warning = {};
};

// A checked graph: names resolved, nodes in order, model-local functions inlined, old op forms
// upgraded, types inferred. Throws kInvalidModel, kUnsupported or kResourceExhausted with the
// node's name, and kInvalidArgument where the file can't be read. Obeys the current RunControl.
//
// An initializer that is also a graph input is, from IR version 4 on, the default value of that
// input (Value::default_value); before that it is a constant and no input.
Model load_model(const std::filesystem::path& path, const LoadOptions& options = {});
Model load_model(std::span<const std::byte> bytes, const LoadOptions& options = {});

}  // namespace sardonyx
