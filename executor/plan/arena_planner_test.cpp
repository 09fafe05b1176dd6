#include "executor/plan/arena_planner.h"

#include <gtest/gtest.h>

#include <random>

namespace sardonyx {
namespace {

bool overlap(const MemoryItem& a, const MemoryItem& b) {
  const bool in_time = a.first_step <= b.last_step && b.first_step <= a.last_step;
  return in_time && a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

TEST(MemoryLayout, items_that_live_at_once_are_apart) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<MemoryItem> items(random() % 40);
    for (MemoryItem& item : items) {
      item.bytes = random() % 5000;
      item.first_step = random() % 50;
      item.last_step = item.first_step + random() % 10;
    }
    const size_t arena = assign_offsets(items);
    EXPECT_GE(arena, peak_live_bytes(items));
    for (size_t i = 0; i < items.size(); ++i) {
      EXPECT_EQ(items[i].offset % kArenaAlignment, 0u);
      EXPECT_LE(items[i].offset + items[i].bytes, arena);
      for (size_t k = 0; k < i; ++k)
        EXPECT_FALSE(overlap(items[i], items[k]));
    }
  }
}

TEST(MemoryLayout, a_chain_needs_two_buffers) {
  std::vector<MemoryItem> items;
  for (size_t step = 0; step < 10; ++step)
    items.push_back({0, 1024, step, step + 1, 0});
  EXPECT_EQ(assign_offsets(items), 2048u);
}

TEST(MemoryLayout, guarded_items_share_nothing_and_end_at_a_gap) {
  std::vector<MemoryItem> items{{0, 100, 0, 1, 0}, {1, 4096, 2, 3, 0}, {2, 0, 4, 5, 0}};
  for (const size_t gap : {size_t{128}, size_t{4096}}) {
    const size_t arena = place_items_apart(items, gap);
    size_t end = 0;
    for (const MemoryItem& item : items) {
      EXPECT_EQ(item.offset % kArenaAlignment, 0u);
      EXPECT_GE(item.offset, end + gap);
      end = item.offset + (item.bytes + 63) / 64 * 64;
      EXPECT_EQ(end % gap, 0u);
    }
    EXPECT_EQ(arena, end + gap);
  }
}

}  // namespace
}  // namespace sardonyx
