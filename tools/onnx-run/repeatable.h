// Options that may be given several times.
#pragma once

#include <CLI/CLI.hpp>

namespace sardonyx::tool {

// Each occurrence takes one value: what follows it is no further value but the next argument, and
// brackets in it are part of the value.
inline CLI::Option* repeatable(CLI::Option* option) {
  return option->take_all()->expected(1)->allow_extra_args(false);
}

}  // namespace sardonyx::tool
