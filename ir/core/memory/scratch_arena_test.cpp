#include "ir/core/memory/scratch_arena.h"

#include <gtest/gtest.h>

#include "ir/core/memory/guard_pages.h"

namespace sardonyx {
namespace {

TEST(Scratch, IsTheHeapOutsideOfAnyScope) {
  EXPECT_EQ(scratch(), std::pmr::new_delete_resource());
}

TEST(Scratch, AMarkGivesEverythingBack) {
  if (memory_guard() != MemoryGuard::kNone) GTEST_SKIP() << "each piece has borders of its own";
  Scratch stack;
  const ScratchScope scope(stack);
  const ScratchMark outer;
  std::pmr::vector<int> kept(3, 1, scratch());
  void* first = nullptr;
  for (int i = 0; i < 2; ++i) {
    const ScratchMark mark;
    const std::pmr::vector<int> inner(100, i, scratch());
    if (i == 0) first = const_cast<int*>(inner.data());
    EXPECT_EQ(inner.data(), first);
  }
  EXPECT_EQ(kept[2], 1);
}

TEST(Scratch, BlocksBecomeOne) {
  if (memory_guard() != MemoryGuard::kNone) GTEST_SKIP() << "each piece has borders of its own";
  Scratch stack;
  const ScratchScope scope(stack);
  const auto fill = [&] {
    const ScratchMark mark;
    for (int i = 0; i < 20; ++i) {
      const std::pmr::vector<std::byte> piece(3000, std::byte{1}, scratch());
      EXPECT_EQ(reinterpret_cast<uintptr_t>(scratch()->allocate(1, 64)) % 64, 0u);
    }
    return stack.position().block;
  };
  EXPECT_GT(fill(), 0u);
  EXPECT_EQ(fill(), 0u);
}

}  // namespace
}  // namespace sardonyx
