// `onnx-run env`: the machine and the settings that a run would use.
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "ir/core/threading/cpu_limits.h"
#include "onnx_io/load.h"
#include "providers/onednn/provider.h"
#include "providers/providers.h"
#include "tools/onnx-run/commands/commands.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/json_output.h"
#include "tools/onnx-run/machine.h"
#include "tools/onnx-run/statistics.h"

namespace sardonyx::tool {
namespace {

constexpr const char* kVariables[] = {"SARDONYX_NUM_THREADS", "OMP_NUM_THREADS", "OMP_WAIT_POLICY"};

// What is loaded, or why it can't be.
std::string onednn_in_use() {
  try {
    return onednn_version();
  } catch (const Error& error) {
    return error.what();
  }
}

int run_env(const JsonOutput& json) {
  nlohmann::ordered_json providers = nlohmann::ordered_json::array(), variables;
  for (const Provider* provider : all_providers())
    providers.push_back(provider->name);
  for (const char* name : kVariables) {
    const char* value = std::getenv(name);
    variables[name] = value ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
  }
  const nlohmann::ordered_json report = {
      {"version", SARDONYX_VERSION},    {"newest_ir_version", kNewestIrVersion},
      {"newest_opset", kNewestOpset},   {"newest_ml_opset", kNewestMlOpset},
      {"ops", all_ops().size()},        {"providers", providers},
      {"onednn", onednn_in_use()},      {"threads", thread_count(0)},
      {"memory_bytes", total_memory()}, {"cpu_features", cpu_features()},
      {"variables", variables}};
  if (!json.on_stdout()) {
    std::cout << "cpu: " << cpu_name() << ", " << usable_cores() << " cores\n";
    for (const auto& [key, value] : report.items())
      std::cout << key << ": " << value.dump() << '\n';
    std::cout.flush();
  }
  if (json.wanted()) json.write(report);
  return kOk;
}

}  // namespace

void add_env_command(CLI::App& app, Action& action) {
  const auto json = std::make_shared<JsonOutput>();
  CLI::App* command =
      app.add_subcommand("env", "show the machine and the settings that a run would use");
  command->add_option("--json", json->target, "write a report to stdout, or to =FILE");
  command->callback([json, &action] { action = [json] { return run_env(*json); }; });
}

}  // namespace sardonyx::tool
