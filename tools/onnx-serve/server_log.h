// What the server says of itself, a line each.
#pragma once

#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/log.h"

namespace sardonyx::serve {

class ServerLog {
 public:
  // As clients read and change them (/v2/logging).
  struct Settings {
    std::string file;  // "": stderr
    bool info = true, warning = true, error = true;
    uint32_t verbose_level = 0;      // 1: a line for each request
    std::string format = "default";  // or "json"
  };
  static bool is_setting(std::string_view name);
  using Fields = std::vector<std::pair<std::string_view, std::string>>;

  ServerLog() = default;
  ~ServerLog();
  ServerLog(const ServerLog&) = delete;
  ServerLog& operator=(const ServerLog&) = delete;

  Settings settings() const;
  // Throws ServingError kInvalidArgument where the file can't be opened, or for an unknown format;
  // then all stays as it was.
  void configure(const Settings& settings);
  bool logs_requests() const { return logs_requests_.load(std::memory_order_relaxed); }

  void write(LogLevel level, std::string_view message, const Fields& fields = {});

 private:
  mutable std::mutex mutex_;
  Settings settings_;
  std::FILE* file_ = nullptr;  // null: stderr
  std::atomic<bool> logs_requests_ = false;
};

}  // namespace sardonyx::serve
