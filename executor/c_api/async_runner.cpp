#include "executor/c_api/async_runner.h"

#include <unistd.h>

#include <system_error>
#include <utility>

#include "ir/core/error.h"

namespace sardonyx::c_api {

std::unique_ptr<AsyncRunner> AsyncRunner::started() {
  std::unique_ptr<AsyncRunner> runner(new AsyncRunner);
  runner->process_ = getpid();
  const std::lock_guard lock(runner->mutex_);  // the thread sees `thread_` set
  try {
    runner->thread_ = std::thread(&AsyncRunner::loop, runner.get());
  } catch (const std::system_error& error) {
    fail(ErrorCode::kResourceExhausted, "no thread for an asynchronous run: ", error.what());
  }
  return runner;
}

void AsyncRunner::end(std::unique_ptr<AsyncRunner> runner) {
  if (!runner) return;
  if (!runner->is_here()) {
    runner.release();  // its locks may be held by threads that are not here
    return;
  }
  std::unique_lock lock(runner->mutex_);
  runner->ends_ = true;
  if (runner->is_own_thread()) {
    runner->is_abandoned_ = true;
    runner->thread_.detach();
    lock.unlock();
    runner.release();  // deleted by its thread
    return;
  }
  lock.unlock();
  runner->changed_.notify_all();
  runner->thread_.join();
}

bool AsyncRunner::is_here() const {
  return process_ == getpid();
}

void AsyncRunner::start(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    next_ = std::move(task);
  }
  changed_.notify_all();
}

void AsyncRunner::wait() {
  std::unique_lock lock(mutex_);
  if (is_own_thread()) return;
  changed_.wait(lock, [this] { return !next_ && !is_busy_; });
}

void AsyncRunner::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return next_ || ends_; });
    if (!next_) break;
    is_busy_ = true;
    // The task ends before the lock is taken again: what it holds may end this runner.
    {
      const std::function<void()> task = std::exchange(next_, nullptr);
      lock.unlock();
      task();
    }
    lock.lock();
    is_busy_ = false;
    changed_.notify_all();
  }
  const bool is_abandoned = is_abandoned_;
  lock.unlock();
  if (is_abandoned) delete this;
}

}  // namespace sardonyx::c_api
