// `onnx-run check`: everything that is wrong with a model.
#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "onnx_io/check.h"
#include "tools/onnx-run/commands/commands.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/json_output.h"

namespace sardonyx::tool {
namespace {

struct CheckCommand {
  std::vector<std::filesystem::path> models;
  bool strict = false;
  JsonOutput json;
};

// A model that can't be run here is told from one that is wrong.
std::string_view kind_of(ErrorCode code) {
  return code == ErrorCode::kUnsupported ? "unsupported" : "error";
}

int run_check(const CheckCommand& command) {
  std::ostream& out = command.json.on_stdout() ? std::cerr : std::cout;
  auto models = nlohmann::ordered_json::array();
  bool is_clean = true;
  for (const std::filesystem::path& model : command.models) {
    auto list = nlohmann::ordered_json::array(), warnings = nlohmann::ordered_json::array();
    LoadOptions options{.strict = command.strict};
    options.on_warning = [&](const LoadWarning& warning) {
      out << model.string() << ": warning: " << warning.message << " [" << warning.name << "]\n";
      warnings.push_back({{"name", warning.name}, {"message", warning.message}});
    };
    const std::vector<Problem> problems = loading([&] { return check_model(model, options); });
    for (const Problem& problem : problems) {
      out << model.string() << ": " << kind_of(problem.code) << ": " << problem.message << '\n';
      list.push_back(
          {{"code", name_of(problem.code)}, {"node", problem.node}, {"message", problem.message}});
    }
    if (problems.empty()) out << model.string() << ": no problem found\n";
    is_clean &= problems.empty();
    models.push_back({{"model", model.string()}, {"problems", list}, {"warnings", warnings}});
  }
  out.flush();
  if (command.json.wanted()) command.json.write({{"models", models}});
  return is_clean ? kOk : kDifferent;
}

}  // namespace

void add_check_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<CheckCommand>();
  CLI::App* command = app.add_subcommand("check", "list everything that is wrong with a model");
  command->add_option("MODEL,-m,--onnx", options->models, "the .onnx files")->required();
  command->add_flag("--strict", options->strict, "report as errors what is loaded with a warning");
  command->add_option("--json", options->json.target, "write a report to stdout, or to =FILE");
  command->callback([options, &action] { action = [options] { return run_check(*options); }; });
}

}  // namespace sardonyx::tool
