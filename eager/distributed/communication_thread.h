// The one thread that talks to MPI.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace sardonyx::eager::distributed {

// How far a rank has come: all make the same calls in the same order.
struct CallProgress {
  uint64_t finished = 0;     // calls
  std::string current = {};  // what the next one is, where the thread is in it
  std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
};

class CommunicationThread {
 public:
  CommunicationThread();
  // Ends the tasks that were posted, then the thread.
  ~CommunicationThread();
  CommunicationThread(const CommunicationThread&) = delete;
  CommunicationThread& operator=(const CommunicationThread&) = delete;

  // Run in the order of the calls. The future gives what the task throws. `what`: for progress().
  std::future<void> post(std::string what, std::function<void()> task);
  CallProgress progress();

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<std::string, std::packaged_task<void()>>> tasks_;
  CallProgress progress_;
  bool is_ending_ = false;
  std::thread thread_;
};

}  // namespace sardonyx::eager::distributed
