#include "tools/onnx-run/commands/command_tables.h"

#include <CLI/CLI.hpp>

namespace sardonyx::tool {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<const CLI::Option*> flags_and_options(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return !option->get_positional(); });
}

bool takes_value(const CLI::Option& option) {
  return option.get_type_size() > 0;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

std::string option_words(const CLI::Option& option, std::string_view between) {
  std::string words;
  const auto add = [&](std::string_view dashes, const std::string& name) {
    words += (words.empty() ? "" : std::string(between)) + std::string(dashes) + name;
  };
  for (const std::string& name : option.get_snames())
    add("-", name);
  for (const std::string& name : option.get_lnames())
    add("--", name);
  return words;
}

}  // namespace sardonyx::tool
