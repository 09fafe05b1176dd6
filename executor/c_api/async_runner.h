// A thread that runs one task after another, started by the first.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

namespace sardonyx::c_api {

class AsyncRunner {
 public:
  // Throws kResourceExhausted where no thread can be made.
  static std::unique_ptr<AsyncRunner> started();
  // Waits for the last task and ends the thread. Within a task it does not wait: the thread ends by
  // itself. In a process that was forked from the runner's there is no thread to wait for.
  static void end(std::unique_ptr<AsyncRunner> runner);

  // Is the thread one of this process? A forked child has none of its parent's.
  bool is_here() const;
  // One task at a time, or one from within another.
  void start(std::function<void()> task);
  // Until no task is left; within a task it returns at once.
  void wait();

 private:
  AsyncRunner() = default;
  void loop();
  bool is_own_thread() const { return std::this_thread::get_id() == thread_.get_id(); }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> next_;
  bool is_busy_ = false, ends_ = false, is_abandoned_ = false;
  std::thread thread_;
  int process_ = 0;
};

}  // namespace sardonyx::c_api
