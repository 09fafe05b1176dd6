// The one thread that talks to MPI.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

namespace sardonyx::eager::distributed {

class CommunicationThread {
 public:
  CommunicationThread();
  // Ends the tasks that were posted, then the thread.
  ~CommunicationThread();
  CommunicationThread(const CommunicationThread&) = delete;
  CommunicationThread& operator=(const CommunicationThread&) = delete;

  // Run in the order of the calls. The future gives what the task throws.
  std::future<void> post(std::function<void()> task);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> tasks_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace sardonyx::eager::distributed
