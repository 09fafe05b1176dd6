#include "executor/ort_abi/logging.h"

#include <chrono>
#include <cstdio>
#include <ctime>

#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"

namespace sardonyx::ort_abi {
namespace {

constexpr const char* kCategory = "onnxruntime";

char letter_of(OrtLoggingLevel severity) {
  constexpr char kLetters[] = "VIWEF";
  const auto index = static_cast<size_t>(severity);
  return index < sizeof kLetters - 1 ? kLetters[index] : '0';
}

const char* color_of(OrtLoggingLevel severity) {
  if (severity == ORT_LOGGING_LEVEL_WARNING) return "\033[0;93m";
  if (severity == ORT_LOGGING_LEVEL_ERROR) return "\033[1;31m";
  if (severity == ORT_LOGGING_LEVEL_FATAL) return "\033[0;37;41m";
  return "";
}

std::string time_text() {
  using std::chrono::nanoseconds;
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  const auto nanos = std::chrono::duration_cast<nanoseconds>(since).count();
  const time_t seconds = static_cast<time_t>(nanos / 1'000'000'000);
  tm parts{};
  gmtime_r(&seconds, &parts);
  char day[32], text[48];
  std::strftime(day, sizeof day, "%Y-%m-%d %H:%M:%S", &parts);
  std::snprintf(text, sizeof text, "%s.%09lld", day, static_cast<long long>(nanos % 1'000'000'000));
  return text;
}

// In one piece, so that lines of several threads don't mix.
void write_line(OrtLoggingLevel severity, const std::string& id, const char* location,
                std::string_view message) {
  const char* color = color_of(severity);
  std::string line = color + time_text() + " [" + letter_of(severity) + ":" + kCategory + ":" + id +
                     ", " + location + "] ";
  line += message;
  if (*color) line += "\033[m";
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

OrtLoggingLevel severity_of(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return ORT_LOGGING_LEVEL_ERROR;
    case LogLevel::kWarning:
      return ORT_LOGGING_LEVEL_WARNING;
    case LogLevel::kInfo:
      return ORT_LOGGING_LEVEL_INFO;
    default:
      return ORT_LOGGING_LEVEL_VERBOSE;
  }
}

}  // namespace

LogSink sink_to(const OrtLogger& logger) {
  return [&logger](LogLevel level, std::string_view message) {
    logger.write(severity_of(level), "session.cpp:1 Session", message);
  };
}

LogLevel log_level_of(OrtLoggingLevel level) {
  switch (level) {
    case ORT_LOGGING_LEVEL_VERBOSE:
      return LogLevel::kDebug;
    case ORT_LOGGING_LEVEL_INFO:
      return LogLevel::kInfo;
    case ORT_LOGGING_LEVEL_WARNING:
      return LogLevel::kWarning;
    case ORT_LOGGING_LEVEL_ERROR:
      return LogLevel::kError;
    default:
      return level < ORT_LOGGING_LEVEL_VERBOSE ? LogLevel::kDebug : LogLevel::kOff;
  }
}

OrtStatus* Functions::Logger_LogMessage(const OrtLogger* logger, OrtLoggingLevel log_severity_level,
                                        const char* message, const char* file_path, int line_number,
                                        const char* func_name) {
  return guarded([&] {
    const OrtLogger& to = require(logger, "logger");
    const char* text = &require(message, "message");
    const std::string location = sardonyx::text(file_path ? file_path : "", ":", line_number, " ",
                                                func_name ? func_name : "");
    if (to.wants(log_severity_level)) to.write(log_severity_level, location.c_str(), text);
  });
}

OrtStatus* Functions::Logger_GetLoggingSeverityLevel(const OrtLogger* logger,
                                                     OrtLoggingLevel* out) {
  return guarded([&] { require(out, "out") = require(logger, "logger").level.load(); });
}

}  // namespace sardonyx::ort_abi

void OrtLogger::write(OrtLoggingLevel severity, const char* location,
                      std::string_view message) const {
  using namespace sardonyx::ort_abi;  // NOLINT: the struct is outside of every namespace
  if (!wants(severity)) return;
  if (!destination.function) return write_line(severity, id, location, message);
  destination.function(destination.param, severity, kCategory, id.c_str(), location,
                       std::string(message).c_str());
}
