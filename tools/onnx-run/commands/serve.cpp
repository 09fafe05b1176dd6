// serve: starts the model server, a program of its own.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tools/onnx-run/arguments.h"
#include "tools/onnx-run/commands/commands.h"

namespace sardonyx::tool {
namespace {

// Gives the arguments to onnx-serve, the one beside this program or else the one on PATH. Returns
// only where there is none.
int become_server(std::vector<std::string> arguments) {
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  arguments.insert(arguments.begin(), "onnx-serve");
  std::vector<char*> values;
  for (std::string& argument : arguments)
    values.push_back(argument.data());
  values.push_back(nullptr);
  execv((here / "onnx-serve").c_str(), values.data());
  if (errno == ENOENT) execvp("onnx-serve", values.data());
  if (errno == ENOENT) {
    throw UsageError(
        "there is no onnx-serve beside this program or on PATH: it is in the package "
        "sardonyx-server, or built by `./dev build server`");
  }
  throw UsageError(std::string("onnx-serve can't be started: ") + std::strerror(errno));
}

}  // namespace

void add_serve_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "serve", "answer requests to models over HTTP and gRPC; `serve --help` lists the options");
  // All that follows is the server's, --help and --version as well.
  command->prefix_command()->allow_extras()->fallthrough(false);
  command->set_help_flag();
  command->callback([command, &action] {
    action = [arguments = command->remaining()] { return become_server(arguments); };
  });
}

}  // namespace sardonyx::tool
