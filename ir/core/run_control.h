// Limits that hold for the work of the current thread: memory, deadline, cancellation.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>

namespace sardonyx {

// Counts the bytes of all buffers that were allocated under it and refuses more than `limit`.
// Shared by every buffer that it paid for, so it lives as long as they do.
class MemoryBudget {
 public:
  explicit MemoryBudget(size_t limit) : limit_(limit) {}
  void take(size_t bytes);  // throws kResourceExhausted beyond the limit
  void give_back(size_t bytes) { used_ -= bytes; }
  size_t used() const { return used_; }
  size_t peak() const { return peak_; }
  size_t limit() const { return limit_; }

 private:
  const size_t limit_;
  std::atomic<size_t> used_ = 0;
  std::atomic<size_t> peak_ = 0;
};

struct RunControl {
  std::shared_ptr<MemoryBudget> budget;  // null: unlimited
  std::optional<std::chrono::steady_clock::time_point> deadline;
  std::stop_token cancel;
};

// Makes `control` the one of this thread until the scope ends. Scopes nest.
class ControlScope {
 public:
  explicit ControlScope(const RunControl& control);
  ~ControlScope();
  ControlScope(const ControlScope&) = delete;
  ControlScope& operator=(const ControlScope&) = delete;

 private:
  const RunControl* previous_;
};

// The innermost scope's control; null where there is none.
const RunControl* current_control();

// Throws kCancelled or kDeadlineExceeded if the current control says so. Anything that may take
// longer than a few milliseconds calls it in its outer loops.
void check_interrupted();
// Whether check_interrupted() would throw; for use inside parallel loops.
bool is_interrupted();

}  // namespace sardonyx
