// Brings a command line into the form that the option parser knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::tool {

// Options are `--long-kebab`: snake_case spellings become that. `--json` and `--profile` take a
// value only after '=': alone they get kNoValue. A first argument that is no command of `commands`
// and no option is a model to run: `run` is put before it.
std::vector<std::string> normalized_arguments(std::vector<std::string> arguments,
                                              const std::vector<std::string>& commands);
inline constexpr std::string_view kNoValue = "-";

// The name of `known` that is closest to `wanted` by edit distance; empty where none is close.
std::string nearest_name(std::string_view wanted, const std::vector<std::string>& known);

}  // namespace sardonyx::tool
