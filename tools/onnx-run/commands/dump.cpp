// `onnx-run dump`: a model's graph as text or as a Graphviz file.
#include <CLI/CLI.hpp>
#include <iostream>

#include "ir/print.h"
#include "onnx_io/load.h"
#include "tools/onnx-run/commands/commands.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/model_options.h"

namespace sardonyx::tool {
namespace {

struct DumpCommand {
  std::filesystem::path model;
  ModelOptions loading;
  bool dot = false, as_run = false;
};

int run_dump(const DumpCommand& command) {
  ModelOptions options = command.loading;
  if (!command.as_run) options.providers = {std::string(kReferenceProvider)};
  const std::unique_ptr<Runner> runner = load_runner(command.model, options);
  const Graph& graph = *runner->model().graph;
  std::cout << (command.dot ? to_dot(graph) : to_text(graph)) << std::flush;
  return kOk;
}

}  // namespace

void add_dump_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<DumpCommand>();
  CLI::App* command = app.add_subcommand("dump", "print a model's graph, in today's operators");
  command->add_option("MODEL,-m,--onnx", options->model, "the .onnx file")->required();
  command->add_flag("--dot", options->dot, "for Graphviz");
  command->add_flag("--optimized", options->as_run, "as it is run, after all passes");
  add_model_options(*command, options->loading);
  command->callback([options, &action] { action = [options] { return run_dump(*options); }; });
}

}  // namespace sardonyx::tool
