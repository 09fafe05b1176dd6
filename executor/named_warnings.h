// Warnings that have a name: each is logged once in the life of a session.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "executor/log.h"

namespace sardonyx {

// Logs each named warning once. Thread-safe.
class NamedWarnings {
 public:
  // Refers to `log`, which must outlive it.
  explicit NamedWarnings(const Log& log) : log_(log) {}

  void tell(std::string_view name, std::string_view message) {
    {
      const std::lock_guard lock(mutex_);
      if (!told_.emplace(name).second) return;
    }
    log_.write(LogLevel::kWarning, message, " [", name, "; further ones are not logged]");
  }

 private:
  const Log& log_;
  std::mutex mutex_;
  std::set<std::string, std::less<>> told_;
};

}  // namespace sardonyx
