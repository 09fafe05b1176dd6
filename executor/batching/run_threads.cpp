#include "executor/batching/run_threads.h"

#include <signal.h>

#include <algorithm>
#include <system_error>

namespace sardonyx::serving {
namespace {

// Signals are for the program's own threads.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &previous_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }

 private:
  sigset_t previous_;
};

}  // namespace

RunThreads::~RunThreads() {
  {
    const std::lock_guard lock(clock_mutex_);
    clock_ends_ = true;
  }
  clock_changed_.notify_all();
  if (clock_.joinable()) clock_.join();
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  has_work_.notify_all();
  for (std::thread& thread : threads_)
    thread.join();
}

void RunThreads::reserve(int threads) {
  const std::lock_guard lock(mutex_);
  limit_ += threads;
}

void RunThreads::post(Task task) {
  const std::lock_guard lock(mutex_);
  tasks_.push(std::move(task));
  const bool is_taken = static_cast<size_t>(idle_) >= tasks_.size();
  if (!is_taken && threads_.size() < static_cast<size_t>(std::max(limit_, 1))) {
    try {
      const BlockedSignals blocked;
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) throw;  // nobody would ever do the task
    }
  }
  has_work_.notify_one();
}

void RunThreads::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    has_work_.wait(lock, [&] { return ends_ || !tasks_.empty(); });
    --idle_;
    if (tasks_.empty()) return;
    {
      const Task task = std::move(tasks_.front());
      tasks_.pop();
      lock.unlock();
      task();
    }
    lock.lock();
  }
}

RunThreads::Timer RunThreads::call_at(Clock::time_point time, Task task) {
  const std::lock_guard lock(clock_mutex_);
  if (!clock_.joinable()) {
    const BlockedSignals blocked;
    clock_ = std::thread([this] { keep_time(); });
  }
  const Timer timer{time, next_timer_++};
  const auto at = timers_.emplace(timer, std::move(task)).first;
  if (at == timers_.begin()) clock_changed_.notify_one();
  return timer;
}

void RunThreads::cancel(const Timer& timer) {
  const std::lock_guard lock(clock_mutex_);
  timers_.erase(timer);
}

void RunThreads::keep_time() {
  std::unique_lock lock(clock_mutex_);
  while (!clock_ends_) {
    if (timers_.empty()) {
      clock_changed_.wait(lock);
      continue;
    }
    const Clock::time_point next = timers_.begin()->first.first;
    if (next > Clock::now()) {
      clock_changed_.wait_until(lock, next);
      continue;
    }
    const Task task = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    lock.unlock();
    task();
    lock.lock();
  }
}

}  // namespace sardonyx::serving
