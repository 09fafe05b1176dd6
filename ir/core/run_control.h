// Limits that hold for the work of the current thread: memory, deadline, cancellation.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "ir/core/memory/memory_source.h"

namespace sardonyx {

// Counts the bytes of all buffers that were allocated under it and refuses more than `limit`; may
// say where their memory comes from. Shared by every buffer that it paid for, so it lives as long
// as they do.
class MemoryBudget {
 public:
  explicit MemoryBudget(size_t limit, std::shared_ptr<MemorySource> source = nullptr)
      : limit_(limit), source_(std::move(source)) {}
  void take(size_t bytes);  // throws kResourceExhausted beyond the limit
  void give_back(size_t bytes) { used_ -= bytes; }
  size_t used() const { return used_; }
  size_t peak() const { return peak_; }
  size_t limit() const { return limit_; }
  MemorySource* source() const { return source_.get(); }  // null: the operating system

 private:
  const size_t limit_;
  const std::shared_ptr<MemorySource> source_;
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
// Where it says that memory comes from; null: the operating system.
MemorySource* current_memory_source();

// Throws kCancelled or kDeadlineExceeded if the current control says so. Anything that may take
// longer than a few milliseconds calls it in its outer loops.
void check_interrupted();
// Whether check_interrupted() would throw; for use inside parallel loops.
bool is_interrupted();

}  // namespace sardonyx
