// Threads for runs that do not wait: each is started when all others are at work.
#pragma once

#include <functional>
#include <memory>

namespace sardonyx {

// `start` and `wait` may be called by any thread.
class AsyncWorkers {
 public:
  // Starts at most `limit` threads; further tasks are queued.
  explicit AsyncWorkers(int limit);
  // Calls end().
  ~AsyncWorkers();
  AsyncWorkers(const AsyncWorkers&) = delete;
  AsyncWorkers& operator=(const AsyncWorkers&) = delete;

  // `task` must not throw. Throws kResourceExhausted where there is no thread to be had. A forked
  // child gets threads of its own.
  void start(std::function<void()> task);
  // Blocks until no task is left. Called from within a task, or in a forked child, it returns at
  // once.
  void wait();
  // Waits for all tasks, for owners of what tasks use: no others are started from then on. From
  // within a task it does not wait for this one, and runs itself those that have not begun; the
  // thread ends by itself. In a process that was forked from the one with the threads there is
  // nothing to wait for.
  void end();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace sardonyx
