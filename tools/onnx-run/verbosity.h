// How much the program says beside its results.
#pragma once

#include <ostream>

#include "executor/log.h"

namespace sardonyx::tool {

// By how often -v and -q were given: each -v is a level more than SARDONYX_LOG asks for, -q
// silences all but errors that end the program.
void set_verbosity(int verbose, bool is_quiet);

// For sessions.
LogLevel log_level();

// stderr, or nowhere with -q: for remarks that nobody needs to go on.
std::ostream& remarks();

}  // namespace sardonyx::tool
