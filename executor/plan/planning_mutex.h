// A mutex under which plans are made, one at a time.
#pragma once

#include <condition_variable>
#include <mutex>

namespace sardonyx {

// Plans pack weights, which takes seconds where they are large: who waits for the plan of another
// run ends at its own deadline or cancellation.
class PlanningMutex {
 public:
  // Throws kCancelled or kDeadlineExceeded if the current control says so while it waits.
  void lock();
  void unlock();

 private:
  std::mutex mutex_;
  std::condition_variable given_back_;
  bool is_taken_ = false;
};

}  // namespace sardonyx
