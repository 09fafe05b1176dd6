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
  int threads = 0;                     // 0: as many as the machine gives
  int level = 2;
  std::vector<std::string> passes, disabled_passes;
  std::string precision = "f32";
  uint64_t memory_limit_mb = 0;  // 0: the session's own limit
  std::string plan_cache;        // empty: none
  bool strict = false;
  bool keeps_kernel_attempts = false;  // what Session::kernels tells; no option of its own
};

// The names after `--provider`.
inline constexpr std::string_view kReferenceProvider = "reference";

void add_model_options(CLI::App& command, ModelOptions& options);

SessionOptions session_options(const ModelOptions& options);
// Says on `out` where heavy ops are computed in less than float32.
void announce_precision(std::ostream& out, const ModelOptions& options);

// Throws UsageError where `file`, which `option` says to write, is the model itself.
void require_another_file(const std::string& option, const std::filesystem::path& file,
                          const std::filesystem::path& model);

// Loads a model as the options say; errors are LoadErrors. Obeys the current RunControl, whose
// deadline holds for loading.
std::unique_ptr<Runner> load_runner(const std::filesystem::path& model,
                                    const ModelOptions& options);

}  // namespace sardonyx::tool
