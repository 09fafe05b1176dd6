// What the parser knows of commands and options, for pages and completions that are made from it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::tool {

std::vector<const CLI::App*> commands_of(const CLI::App& app);

// Without arguments that have no name.
std::vector<const CLI::Option*> flags_and_options(const CLI::App& app);

bool takes_value(const CLI::Option& option);

// All names of an option, such as "-q --quiet", with `between` between them.
std::string option_words(const CLI::Option& option, std::string_view between);

// `text` with each `from` as `to`.
std::string replaced(std::string text, std::string_view from, std::string_view to);

}  // namespace sardonyx::tool
