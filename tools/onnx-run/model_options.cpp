#include "tools/onnx-run/model_options.h"

#include <CLI/CLI.hpp>

#include "onnx_io/load.h"
#include "tools/onnx-run/exit_codes.h"

namespace sardonyx::tool {

void add_model_options(CLI::App& command, ModelOptions& options) {
  command
      .add_option("--provider", options.providers,
                  "providers of kernels in the order in which they are asked; 'reference' runs "
                  "node by node without any rewriting")
      ->delimiter(',')
      ->check(CLI::IsMember({"reference"}));
}

std::unique_ptr<Runner> load_runner(const std::filesystem::path& model, const ModelOptions&) {
  return loading([&] { return make_reference_runner(load_model(model)); });
}

}  // namespace sardonyx::tool
