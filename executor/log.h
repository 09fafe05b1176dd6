// The log of a session: its levels and the sink that lines go to.
#pragma once

#include <chrono>
#include <functional>
#include <string_view>

#include "ir/core/error.h"

namespace sardonyx {

// kInfo: one line for each model that is loaded and each plan that is made. kDebug: also what every
// pass changed, the kernel of every step and why others refused it. A good model says nothing at
// the levels above them.
enum class LogLevel { kOff, kError, kWarning, kInfo, kDebug };

// Called from any thread, by several at once; must not throw.
using LogSink = std::function<void(LogLevel, std::string_view)>;

// off, error, warning, info or debug in the environment variable SARDONYX_LOG; kWarning where it is
// not set or none of these.
LogLevel log_level_from_environment();

// Milliseconds since `begin`, for lines that report a duration.
inline double milliseconds_since(std::chrono::steady_clock::time_point begin) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  return Milliseconds(std::chrono::steady_clock::now() - begin).count();
}

class Log {
 public:
  // Lines up to `level` go to `sink`, or to stderr where there is none.
  explicit Log(LogLevel level = LogLevel::kOff, LogSink sink = {});

  // Whether lines of this level are written. Ask before assembling an expensive text.
  bool wants(LogLevel level) const { return level <= level_; }

  template <typename... Parts>
  void write(LogLevel level, const Parts&... parts) const {
    if (wants(level)) sink_(level, text(parts...));
  }

 private:
  LogLevel level_;
  LogSink sink_;
};

}  // namespace sardonyx
