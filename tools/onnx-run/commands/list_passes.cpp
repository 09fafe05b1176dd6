// `onnx-run list-passes`: the rewrites that prepare a graph, in the order in which they run.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "executor/prepare_graph.h"
#include "tools/onnx-run/commands/commands.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/json_output.h"

namespace sardonyx::tool {
namespace {

struct ListPassesCommand {
  bool markdown = false;
  JsonOutput json;
};

std::string function_of(const PassName& pass) {
  std::string name(pass.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

int run_list_passes(const ListPassesCommand& command) {
  std::ostream& out = command.json.on_stdout() ? std::cerr : std::cout;
  auto list = nlohmann::ordered_json::array();
  if (command.markdown)
    out << "| stage | -O | pass | what it does | source |\n| --- | --- | --- | --- | --- |\n";
  for (const PassName& pass : list_passes()) {
    const std::string level = pass.level > 0 ? std::to_string(pass.level) : "any";
    if (command.markdown)
      out << "| " << pass.stage << " | " << level << " | `" << pass.name << "` | " << pass.summary
          << " | `" << pass.file << "`: `" << function_of(pass) << "` |\n";
    else if (!command.json.on_stdout())
      out << pass.name << "  " << pass.stage << ", -O " << level << "  " << pass.summary << '\n';
    list.push_back({{"name", pass.name},
                    {"stage", pass.stage},
                    {"level", pass.level},
                    {"file", pass.file},
                    {"summary", pass.summary}});
  }
  out.flush();
  if (command.json.wanted()) command.json.write({{"passes", list}});
  return kOk;
}

}  // namespace

void add_list_passes_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ListPassesCommand>();
  CLI::App* command = app.add_subcommand("list-passes", "list the rewrites that prepare a graph");
  command->add_flag("--markdown", options->markdown, "as a Markdown table");
  command->add_option("--json", options->json.target, "write a report to stdout, or to =FILE");
  command->callback(
      [options, &action] { action = [options] { return run_list_passes(*options); }; });
}

}  // namespace sardonyx::tool
