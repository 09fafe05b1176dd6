#include "tools/onnx-run/arguments.h"

#include <algorithm>
#include <numeric>

namespace sardonyx::tool {
namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t k = 0; k < b.size(); ++k) {
      const size_t replaced = diagonal + (a[i] != b[k]);
      diagonal = row[k + 1];
      row[k + 1] = std::min({replaced, row[k] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string normalized_option(const std::string& argument) {
  const size_t end = std::min(argument.find('='), argument.size());
  std::string name = argument.substr(0, end);
  std::replace(name.begin() + 2, name.end(), '_', '-');
  if (end == argument.size() && (name == "--json" || name == "--profile"))
    return name + "=" + std::string(kNoValue);
  return name + argument.substr(end);
}

}  // namespace

std::vector<std::string> normalized_arguments(std::vector<std::string> arguments,
                                              const std::vector<std::string>& commands) {
  for (std::string& argument : arguments) {
    if (argument == "--") break;
    if (argument.starts_with("--")) argument = normalized_option(argument);
  }
  // These may stand before the command.
  const auto is_global = [](const std::string& argument) {
    return argument.starts_with("-v") || argument == "--verbose" || argument == "-q" ||
           argument == "--quiet";
  };
  const auto first = std::ranges::find_if_not(arguments, is_global);
  if (first == arguments.end()) return arguments;
  const bool is_option = first->starts_with("-") && !first->starts_with("--onnx") && *first != "-m";
  if (!is_option && std::ranges::find(commands, *first) == commands.end())
    arguments.insert(first, "run");
  return arguments;
}

std::string nearest_name(std::string_view wanted, const std::vector<std::string>& known) {
  std::string nearest;
  size_t best = std::max<size_t>(2, wanted.size() / 3) + 1;
  for (const std::string& name : known) {
    if (const size_t distance = edit_distance(wanted, name); distance < best) {
      best = distance;
      nearest = name;
    }
  }
  return nearest;
}

}  // namespace sardonyx::tool
