// Options that say how a model is made ready, shared by all commands that run one.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tools/onnx-run/runner.h"

namespace CLI {
class App;
}

namespace sardonyx::tool {

struct ModelOptions {
  std::vector<std::string> providers;  // empty: the session's own order
};

void add_model_options(CLI::App& command, ModelOptions& options);

// Loads a model as the options say; errors are LoadErrors.
std::unique_ptr<Runner> load_runner(const std::filesystem::path& model,
                                    const ModelOptions& options);

}  // namespace sardonyx::tool
