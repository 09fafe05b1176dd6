// Finds everything that is wrong with a model, not just the first thing.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "ir/core/error.h"
#include "onnx_io/load.h"

namespace sardonyx {

struct Problem {
  ErrorCode code;
  std::string node;  // the node at fault; empty where no node is concerned
  std::string message;
};

// What keeps the model from being loaded: faults of structure, names, types, attributes and shapes,
// and operators that are not supported, in the order of the file; empty for a good model. What
// follows from a fault alone is not reported.
std::vector<Problem> check_model(const std::filesystem::path& path,
                                 const LoadOptions& options = {});
std::vector<Problem> check_model(std::span<const std::byte> bytes, const LoadOptions& options = {});

}  // namespace sardonyx
