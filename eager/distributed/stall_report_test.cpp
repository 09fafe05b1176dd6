#include "eager/distributed/stall_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sardonyx::eager::distributed {
namespace {

TEST(StallReportTest, NamesWhoWaitsForWhom) {
  std::vector<RankStatus> ranks{
      {.host = "a", .finished = 56, .current = "all_reduce", .seconds = 61},
      {.host = "a", .finished = 56, .current = "", .seconds = 62},
      {.host = "b", .finished = 56, .current = "all_reduce", .seconds = 60.4}};
  EXPECT_EQ(stall_report(ranks, 60),
            "stall: rank 0 on a, rank 2 on b in call 57 (all_reduce); it has not ended for 61 s; "
            "rank 1 on a has made 56 calls and been in none for 62 s");
  EXPECT_EQ(stall_report(ranks, 61.5), "");
  ranks[1] = {.host = "a", .finished = 55, .current = "barrier", .seconds = 3};
  EXPECT_THAT(
      stall_report(ranks, 60),
      testing::HasSubstr("rank 1 on a has made 55 calls and been in the next one (barrier)"));
  ranks[1].silence = 12;
  EXPECT_THAT(stall_report(ranks, 60),
              testing::HasSubstr("rank 1 on a has not been heard of for 12 s"));
  ranks[1].has_ended = true;
  EXPECT_THAT(stall_report(ranks, 60), testing::HasSubstr("; rank 1 on a has ended"));
}

TEST(StallReportTest, NobodyIsLate) {
  std::vector<RankStatus> ranks{{.host = "a", .finished = 5, .current = "barrier", .seconds = 70},
                                {.host = "b", .finished = 5, .current = "barrier", .seconds = 70}};
  EXPECT_THAT(stall_report(ranks, 60), testing::HasSubstr("all ranks are in it"));
  ranks[1].current = "broadcast";
  EXPECT_THAT(stall_report(ranks, 60), testing::HasSubstr("different calls"));
}

TEST(StallReportTest, ManyRanksAreCounted) {
  std::vector<RankStatus> ranks(20, {.host = "a", .finished = 5, .current = "x", .seconds = 70});
  ranks[3] = {.host = "b", .finished = 5, .seconds = 70};
  EXPECT_THAT(stall_report(ranks, 60), testing::HasSubstr("rank 8 on a and 11 more in call 6"));
}

}  // namespace
}  // namespace sardonyx::eager::distributed
