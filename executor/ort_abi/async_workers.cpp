#include "executor/ort_abi/async_workers.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "ir/core/error.h"

namespace sardonyx::ort_abi {

struct AsyncWorkers::State {
  int limit;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> tasks;
  std::vector<std::thread> threads;
  size_t idle = 0;
  bool ends = false;
  pid_t process = getpid();

  static void loop(std::shared_ptr<State> state) {
    std::unique_lock lock(state->mutex);
    while (true) {
      ++state->idle;
      state->changed.wait(lock, [&] { return state->ends || !state->tasks.empty(); });
      --state->idle;
      if (state->tasks.empty()) return;
      // What the task holds goes before the lock is taken again.
      {
        const std::function<void()> task = std::move(state->tasks.front());
        state->tasks.pop_front();
        lock.unlock();
        task();
      }
      lock.lock();
    }
  }
};

AsyncWorkers::AsyncWorkers(int limit) : state_(std::make_shared<State>()) {
  state_->limit = std::max(1, limit);
}

AsyncWorkers::~AsyncWorkers() {
  if (state_->process != getpid()) {
    // A forked child has none of the threads, and their locks may be held for ever.
    new std::shared_ptr<State>(std::move(state_));
    return;
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->ends = true;
  }
  state_->changed.notify_all();
  for (std::thread& thread : state_->threads) {
    if (thread.get_id() == std::this_thread::get_id())
      thread.detach();
    else
      thread.join();
  }
}

void AsyncWorkers::start(std::function<void()> task) {
  if (state_->process != getpid()) {
    new std::shared_ptr<State>(state_);
    const int limit = state_->limit;
    state_ = std::make_shared<State>();
    state_->limit = limit;
  }
  const std::lock_guard lock(state_->mutex);
  State& state = *state_;
  state.tasks.push_back(std::move(task));
  const bool needs_thread =
      state.idle < state.tasks.size() && state.threads.size() < static_cast<size_t>(state.limit);
  if (needs_thread) {
    try {
      state.threads.emplace_back(State::loop, state_);
    } catch (const std::system_error& error) {
      if (state.threads.empty()) {
        state.tasks.pop_back();
        fail(ErrorCode::kResourceExhausted, "no thread for an asynchronous run: ", error.what());
      }
    }
  }
  state.changed.notify_one();
}

}  // namespace sardonyx::ort_abi
