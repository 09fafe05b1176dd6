#include "ir/core/memory/block_allocator.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "ir/core/memory/guard_pages.h"
#include "ir/core/sanitizers.h"

namespace sardonyx {
namespace {

TEST(MemoryBlocks, are_aligned_writable_and_apart) {
  for (const size_t bytes : {0ul, 1ul, 63ul, 4096ul, (256ul << 10) - 1, 256ul << 10, 300ul << 10,
                             (1ul << 20) + 1, 5ul << 20}) {
    std::vector<void*> blocks;
    for (int i = 0; i < 3; ++i) {
      blocks.push_back(take_block(bytes));
      ASSERT_NE(blocks.back(), nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(blocks.back()) % kBlockAlignment, 0u);
      std::memset(blocks.back(), i, bytes);
    }
    for (int i = 0; i < 3; ++i) {
      const auto* data = static_cast<const unsigned char*>(blocks[static_cast<size_t>(i)]);
      if (bytes == 0) continue;
      EXPECT_EQ(data[0] + data[bytes - 1], 2 * i);
    }
    for (void* block : blocks)
      give_back_block(block, bytes);
  }
}

// As the outputs of a run that are let go before the next one: what was written is still there.
TEST(MemoryBlocks, that_are_freed_in_step_are_kept) {
  if (memory_guard() != MemoryGuard::kNone) GTEST_SKIP() << "blocks are guarded";
  if (kThreadSanitizer) GTEST_SKIP() << "blocks are watched";
  release_kept_blocks();
  constexpr size_t kBytes = 800 << 10, kCount = 24;
  std::vector<size_t> reused;
  for (int round = 0; round < 3; ++round) {
    std::vector<unsigned char*> blocks;
    for (size_t i = 0; i < kCount; ++i)
      blocks.push_back(static_cast<unsigned char*>(take_block(kBytes)));
    reused.push_back(0);
    for (unsigned char* block : blocks) {
      reused.back() += block[100] == 7 ? 1 : 0;
      block[100] = 7;
    }
    for (unsigned char* block : blocks)
      give_back_block(block, kBytes);
  }
  EXPECT_EQ(reused[0], 0u);
  EXPECT_LT(reused[1], kCount);  // there is a limit that is kept to at first
  EXPECT_EQ(reused[2], kCount);
  release_kept_blocks();
  auto* fresh = static_cast<unsigned char*>(take_block(kBytes));
  EXPECT_EQ(fresh[100], 0);
  give_back_block(fresh, kBytes);
}

TEST(MemoryBlocks, large_ones_are_kept_where_that_is_asked_for) {
  constexpr size_t kBytes = 40 << 20;
  keep_blocks(128 << 20);
  void* first = take_block(kBytes);
  static_cast<char*>(first)[kBytes - 1] = 7;
  give_back_block(first, kBytes);
  void* second = take_block(kBytes);
  void* third = take_block(kBytes);
  EXPECT_NE(second, third);
  for (void* block : {second, third, take_block(kBytes)})
    give_back_block(block, kBytes);
  keep_blocks(std::nullopt);
  void* last = take_block(kBytes);
  static_cast<char*>(last)[kBytes - 1] = 7;
  give_back_block(last, kBytes);
}

TEST(MemoryBlocks, no_more_is_kept_than_was_asked_for) {
  if (are_blocks_watched()) GTEST_SKIP() << "blocks are watched";
  // Whether one of two blocks was written to before, by their last bytes, when all are taken for
  // the fourth time.
  const auto are_used = [](size_t bytes) {
    bool is_used = false;
    for (int round = 0; round < 4; ++round) {
      auto* first = static_cast<unsigned char*>(take_block(bytes));
      auto* second = static_cast<unsigned char*>(take_block(bytes));
      is_used = first[bytes - 1] == 7 || second[bytes - 1] == 7;
      first[bytes - 1] = second[bytes - 1] = 7;
      give_back_block(first, bytes);
      give_back_block(second, bytes);
    }
    return is_used;
  };
  keep_blocks(16 << 20);
  EXPECT_TRUE(are_used(12 << 20));
  EXPECT_FALSE(are_used(20 << 20));
  EXPECT_FALSE(are_used(40 << 20));
  keep_blocks(0);
  EXPECT_FALSE(are_used(1 << 20));
  EXPECT_FALSE(are_used(40 << 20));
  keep_blocks(std::nullopt);
  EXPECT_TRUE(are_used(1 << 20));
  EXPECT_TRUE(are_used(40 << 20));
  release_kept_blocks();
}

TEST(MemoryBlocks, large_ones_are_kept_once_they_are_asked_for_again) {
  if (are_blocks_watched()) GTEST_SKIP() << "blocks are watched";
  release_kept_blocks();
  constexpr size_t kBytes = 40 << 20, kOther = 48 << 20, kHuge = size_t{300} << 20;
  // Whether a block was written to before, by its last byte.
  const auto was_used = [](size_t bytes) {
    auto* block = static_cast<unsigned char*>(take_block(bytes));
    const bool is_used = block[bytes - 1] == 7;
    block[bytes - 1] = 7;
    give_back_block(block, bytes);
    return is_used;
  };
  EXPECT_FALSE(was_used(kBytes));
  EXPECT_FALSE(was_used(kBytes));
  EXPECT_TRUE(was_used(kBytes));
  for (int i = 0; i < 30; ++i)
    was_used(5 << 20);
  EXPECT_TRUE(was_used(kBytes));
  EXPECT_FALSE(was_used(kOther));
  EXPECT_FALSE(was_used(kBytes));  // went for the other one
  for (int i = 0; i < 3; ++i)
    EXPECT_FALSE(was_used(kHuge));
  release_kept_blocks();
  EXPECT_FALSE(was_used(kBytes));
  release_kept_blocks();
}

TEST(MemoryBlocks, there_is_no_block_of_absurd_size) {
  EXPECT_EQ(take_block(SIZE_MAX - 10), nullptr);
  EXPECT_EQ(take_block(SIZE_MAX / 2), nullptr);
}

}  // namespace
}  // namespace sardonyx
