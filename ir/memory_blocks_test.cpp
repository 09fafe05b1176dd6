#include "ir/memory_blocks.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

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

TEST(MemoryBlocks, there_is_no_block_of_absurd_size) {
  EXPECT_EQ(take_block(SIZE_MAX - 10), nullptr);
  EXPECT_EQ(take_block(SIZE_MAX / 2), nullptr);
}

}  // namespace
}  // namespace sardonyx
