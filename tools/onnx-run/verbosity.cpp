#include "tools/onnx-run/verbosity.h"

#include <algorithm>
#include <iostream>

namespace sardonyx::tool {
namespace {

struct Verbosity {
  LogLevel level = log_level_from_environment();
  bool is_quiet = false;
};

Verbosity& verbosity() {
  static Verbosity one;
  return one;
}

}  // namespace

void set_verbosity(int verbose, bool is_quiet) {
  const int level = static_cast<int>(log_level_from_environment()) + verbose;
  verbosity() = {is_quiet
                     ? LogLevel::kOff
                     : static_cast<LogLevel>(std::min(level, static_cast<int>(LogLevel::kDebug))),
                 is_quiet};
}

LogLevel log_level() {
  return verbosity().level;
}

std::ostream& remarks() {
  static std::ostream nowhere(nullptr);
  return verbosity().is_quiet ? nowhere : std::cerr;
}

}  // namespace sardonyx::tool
