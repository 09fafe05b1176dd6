// From a model and options to a session.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "executor/ort_abi/env.h"
#include "executor/ort_abi/session.h"

namespace sardonyx::ort_abi {

// A model file or its bytes.
struct ModelSource {
  std::optional<std::filesystem::path> path;
  std::span<const std::byte> bytes = {};
  std::filesystem::path folder = {};  // that external data of bytes are in
};

// What a model is read with, as far as options tell.
LoadOptions load_options_of(const OrtSessionOptions& options, const ModelSource& source);

// Throws Failure with ONNX Runtime's code and words where it has its own.
std::unique_ptr<OrtSession> load_session(const OrtEnv& env, const ModelSource& source,
                                         const OrtSessionOptions& options);

}  // namespace sardonyx::ort_abi
