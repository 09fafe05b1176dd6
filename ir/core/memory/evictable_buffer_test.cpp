#include "ir/core/memory/evictable_buffer.h"

#include <gtest/gtest.h>

#include <cstring>

namespace sardonyx {
namespace {

TEST(EvictableBuffer, reads_its_elements_as_often_as_they_are_wanted_again) {
  int reads = 0;
  const auto buffer = std::make_shared<EvictableBuffer>(8, [&](std::byte* to) {
    const float values[] = {1, static_cast<float>(++reads)};
    std::memcpy(to, values, sizeof values);
  });
  const Tensor tensor(DType::kFloat, {2}, buffer);
  EXPECT_FALSE(buffer->is_there());
  buffer->reload();
  EXPECT_EQ(tensor.values<float>()[1], 1);
  load_weight(tensor);
  EXPECT_EQ(peek(tensor), tensor.raw());
  EXPECT_EQ(reads, 1);
  buffer->release();
  EXPECT_FALSE(buffer->is_there());
  EXPECT_EQ(tensor.raw(), nullptr);
  buffer->reload();
  EXPECT_EQ(tensor.values<float>()[1], 2);
}

TEST(ScopedLoad, evicts_again_what_was_evicted) {
  const auto buffer =
      std::make_shared<EvictableBuffer>(4, [](std::byte* to) { std::memset(to, 0, 4); });
  const Tensor tensor(DType::kFloat, {1}, buffer);
  {
    const ScopedLoad look(tensor);
    EXPECT_EQ(*peek(tensor), std::byte{0});
  }
  EXPECT_FALSE(buffer->is_there());
  load_weight(tensor);
  {
    const ScopedLoad look(tensor);
    EXPECT_EQ(tensor.values<float>()[0], 0);
  }
  EXPECT_TRUE(buffer->is_there());
}

TEST(ScopedLoad, leaves_other_tensors_alone) {
  const Tensor tensor = Tensor::scalar(1.f);
  {
    const ScopedLoad look(tensor);
    EXPECT_EQ(peek(tensor), tensor.raw());
  }
  load_weight(tensor);
  EXPECT_EQ(tensor.values<float>()[0], 1);
}

TEST(EvictableBuffer, that_can_not_be_read_stays_evicted) {
  const auto buffer = std::make_shared<EvictableBuffer>(
      4, [](std::byte*) { fail(ErrorCode::kInvalidArgument, "gone"); });
  EXPECT_THROW(buffer->reload(), Error);
  EXPECT_FALSE(buffer->is_there());
  EXPECT_EQ(buffer->data(), nullptr);
}

}  // namespace
}  // namespace sardonyx
