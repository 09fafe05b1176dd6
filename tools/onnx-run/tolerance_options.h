// How close two results must be, shared by all commands that compare.
#pragma once

#include "ir/value_compare.h"

namespace CLI {
class App;
}

namespace sardonyx::tool {

// Adds --rtol, --atol and --relative-to-max, whose defaults are what `tolerance` holds.
void add_tolerance_options(CLI::App& command, Tolerance& tolerance);

}  // namespace sardonyx::tool
