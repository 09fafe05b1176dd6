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
};

// Throws Failure with ONNX Runtime's code and words where it has its own.
std::unique_ptr<OrtSession> load_session(const OrtEnv& env, const ModelSource& source,
                                         const OrtSessionOptions& options);

}  // namespace sardonyx::ort_abi
