#include "tools/onnx-run/process_pool.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <vector>

namespace sardonyx::tool {
namespace {

TEST(WorkerPoolTest, ACrashOrHangCostsOneTask) {
  const auto task = [](size_t index) -> std::string {
    if (index == 3) raise(SIGKILL);
    if (index == 4) _exit(7);
    if (index == 5) pause();
    return std::to_string(index * index);
  };
  std::vector<TaskOutcome> outcomes(8);
  const ProcessPool pool{.jobs = 3, .limit = std::chrono::milliseconds(1000)};
  pool.run(outcomes.size(), task,
           [&](size_t index, const TaskOutcome& outcome) { outcomes[index] = outcome; });
  for (const size_t index : {0, 1, 2, 6, 7}) {
    EXPECT_EQ(outcomes[index].failure, "");
    EXPECT_EQ(outcomes[index].answer, std::to_string(index * index));
  }
  EXPECT_EQ(outcomes[3].failure, "killed by SIGKILL");
  EXPECT_EQ(outcomes[4].failure, "ended with status 7 and no result");
  EXPECT_EQ(outcomes[5].failure, "no result within 1 s");
}

TEST(WorkerPoolTest, LargeAnswersAndNoTasks) {
  const ProcessPool pool{.jobs = 2, .limit = std::chrono::seconds(20)};
  std::string got;
  pool.run(
      1, [](size_t) { return std::string(3 << 20, 'x'); },
      [&](size_t, const TaskOutcome& outcome) { got = outcome.answer; });
  EXPECT_EQ(got.size(), size_t{3} << 20);
  pool.run(
      0, [](size_t) { return std::string(); }, [](size_t, const TaskOutcome&) { FAIL(); });
}

}  // namespace
}  // namespace sardonyx::tool
