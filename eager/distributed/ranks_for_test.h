// What the tests of several ranks share.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "eager/distributed/process_group.h"
#include "eager/nn/linear.h"
#include "eager/nn/module.h"
#include "ir/core/tensor.h"
#include "tests/support/message_of.h"

namespace sardonyx::eager::distributed {

inline ProcessGroup world() {
  return ProcessGroup::world();
}

inline Tensor floats(const std::vector<float>& values, const Shape& shape) {
  return Tensor(sardonyx::Tensor::of<float>(values, shape));
}

// Rows that depend on step and rank alone.
inline Tensor batch_of(int step, int rank, int64_t width) {
  std::vector<float> values;
  for (int i = 0; i < 6 * static_cast<int>(width); ++i)
    values.push_back(static_cast<float>((i * 37 + step * 101 + rank * 17) % 23) / 7.0f - 1.3f);
  return floats(values, {6, width});
}

// A buffer that every rank would move by another number.
struct Counting : nn::Layer<Counting> {
  nn::Linear scores = add("scores", nn::Linear(5, 3));
  Tensor count = buffer("count", Tensor::scalar(0.0f));
  Tensor forward(const Tensor& x) const {
    count.assign(count + Tensor::scalar(1.0f + static_cast<float>(world().rank())));
    return scores(x);
  }
};

inline void expect_same_bits(const nn::Module& a, const nn::Module& b) {
  const nn::NamedTensors ours = a.named_parameters(), theirs = b.named_parameters();
  ASSERT_EQ(ours.size(), theirs.size());
  for (size_t i = 0; i < ours.size(); ++i)
    EXPECT_TRUE(ours[i].second.data() == theirs[i].second.data()) << ours[i].first;
}

}  // namespace sardonyx::eager::distributed
