#include "ir/core/threading/interruptible_loops.h"

#include <gtest/gtest.h>

#include <vector>

#include "ir/core/error.h"

namespace sardonyx::cpu {
namespace {

ErrorCode code_of(const auto& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::kInternal;
}

TEST(Tasks, EachRunsOnce) {
  for (const int threads : {1, 3}) {
    std::vector<int> runs(1000, 0);
    for_each_task(1000, threads, 1 << 18, [&](int64_t task) { ++runs[static_cast<size_t>(task)]; });
    EXPECT_EQ(runs, std::vector<int>(1000, 1));
  }
}

TEST(Tasks, NoneRunsPastTheDeadline) {
  const RunControl control{nullptr, std::chrono::steady_clock::now(), {}};
  const ControlScope scope(control);
  for (const int threads : {1, 3}) {
    const auto run = [&] { for_each_task(1000, threads, kWorkPerPoll, [](int64_t) { FAIL(); }); };
    EXPECT_EQ(code_of(run), ErrorCode::kDeadlineExceeded);
  }
}

TEST(Tasks, EndSoonAfterACancellation) {
  for (const int threads : {1, 3}) {
    std::stop_source source;
    const RunControl control{nullptr, {}, source.get_token()};
    const ControlScope scope(control);
    std::atomic<int64_t> runs = 0;
    const auto run = [&] {
      for_each_task(3000, threads, kWorkPerPoll, [&](int64_t) {
        if (++runs == 10) source.request_stop();
      });
    };
    EXPECT_EQ(code_of(run), ErrorCode::kCancelled);
    EXPECT_LT(runs, 3000);
  }
}

TEST(Tasks, AreAskedOftenEnough) {
  EXPECT_EQ(poll_mask(1), kWorkPerPoll - 1);
  EXPECT_EQ(poll_mask(kWorkPerPoll / 5), 3);
  EXPECT_EQ(poll_mask(kWorkPerPoll * 9), 0);
  EXPECT_EQ(poll_mask(0), kWorkPerPoll - 1);
}

}  // namespace
}  // namespace sardonyx::cpu
