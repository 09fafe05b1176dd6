#include "ir/reuse.h"

#include <gtest/gtest.h>

#include "ir/memory_guard.h"

namespace sardonyx {
namespace {

constexpr int64_t kShape[] = {2, 3};

TEST(Reuse, ATensorIsMadeOverTheOneBefore) {
  Datum slot;
  const void* first = renewed_tensor(slot, DType::kFloat, kShape).raw();
  const int64_t smaller[] = {5};
  const Tensor& again = renewed_tensor(slot, DType::kInt32, smaller);
  EXPECT_EQ(again.raw(), first);
  EXPECT_EQ(again.shape(), Shape{5});
  EXPECT_EQ(again.dtype(), DType::kInt32);
}

TEST(Reuse, WhatOthersHoldIsLeftAlone) {
  Datum slot;
  renewed_tensor(slot, DType::kInt64, kShape).mutable_values<int64_t>()[0] = 7;
  const Datum held = slot;
  renewed_tensor(slot, DType::kInt64, kShape).mutable_values<int64_t>()[0] = 8;
  EXPECT_EQ(held.tensor().values<int64_t>()[0], 7);
  keep_own(slot);
  EXPECT_TRUE(holds_tensor(slot));
  slot = held;
  keep_own(slot);
  EXPECT_FALSE(holds_tensor(slot));
}

TEST(Reuse, BorrowedMemoryIsNotWritten) {
  float elements[] = {1, 2, 3, 4, 5, 6};
  Datum slot(Tensor(DType::kFloat, {2, 3}, Buffer::borrow(elements, sizeof elements, nullptr)));
  EXPECT_NE(renewed_tensor(slot, DType::kFloat, kShape).raw(), elements);
  slot = Tensor(DType::kFloat, {2, 3}, Buffer::borrow(elements, sizeof elements, nullptr));
  keep_own(slot);
  EXPECT_FALSE(holds_tensor(slot));
}

TEST(Reuse, StringsAndBytesDoNotMix) {
  Datum slot(Tensor::vector<std::string>({"one", "two"}));
  const int64_t count = 2;
  renewed_tensor(slot, DType::kFloat, {&count, 1}).mutable_values<float>()[1] = 1;
  renewed_tensor(slot, DType::kString, {&count, 1}).mutable_values<std::string>()[1] = "three";
  EXPECT_EQ(slot.tensor().values<std::string>()[1], "three");
}

TEST(Reuse, AClearedSlotHoldsNoTensor) {
  Datum slot(Tensor::scalar(1.0f));
  EXPECT_TRUE(holds_tensor(slot));
  clear_slot(slot);
  EXPECT_FALSE(holds_tensor(slot));
  slot = Sequence();
  clear_slot(slot);
  EXPECT_FALSE(holds_tensor(slot));
}

TEST(BufferPool, GivesBackWhatFits) {
  if (memory_guard() != MemoryGuard::kNone) GTEST_SKIP() << "where memory is watched none is kept";
  BufferPool pool(1 << 20);
  for (const size_t bytes : {1u, 64u, 65u, 80u, 100u, 1000u, 4096u, 5000u}) {
    std::shared_ptr<Buffer> buffer = pool.take(bytes);
    ASSERT_GE(buffer->size(), bytes);
    EXPECT_LE(buffer->size(), std::max<size_t>(64, bytes + bytes / 4 + 16));
    const Buffer* before = buffer.get();
    pool.give_back(std::move(buffer));
    EXPECT_EQ(pool.take(bytes).get(), before) << bytes;
  }
}

TEST(BufferPool, KeepsNeitherWhatOthersHoldNorTooMuch) {
  BufferPool pool(1000);
  std::shared_ptr<Buffer> held = pool.take(512);
  pool.give_back(held);
  EXPECT_NE(pool.take(512), held);
  pool.give_back(pool.take(4096));
  std::shared_ptr<Buffer> first = pool.take(512), second = pool.take(640);
  const std::weak_ptr<Buffer> gone = first;
  pool.give_back(std::move(first));
  pool.give_back(std::move(second));
  EXPECT_TRUE(gone.expired());  // both together are more than the limit
}

}  // namespace
}  // namespace sardonyx
