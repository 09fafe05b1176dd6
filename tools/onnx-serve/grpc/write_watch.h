// Answers that clients do not take.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

#include "tools/onnx-serve/http/body_storage.h"

namespace sardonyx::serve {

// The time that a call has for the answer it is writing: as over HTTP.
class WriteWatch {
 public:
  using Clock = std::chrono::steady_clock;
  explicit WriteWatch(std::function<void()> cancel) : cancel_(std::move(cancel)) {}

  void begin(uint64_t bytes, Clock::time_point now = Clock::now()) {
    until_ = now + Progress::time_for_answer(bytes);
  }
  void end() { until_ = Clock::time_point::max(); }
  void cancel_if_late(Clock::time_point now) {
    if (now < until_.load()) return;
    // Callbacks of the call may come, in this thread, before the cancellation returns.
    const std::lock_guard lock(mutex_);
    end();
    if (!is_closed_) cancel_();
  }
  // The call is over: there is nothing to cancel from now on.
  void close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    end();
  }

 private:
  std::atomic<Clock::time_point> until_ = Clock::time_point::max();
  std::recursive_mutex mutex_;
  bool is_closed_ = false;
  const std::function<void()> cancel_;
};

// The watches of all calls that write.
class WriteWatches {
 public:
  std::shared_ptr<WriteWatch> add(std::function<void()> cancel) {
    auto watch = std::make_shared<WriteWatch>(std::move(cancel));
    const std::lock_guard lock(mutex_);
    watches_.insert(watch);
    return watch;
  }
  void remove(const std::shared_ptr<WriteWatch>& watch) {
    {
      const std::lock_guard lock(mutex_);
      watches_.erase(watch);
    }
    watch->close();
  }
  void cancel_late(WriteWatch::Clock::time_point now) {
    std::set<std::shared_ptr<WriteWatch>> all;
    {
      const std::lock_guard lock(mutex_);
      all = watches_;
    }
    for (const auto& watch : all)
      watch->cancel_if_late(now);
  }

 private:
  std::mutex mutex_;
  std::set<std::shared_ptr<WriteWatch>> watches_;
};

}  // namespace sardonyx::serve
