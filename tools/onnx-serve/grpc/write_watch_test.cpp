#include "tools/onnx-serve/grpc/write_watch.h"

#include <gtest/gtest.h>

namespace sardonyx::serve {
namespace {

using std::chrono::seconds;

TEST(WriteWatch, WhatIsNotTakenInTimeIsCancelledOnce) {
  WriteWatches watches;
  int cancelled = 0;
  const auto begin = WriteWatch::Clock::now();
  const auto watch = watches.add([&] { ++cancelled; });
  watches.cancel_late(begin + seconds(1000));
  EXPECT_EQ(cancelled, 0);  // nothing is being written
  watch->begin(10 * (64 << 10), begin);
  watches.cancel_late(begin + seconds(39));
  EXPECT_EQ(cancelled, 0);
  watches.cancel_late(begin + seconds(41));
  watches.cancel_late(begin + seconds(41));
  EXPECT_EQ(cancelled, 1);
  watch->begin(0, begin);
  watch->end();
  watches.cancel_late(begin + seconds(31));
  EXPECT_EQ(cancelled, 1);
}

TEST(WriteWatch, ACallThatIsOverIsLeftAlone) {
  WriteWatches watches;
  std::shared_ptr<WriteWatch> watch;
  int cancelled = 0;
  const auto begin = WriteWatch::Clock::now();
  // The call may end within its cancellation.
  watch = watches.add([&] {
    ++cancelled;
    watches.remove(watch);
  });
  watch->begin(0, begin);
  watches.cancel_late(begin + seconds(31));
  EXPECT_EQ(cancelled, 1);
  watch->begin(0, begin);
  watch->cancel_if_late(begin + seconds(31));
  EXPECT_EQ(cancelled, 1);
}

}  // namespace
}  // namespace sardonyx::serve
