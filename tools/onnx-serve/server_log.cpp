#include "tools/onnx-serve/server_log.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <iterator>

#include "executor/batching/serving_error.h"
#include "executor/serving/json_text.h"

namespace sardonyx::serve {
namespace {

// RFC 3339, in UTC.
std::string time_text() {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm parts = {};
  gmtime_r(&seconds, &parts);
  char date[32], all[48];
  std::strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &parts);
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count() %
      1'000'000;
  std::snprintf(all, sizeof(all), "%s.%06ldZ", date, static_cast<long>(micros));
  return all;
}

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return "error";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kInfo:
      return "info";
    default:
      return "debug";
  }
}

}  // namespace

ServerLog::~ServerLog() {
  if (file_) std::fclose(file_);
}

bool ServerLog::is_setting(std::string_view name) {
  constexpr std::string_view kNames[] = {"log_file",  "log_info",          "log_warning",
                                         "log_error", "log_verbose_level", "log_format"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

ServerLog::Settings ServerLog::settings() const {
  const std::lock_guard lock(mutex_);
  return settings_;
}

void ServerLog::configure(const Settings& settings) {
  using serving::refuse;
  using serving::Status;
  if (settings.format != "default" && settings.format != "ISO8601" && settings.format != "json")
    refuse(Status::kInvalidArgument, "log_format: expected default, ISO8601 or json, got '",
           settings.format, "'");
  const std::lock_guard lock(mutex_);
  if (settings.file != settings_.file) {
    std::FILE* file = nullptr;
    if (!settings.file.empty()) {
      file = std::fopen(settings.file.c_str(), "ae");
      if (!file)
        refuse(Status::kInvalidArgument, "log_file '", settings.file, "': ", strerror(errno));
    }
    if (file_) std::fclose(file_);
    file_ = file;
  }
  settings_ = settings;
  logs_requests_ = settings.verbose_level > 0;
}

void ServerLog::write(LogLevel level, std::string_view message, const Fields& fields) {
  const std::lock_guard lock(mutex_);
  const bool is_wanted = level == LogLevel::kError     ? settings_.error
                         : level == LogLevel::kWarning ? settings_.warning
                         : level == LogLevel::kInfo    ? settings_.info
                                                       : settings_.verbose_level > 0;
  if (!is_wanted) return;
  std::string line;
  if (settings_.format == "json") {
    line = "{\"time\":\"" + time_text() + "\",\"level\":\"";
    line += level_name(level);
    line += "\",\"message\":";
    serving::append_json_string(line, message);
    for (const auto& [name, value] : fields) {
      line += ",\"";
      line += name;
      line += "\":";
      serving::append_json_string(line, value);
    }
    line += "}\n";
  } else {
    line = time_text() + ' ';
    line += level_name(level);
    line += ' ';
    // One line, whatever a client has put into a name.
    for (const char c : message)
      line += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    for (const auto& [name, value] : fields) {
      line += ' ';
      line += name;
      line += '=';
      serving::append_json_string(line, value);
    }
    line += '\n';
  }
  std::FILE* out = file_ ? file_ : stderr;
  std::fwrite(line.data(), 1, line.size(), out);
  std::fflush(out);
}

}  // namespace sardonyx::serve
