// What runs took, as a file that chrome://tracing and the tools of ONNX Runtime read.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "executor/session.h"

namespace sardonyx::ort_abi {

// The events of one file. Safe from any number of threads.
class Profile {
 public:
  using Clock = std::chrono::steady_clock;

  // Events count from `start`; the time goes into the file's name, PREFIX_TIME.json.
  void begin(const std::string& prefix, Clock::time_point start);
  bool is_on() const { return is_on_; }
  uint64_t start_nanoseconds() const { return is_on_ || is_ended_ ? start_nanoseconds_ : 0; }

  void add(const char* category, const std::string& name, Clock::time_point begin,
           Clock::time_point end);
  // A run with its steps, one after another.
  void add_run(Clock::time_point begin, Clock::time_point end,
               const std::vector<NodeTiming>& steps);
  // Writes the file and gives its name, "" where nothing was profiled. Throws kInvalidArgument
  // where it can't be written.
  std::string end();

 private:
  struct Event {
    std::string category, name;
    int64_t begin_us, duration_us;
    std::string arguments;  // JSON
  };
  void push(Event event);
  int64_t since_start(Clock::time_point time) const;

  std::atomic<bool> is_on_ = false, is_ended_ = false;
  std::string path_;
  Clock::time_point start_;
  uint64_t start_nanoseconds_ = 0;
  std::mutex mutex_;
  std::vector<Event> events_;
};

}  // namespace sardonyx::ort_abi
