#include "executor/run/async_workers.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "ir/core/error.h"

namespace sardonyx {

struct AsyncWorkers::State {
  explicit State(size_t most) : limit(most) {}

  const size_t limit;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> tasks;
  std::vector<std::thread> threads;
  size_t idle = 0, busy = 0;
  bool ends = false;
  pid_t process = getpid();

  bool is_here() const { return process == getpid(); }
  bool is_worker() const {
    return std::ranges::any_of(threads, [](const std::thread& thread) {
      return thread.get_id() == std::this_thread::get_id();
    });
  }

  void run_next(std::unique_lock<std::mutex>& lock) {
    ++busy;
    // The task is destroyed before the lock is taken again, since its captures may end these
    // workers.
    {
      const std::function<void()> task = std::move(tasks.front());
      tasks.pop_front();
      lock.unlock();
      task();
    }
    lock.lock();
    --busy;
    changed.notify_all();
  }

  static void loop(const std::shared_ptr<State>& state) {
    std::unique_lock lock(state->mutex);
    while (true) {
      ++state->idle;
      state->changed.wait(lock, [&] { return state->ends || !state->tasks.empty(); });
      --state->idle;
      if (state->tasks.empty()) return;
      state->run_next(lock);
    }
  }
};

namespace {

// A forked child has none of the threads, and their locks may be held for ever.
template <typename State>
void abandon(std::shared_ptr<State> state) {
  new std::shared_ptr<State>(std::move(state));
}

}  // namespace

AsyncWorkers::AsyncWorkers(int limit)
    : state_(std::make_shared<State>(static_cast<size_t>(std::max(1, limit)))) {}

AsyncWorkers::~AsyncWorkers() {
  end();
}

void AsyncWorkers::end() {
  if (!state_->is_here()) {
    abandon(state_);
    return;
  }
  State& state = *state_;
  {
    std::unique_lock lock(state.mutex);
    state.ends = true;
    // A task that ends its own workers runs the queued tasks first: they may use what is destroyed
    // with the workers, and this thread is detached below, not joined.
    while (state.is_worker() && !state.tasks.empty())
      state.run_next(lock);
  }
  state.changed.notify_all();
  for (std::thread& thread : state.threads) {
    if (!thread.joinable()) continue;
    if (thread.get_id() == std::this_thread::get_id())
      thread.detach();
    else
      thread.join();
  }
}

void AsyncWorkers::start(std::function<void()> task) {
  if (!state_->is_here()) {
    abandon(state_);
    state_ = std::make_shared<State>(state_->limit);
  }
  // The state is held here, since the task may destroy these workers before this call returns.
  const std::shared_ptr<State> held = state_;
  State& state = *held;
  {
    const std::lock_guard lock(state.mutex);
    state.tasks.push_back(std::move(task));
    const bool needs_thread = state.idle < state.tasks.size() && state.threads.size() < state.limit;
    if (needs_thread) {
      try {
        state.threads.emplace_back(State::loop, held);
      } catch (const std::system_error& error) {
        if (state.threads.empty()) {
          state.tasks.pop_back();
          fail(ErrorCode::kResourceExhausted, "no thread for an asynchronous run: ", error.what());
        }
      }
    }
  }
  state.changed.notify_all();
}

void AsyncWorkers::wait() {
  if (!state_->is_here()) return;
  std::unique_lock lock(state_->mutex);
  if (state_->is_worker()) return;
  state_->changed.wait(lock, [this] { return state_->tasks.empty() && state_->busy == 0; });
}

}  // namespace sardonyx
