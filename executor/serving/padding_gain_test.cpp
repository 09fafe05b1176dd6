#include "executor/batching/padding_gain.h"

#include <gtest/gtest.h>

namespace sardonyx::serving {
namespace {

void add_often(PaddingGain& gain, bool is_padded, Nanoseconds took) {
  for (int i = 0; i < PaddingGain::kTries; ++i)
    gain.add("a", is_padded, 10, took);
}

TEST(PaddingGain, BothWaysAreTried) {
  PaddingGain gain;
  EXPECT_TRUE(gain.pads_next("a"));
  add_often(gain, true, Nanoseconds(100));
  EXPECT_FALSE(gain.pads_next("a"));
  EXPECT_TRUE(gain.pads_next("b"));
}

TEST(PaddingGain, WhatIsCheaperIsDoneAndTheOtherLookedAtAgain) {
  for (const bool pays : {true, false}) {
    PaddingGain gain;
    add_often(gain, true, Nanoseconds(pays ? 100 : 120));
    add_often(gain, false, Nanoseconds(110));
    uint64_t others = 0;
    for (uint64_t i = 0; i < 2 * PaddingGain::kLooksAgainAt; ++i)
      others += gain.pads_next("a") != pays;
    EXPECT_EQ(others, 2u);
  }
}

TEST(PaddingGain, CostsMayChange) {
  PaddingGain gain;
  add_often(gain, true, Nanoseconds(100));
  add_often(gain, false, Nanoseconds(110));
  EXPECT_TRUE(gain.pads_next("a"));
  for (int i = 0; i < 4; ++i)
    gain.add("a", false, 10, Nanoseconds(50));
  EXPECT_FALSE(gain.pads_next("a"));
}

TEST(PaddingGain, ARunThatPlansCountsLittle) {
  PaddingGain gain;
  gain.add("a", true, 10, Nanoseconds(1000));
  for (int i = 0; i < 8; ++i)
    gain.add("a", true, 10, Nanoseconds(100));
  add_often(gain, false, Nanoseconds(110));
  gain.add("a", true, 10, Nanoseconds(150));
  EXPECT_TRUE(gain.pads_next("a"));
}

}  // namespace
}  // namespace sardonyx::serving
