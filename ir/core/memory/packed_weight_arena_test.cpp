#include "ir/core/memory/packed_weight_arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "ir/core/error.h"
#include "ir/core/memory/block_allocator.h"
#include "ir/core/run_control.h"

namespace sardonyx {
namespace {

constexpr size_t kMany = 64 << 20;

TEST(PackedWeightArena, gives_aligned_buffers_that_do_not_overlap) {
  PackedWeightArena arena;
  arena.expect(kMany);
  std::vector<std::shared_ptr<Buffer>> buffers;
  // More than one stretch of addresses, pieces of all sizes and one that is too large for any.
  for (const size_t bytes :
       {1ul, 64ul, 100ul, 5ul << 20, 3ul << 20, (2ul << 20) + 1, 0ul, 4096ul}) {
    for (int i = 0; i < 5; ++i)
      buffers.push_back(arena.allocate(bytes));
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffers[i]->data()) % kBlockAlignment, 0u);
    std::memset(buffers[i]->data(), static_cast<int>(i), buffers[i]->size());
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    for (size_t at = 0; at < buffers[i]->size(); at += 1000)
      ASSERT_EQ(buffers[i]->data()[at], std::byte{static_cast<uint8_t>(i)});
  }
}

TEST(PackedWeightArena, lays_packs_next_to_each_other_where_there_are_many) {
  if (are_blocks_watched()) GTEST_SKIP() << "blocks are watched";
  PackedWeightArena arena;
  arena.expect(kMany);
  const auto first = arena.allocate(1000), second = arena.allocate(1000);
  EXPECT_EQ(second->data() - first->data(), 1024);
}

TEST(PackedWeightArena, buffers_outlive_it) {
  auto arena = std::make_unique<PackedWeightArena>();
  arena->expect(kMany);
  const auto buffer = arena->allocate(1 << 20);
  arena.reset();
  std::memset(buffer->data(), 1, buffer->size());
}

TEST(PackedWeightArena, counts_what_it_gives) {
  const auto budget = std::make_shared<MemoryBudget>(3 << 20);
  const RunControl control{budget, std::nullopt, {}};
  const ControlScope scope(control);
  PackedWeightArena arena;
  arena.expect(kMany);
  auto buffer = arena.allocate(2 << 20);
  EXPECT_EQ(budget->used(), 2u << 20);
  EXPECT_THROW(arena.allocate(2 << 20), Error);
  buffer.reset();
  EXPECT_EQ(budget->used(), 0u);
  EXPECT_NE(arena.allocate(2 << 20), nullptr);
}

TEST(PackedWeightArena, is_that_of_the_innermost_scope) {
  if (are_blocks_watched()) GTEST_SKIP() << "blocks are watched";
  PackedWeightArena outer, inner;
  outer.expect(kMany);
  inner.expect(kMany);
  const PackedWeightArena::Scope outside(outer);
  const auto first = allocate_packed(64);
  {
    const PackedWeightArena::Scope inside(inner);
    const auto elsewhere = allocate_packed(64);
    EXPECT_NE(elsewhere->data(), first->data() + 64);
  }
  EXPECT_EQ(allocate_packed(64)->data(), first->data() + 64);
}

}  // namespace
}  // namespace sardonyx
