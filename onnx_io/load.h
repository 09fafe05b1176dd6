// Reads .onnx files: any IR version from 1 on and any opset, as a graph in the newest form of every
// op. Models in ONNX Runtime's own format (.ort), told by their first bytes, are read as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "ir/graph.h"
#include "onnx_io/load_options.h"

namespace sardonyx {

// The newest versions that are known; files that ask for later ones are refused.
constexpr int64_t kNewestIrVersion = 13;
constexpr int64_t kNewestOpset = 27;   // of ai.onnx
constexpr int64_t kNewestMlOpset = 5;  // of ai.onnx.ml

// A checked graph: names resolved, nodes in order, model-local functions inlined, old op forms
// upgraded, types inferred. Throws kInvalidModel, kUnsupported or kResourceExhausted with the
// node's name, and kInvalidArgument where the file can't be read. Obeys the current RunControl.
//
// An initializer that is also a graph input is, from IR version 4 on, the default value of that
// input (Value::default_value); before that it is a constant and no input.
Model load_model(const std::filesystem::path& path, const LoadOptions& options = {});
Model load_model(std::span<const std::byte> bytes, const LoadOptions& options = {});

}  // namespace sardonyx
