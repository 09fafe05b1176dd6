#include "executor/plan/planning_mutex.h"

#include <gtest/gtest.h>

#include <future>

#include "ir/core/run_control.h"
#include "tests/support/expect_error.h"

namespace sardonyx {
namespace {

TEST(PlanningMutex, who_waits_for_it_ends_at_its_deadline_or_cancellation) {
  PlanningMutex mutex;
  mutex.lock();
  std::stop_source stop;
  auto waits = std::async(std::launch::async, [&] {
    RunControl control{nullptr, std::nullopt, stop.get_token()};
    const ControlScope scope(control);
    expect_refusal(ErrorCode::kCancelled, "cancel", [&] { mutex.lock(); });
  });
  stop.request_stop();
  waits.get();
  RunControl late{nullptr, std::chrono::steady_clock::now(), {}};
  const ControlScope scope(late);
  expect_refusal(ErrorCode::kDeadlineExceeded, "deadline", [&] { mutex.lock(); });
  mutex.unlock();
  mutex.lock();  // whoever finds it free has no reason to look
  mutex.unlock();
}

TEST(PlanningMutex, goes_to_who_waits) {
  PlanningMutex mutex;
  int count = 0;
  const auto add = [&] {
    for (int i = 0; i < 1000; ++i) {
      const std::lock_guard lock(mutex);
      ++count;
    }
  };
  auto other = std::async(std::launch::async, add);
  add();
  other.get();
  EXPECT_EQ(count, 2000);
}

}  // namespace
}  // namespace sardonyx
