#include "executor/log.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace sardonyx {
namespace {

struct LevelStyle {
  const char* name;
  const char* color;  // as terminals are told of it
};

LevelStyle style_of(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return {"error", "\033[31m"};
    case LogLevel::kWarning:
      return {"warning", "\033[33m"};
    case LogLevel::kDebug:
      return {"debug", "\033[36m"};
    default:
      return {"info", "\033[32m"};
  }
}

// Writes the line with one call, so that lines of several threads don't interleave.
void write_to_stderr(LogLevel level, std::string_view line) {
  static const bool is_terminal = isatty(STDERR_FILENO) != 0;
  const LevelStyle style = style_of(level);
  std::string whole = "sardonyx: ";
  if (is_terminal) whole += style.color;
  whole += style.name;
  if (is_terminal) whole += "\033[m";
  whole.append(": ").append(line) += '\n';
  std::fwrite(whole.data(), 1, whole.size(), stderr);
}

}  // namespace

LogLevel log_level_from_environment() {
  const char* value = std::getenv("SARDONYX_LOG");
  const std::string_view wanted = value ? value : "";
  if (wanted == "off") return LogLevel::kOff;
  if (wanted == "error") return LogLevel::kError;
  if (wanted == "info") return LogLevel::kInfo;
  if (wanted == "debug") return LogLevel::kDebug;
  return LogLevel::kWarning;
}

Log::Log(LogLevel level, LogSink sink)
    : level_(level), sink_(sink ? std::move(sink) : LogSink(write_to_stderr)) {}

}  // namespace sardonyx
