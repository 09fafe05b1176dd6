#include "eager/distributed/communication_thread.h"

#include <signal.h>
#include <sys/prctl.h>

namespace sardonyx::eager::distributed {

CommunicationThread::CommunicationThread() {
  // Signals are the program's threads' to handle.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

CommunicationThread::~CommunicationThread() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::future<void> CommunicationThread::post(std::string what, std::function<void()> task) {
  std::packaged_task<void()> packaged(std::move(task));
  std::future<void> done = packaged.get_future();
  {
    const std::lock_guard lock(mutex_);
    tasks_.emplace_back(std::move(what), std::move(packaged));
  }
  changed_.notify_all();
  return done;
}

CallProgress CommunicationThread::progress() {
  const std::lock_guard lock(mutex_);
  return progress_;
}

void CommunicationThread::run() {
  // It sleeps for some microseconds at a time, which the kernel would make 50 more.
  prctl(PR_SET_TIMERSLACK, 1000);
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return is_ending_ || !tasks_.empty(); });
    if (tasks_.empty()) return;
    std::packaged_task<void()> task = std::move(tasks_.front().second);
    progress_.current = std::move(tasks_.front().first);
    progress_.since = std::chrono::steady_clock::now();
    tasks_.pop_front();
    lock.unlock();
    task();
    lock.lock();
    progress_ = {.finished = progress_.finished + 1};
  }
}

}  // namespace sardonyx::eager::distributed
