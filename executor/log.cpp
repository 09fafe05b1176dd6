#include "executor/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdlib>

namespace sardonyx {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::kOff:
      return spdlog::level::off;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kDebug:
      return spdlog::level::debug;
  }
  return spdlog::level::off;
}

// A logger of our own, in no registry: the embedding program may use spdlog as well.
spdlog::logger& stderr_logger() {
  static spdlog::logger logger = [] {
    spdlog::logger made("sardonyx", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made.set_pattern("%n: %^%l%$: %v");
    made.set_level(spdlog::level::debug);  // Log has chosen already
    return made;
  }();
  return logger;
}

void write_to_stderr(LogLevel level, std::string_view line) {
  stderr_logger().log(spdlog_level(level), line);
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
