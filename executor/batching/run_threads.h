// Threads that run models, and a clock that calls back.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

namespace sardonyx::serving {

using Clock = std::chrono::steady_clock;

// A pool that starts a thread when there is work and none is free, up to the number that models
// have reserved: so no model waits for another one's run, and models that nobody asks cost none.
class RunThreads {
 public:
  using Task = std::function<void()>;

  RunThreads() = default;
  // Waits for the tasks that were posted; timers that have not come are dropped.
  ~RunThreads();
  RunThreads(const RunThreads&) = delete;
  RunThreads& operator=(const RunThreads&) = delete;

  // How many tasks may run at once changes by this many.
  void reserve(int threads);
  void release(int threads) { reserve(-threads); }
  // Tasks must not throw.
  void post(Task task);

  // Calls the task, which must be short, at a time or soon after, in a thread of the clock.
  using Timer = std::pair<Clock::time_point, uint64_t>;
  Timer call_at(Clock::time_point time, Task task);
  // The task is not called, unless it is being called or has been.
  void cancel(const Timer& timer);

 private:
  void work();
  void keep_time();

  std::mutex mutex_;
  std::condition_variable has_work_;
  std::queue<Task> tasks_;
  std::vector<std::thread> threads_;
  int limit_ = 0, idle_ = 0;
  bool ends_ = false;

  std::mutex clock_mutex_;
  std::condition_variable clock_changed_;
  std::map<Timer, Task> timers_;
  uint64_t next_timer_ = 0;
  std::thread clock_;
  bool clock_ends_ = false;
};

}  // namespace sardonyx::serving
