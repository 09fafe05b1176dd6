#include "executor/plan/planning_mutex.h"

#include <chrono>

#include "ir/core/run_control.h"

namespace sardonyx {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(5);

}  // namespace

void PlanningMutex::lock() {
  std::unique_lock lock(mutex_);
  while (is_taken_) {
    check_interrupted();
    given_back_.wait_for(lock, kBetweenLooks);
  }
  is_taken_ = true;
}

void PlanningMutex::unlock() {
  {
    const std::lock_guard lock(mutex_);
    is_taken_ = false;
  }
  given_back_.notify_one();
}

}  // namespace sardonyx
