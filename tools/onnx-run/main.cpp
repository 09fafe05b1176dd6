// onnx-run: runs, checks, measures and inspects ONNX models from the command line.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <iostream>

#include "tools/onnx-run/arguments.h"
#include "tools/onnx-run/commands/commands.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/interruption.h"
#include "tools/onnx-run/json_output.h"
#include "tools/onnx-run/standard_output.h"
#include "tools/onnx-run/verbosity.h"

namespace sardonyx::tool {
namespace {

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
  }
  return names;
}

// The parser's message, and for an unknown option the one that was probably meant.
std::string explain(const CLI::App& app, const CLI::ParseError& error) {
  std::string message = error.what();
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) return message;
  if (app.get_subcommands().empty()) return message;
  const CLI::App& command = *app.get_subcommands().front();
  for (const std::string& extra : app.remaining(true)) {
    if (!extra.starts_with("-")) return "unexpected argument '" + extra + "'";
    const std::string name = extra.substr(0, extra.find('='));
    message = "unknown option '" + name + "' of " + command.get_name();
    if (const std::string nearest = nearest_name(name, option_names(command)); !nearest.empty())
      message += "; did you mean '" + nearest + "'?";
    return message;
  }
  return message;
}

int report(std::string_view message, int code) {
  std::cerr << "onnx-run: " << message << std::endl;
  return code;
}

// Runs the action and gives each kind of error its status.
int act(const Action& action) {
  try {
    return action();
  } catch (const UsageError& error) {
    return report(error.what(), kUsage);
  } catch (const LoadError& error) {
    return report(error.what(), load_exit_code(error.error().code()));
  } catch (const Error& error) {
    return report(error.what(), run_exit_code(error.code()));
  } catch (const std::bad_alloc&) {
    return report("out of memory", kLimit);
  } catch (const std::exception& error) {
    return report(error.what(), kRunFailed);
  }
}

int run_main(int count, char** values) {
  remember_command_line(count, values);
  CLI::App app("Runs, checks, measures and inspects ONNX models.", "onnx-run");
  app.set_version_flag("--version", "onnx-run " SARDONYX_VERSION);
  app.require_subcommand(1);
  app.footer("`onnx-run MODEL ...` means `onnx-run run MODEL ...`.");
  int verbose = 0;
  bool is_quiet = false;
  CLI::Option* more = app.add_flag("-v,--verbose", verbose, "say what is done; -vv: in detail");
  app.add_flag("-q,--quiet", is_quiet, "no remarks on stderr, errors alone")->excludes(more);
  app.fallthrough();  // both may stand after the command as well
  Action action;
  add_run_command(app, action);
  add_bench_command(app, action);
  add_bench_ops_command(app, action);
  add_bench_sizes_command(app, action);
  add_compare_command(app, action);
  add_check_command(app, action);
  add_inspect_command(app, action);
  add_conformance_command(app, action);
  add_dump_command(app, action);
  add_rewrite_commands(app, action);
  add_list_ops_command(app, action);
  add_list_passes_command(app, action);
  add_score_command(app, action);
  add_serve_command(app, action);
  add_env_command(app, action);
  add_completion_command(app, action);
  add_man_page_command(app, action);

  std::vector<std::string> arguments(values + 1, values + count);
  arguments = normalized_arguments(std::move(arguments), command_names(app));
  std::reverse(arguments.begin(), arguments.end());  // what CLI11 expects of a vector
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return report(explain(app, error) + " (--help lists what there is)", kUsage);
  }
  set_verbosity(verbose, is_quiet);
  return act(action);
}

// A result that did not arrive is none, whatever it says.
int run_and_deliver(int count, char** values) {
  StandardOutput output;
  const int code = run_main(count, values);
  const int delivered = act([&output] {
    output.finish();
    return kOk;
  });
  return delivered != kOk && (code == kOk || code == kDifferent) ? delivered : code;
}

}  // namespace
}  // namespace sardonyx::tool

int main(int count, char** values) {
  sardonyx::tool::remove_unfinished_files_on_signals();
  sardonyx::tool::report_full_files();
  return sardonyx::tool::run_and_deliver(count, values);
}
