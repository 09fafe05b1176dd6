#include "eager/data/distributed_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "ir/core/error.h"

namespace sardonyx::eager::data {
namespace {

// How often each sample comes, counted over all ranks.
std::map<int64_t, int> counts_of(int64_t count, int ranks, DistributedSamplerOptions options,
                                 int64_t epoch = 0) {
  std::map<int64_t, int> counts;
  for (int rank = 0; rank < ranks; ++rank) {
    const DistributedSampler sampler(count, ranks, rank, options);
    const std::vector<int64_t> order = sampler.order(epoch);
    EXPECT_EQ(static_cast<int64_t>(order.size()), sampler.size());
    for (const int64_t sample : order)
      ++counts[sample];
  }
  return counts;
}

TEST(DistributedSamplerTest, EverySampleOnceButForPadding) {
  for (const bool shuffle : {false, true}) {
    for (const int64_t count : {1, 2, 7, 8, 9, 100}) {
      for (const int ranks : {1, 2, 3, 8}) {
        const auto padded = counts_of(count, ranks, {.shuffle = shuffle});
        EXPECT_EQ(static_cast<int64_t>(padded.size()), count);
        int64_t total = 0;
        for (const auto& [sample, times] : padded)
          total += times;
        EXPECT_EQ(total, (count + ranks - 1) / ranks * ranks);
        const auto dropped = counts_of(count, ranks, {.shuffle = shuffle, .drop_last = true});
        EXPECT_EQ(static_cast<int64_t>(dropped.size()), count / ranks * ranks);
        for (const auto& [sample, times] : dropped)
          EXPECT_EQ(times, 1);
      }
    }
  }
}

// What torch 1.13's DistributedSampler(range(10), 4, rank, shuffle=False) gives.
TEST(DistributedSamplerTest, InterleavedAsTorch) {
  const DistributedSamplerOptions plain{.shuffle = false};
  EXPECT_EQ(DistributedSampler(10, 4, 1, plain).order(0), (std::vector<int64_t>{1, 5, 9}));
  EXPECT_EQ(DistributedSampler(10, 4, 3, plain).order(0), (std::vector<int64_t>{3, 7, 1}));
}

TEST(DistributedSamplerTest, EpochsAndSeedsShuffle) {
  const DistributedSampler sampler(50, 2, 1, {.seed = 3});
  EXPECT_EQ(sampler.order(4), sampler.order(4));
  EXPECT_NE(sampler.order(4), sampler.order(5));
  EXPECT_NE(sampler.order(4), DistributedSampler(50, 2, 1, {.seed = 4}).order(4));
}

// A run with 3 ranks took 6 samples each of epoch 2; 2 ranks take the others once.
TEST(DistributedSamplerTest, GoesOnWithOtherRanks) {
  std::map<int64_t, int> counts;
  for (int rank = 0; rank < 3; ++rank) {
    const std::vector<int64_t> order = DistributedSampler(40, 3, rank).order(2);
    for (size_t i = 0; i < 6; ++i)
      ++counts[order[i]];
  }
  for (int rank = 0; rank < 2; ++rank) {
    DistributedSampler sampler(40, 2, rank);
    sampler.begin_at(2, 18);
    EXPECT_EQ(sampler.order(2).size(), 11u);
    EXPECT_EQ(sampler.order(3), DistributedSampler(40, 2, rank).order(3));
    for (const int64_t sample : sampler.order(2))
      ++counts[sample];
  }
  EXPECT_EQ(counts.size(), 40u);
  for (const auto& [sample, times] : counts)
    EXPECT_EQ(times, 1) << sample;
  DistributedSampler beyond(40, 2, 0);
  beyond.begin_at(2, 100);
  EXPECT_TRUE(beyond.order(2).empty());
  EXPECT_THROW(beyond.begin_at(-1, 0), Error);
  EXPECT_THROW(beyond.begin_at(0, -1), Error);
}

TEST(DistributedSamplerTest, WrongRanks) {
  EXPECT_THROW(DistributedSampler(10, 2, 2), Error);
  EXPECT_THROW(DistributedSampler(10, 2, -1), Error);
  EXPECT_THROW(DistributedSampler(10, 0, 0), Error);
  EXPECT_THROW(DistributedSampler(-1, 1, 0), Error);
  EXPECT_TRUE(DistributedSampler(0, 2, 1).order(0).empty());
}

}  // namespace
}  // namespace sardonyx::eager::data
