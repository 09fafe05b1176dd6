#include "ir/buffer_pool.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "ir/core/memory/guard_pages.h"

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
  EXPECT_TRUE(slot.is_tensor());
  slot = held;
  keep_own(slot);
  EXPECT_FALSE(slot.defined());
}

TEST(Reuse, BorrowedMemoryIsNotWritten) {
  float elements[] = {1, 2, 3, 4, 5, 6};
  Datum slot(Tensor(DType::kFloat, {2, 3}, Buffer::borrow(elements, sizeof elements, nullptr)));
  EXPECT_NE(renewed_tensor(slot, DType::kFloat, kShape).raw(), elements);
  slot = Tensor(DType::kFloat, {2, 3}, Buffer::borrow(elements, sizeof elements, nullptr));
  keep_own(slot);
  EXPECT_FALSE(slot.defined());
}

TEST(Reuse, StringsAndBytesDoNotMix) {
  Datum slot(Tensor::vector<std::string>({"one", "two"}));
  const int64_t count = 2;
  renewed_tensor(slot, DType::kFloat, {&count, 1}).mutable_values<float>()[1] = 1;
  renewed_tensor(slot, DType::kString, {&count, 1}).mutable_values<std::string>()[1] = "three";
  EXPECT_EQ(slot.tensor().values<std::string>()[1], "three");
}

TEST(Reuse, AClearedSlotIsOmitted) {
  Datum slot(Tensor::scalar(1.0f));
  EXPECT_TRUE(slot.is_tensor());
  slot.clear();
  EXPECT_FALSE(slot.defined());
  EXPECT_FALSE(slot.is_tensor());
  EXPECT_TRUE(slot.type().is_none());
  EXPECT_THROW(slot.tensor(), Error);
  slot = Sequence();
  slot.clear();
  EXPECT_FALSE(slot.defined());
}

template <typename T>
class ReuseOfA : public testing::Test {};
using Kinds = testing::Types<Sequence, OptionalDatum, Map>;
TYPED_TEST_SUITE(ReuseOfA, Kinds);

TYPED_TEST(ReuseOfA, ValueThatNobodyElseHolds) {
  Datum slot;
  const TypeParam* first = &renewed<TypeParam>(slot);
  EXPECT_EQ(&renewed<TypeParam>(slot), first);
  keep_own(slot);
  EXPECT_EQ(slot.own<TypeParam>(), first);
}

TYPED_TEST(ReuseOfA, ValueThatOthersHoldIsLeftAlone) {
  Datum slot;
  const TypeParam* first = &renewed<TypeParam>(slot);
  std::optional<Datum> other = slot;
  EXPECT_EQ(slot.own<TypeParam>(), nullptr);
  EXPECT_EQ(other->own<TypeParam>(), nullptr);
  EXPECT_NE(&renewed<TypeParam>(slot), first);
  EXPECT_EQ(other->own<TypeParam>(), first);
  slot = *other;
  keep_own(slot);
  EXPECT_FALSE(slot.defined());
  slot = *other;
  other.reset();
  EXPECT_EQ(slot.own<TypeParam>(), first);
}

// What a sequence shares with others is shared still where it has no other owner itself.
TEST(Reuse, ItemsThatOthersHoldAreLeftAlone) {
  const Datum item(Tensor::vector<int64_t>({1, 2, 3, 4, 5, 6}));
  Datum slot;
  renewed<Sequence>(slot).items.assign(2, item);
  const Datum copy = renewed<Sequence>(slot).items[1];
  for (Datum& each : renewed<Sequence>(slot).items)
    renewed_tensor(each, DType::kInt64, kShape).mutable_values<int64_t>()[0] = 7;
  EXPECT_EQ(item.tensor().values<int64_t>()[0], 1);
  EXPECT_EQ(copy.tensor().values<int64_t>()[0], 1);
  EXPECT_EQ(slot.sequence().items[0].tensor().values<int64_t>()[0], 7);
}

TEST(Reuse, RecycledItemsGiveBackTheirBuffers) {
  if (memory_guard() != MemoryGuard::kNone) GTEST_SKIP() << "where memory is watched none is kept";
  BufferPool pool(1 << 20);
  Datum slot;
  std::vector<Datum>& items = renewed<Sequence>(slot).items;
  items.resize(2);
  const Buffer* own = renewed_tensor(items[0], DType::kFloat, kShape, &pool).buffer().get();
  const Datum held = items[1] = Tensor::scalar(1.0f);
  recycle(slot, pool);
  EXPECT_EQ(slot.sequence().items.size(), 2u);
  EXPECT_FALSE(slot.sequence().items[0].defined());
  EXPECT_FALSE(slot.sequence().items[1].defined());
  EXPECT_EQ(held.tensor().values<float>()[0], 1);
  EXPECT_EQ(pool.take(24).get(), own);
  renewed<Sequence>(slot).items.resize(BufferPool::kMaxIdleItems + 1);
  recycle(slot, pool);
  EXPECT_FALSE(slot.defined());
}

// Readers let go of a value while the slot's thread fills the slot again, over the same memory
// where it finds that it is the last. None of the readers sees that.
TEST(Reuse, NoThreadSeesAChangeOfWhatItHolds) {
  Datum slot;
  std::vector<std::jthread> readers;
  for (int64_t round = 0; round < 300; ++round) {
    if (round % 3 == 0) readers.clear();  // joins them, so that nobody is left
    Sequence& sequence = renewed<Sequence>(slot);
    sequence.items.resize(1);
    renewed_tensor(sequence.items[0], DType::kInt64, kShape).mutable_values<int64_t>()[0] = round;
    for (int i = 0; i < 2; ++i) {
      readers.emplace_back([held = slot, round]() mutable {
        const Datum item = held.sequence().items[0];
        held.clear();
        EXPECT_EQ(item.tensor().values<int64_t>()[0], round);
      });
    }
  }
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
