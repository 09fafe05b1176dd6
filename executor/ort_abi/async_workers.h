// Threads for runs that do not wait: each is started when all others are at work.
#pragma once

#include <functional>
#include <memory>

namespace sardonyx::ort_abi {

class AsyncWorkers {
 public:
  // At most `limit` threads; what is more waits its turn.
  explicit AsyncWorkers(int limit);
  // Waits for all tasks; from within a task it does not, and the thread ends by itself.
  ~AsyncWorkers();
  AsyncWorkers(const AsyncWorkers&) = delete;
  AsyncWorkers& operator=(const AsyncWorkers&) = delete;

  // `task` must not throw. Throws kResourceExhausted where there is no thread to be had.
  void start(std::function<void()> task);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace sardonyx::ort_abi
