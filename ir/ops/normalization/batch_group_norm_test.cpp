#include "ir/ops/normalization/batch_group_norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/call_op.h"

namespace sardonyx::ops {
namespace {

Tensor waves(const Shape& shape) {
  Tensor tensor = Tensor::allocate(DType::kFloat, shape);
  const std::span<float> values = tensor.mutable_values<float>();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<float>(i * i)) * 3 + 1;
  return tensor;
}

Tensor filled(const Shape& shape, float value) {
  return Tensor::of(std::vector<float>(static_cast<size_t>(element_count(shape)), value), shape);
}

// Four names of one thing: standardizing each image's channel.
TEST(Normalization, AgreeWhereTheyMeanTheSame) {
  const Tensor x = waves({2, 3, 4, 5});
  const Tensor ones = filled({3}, 1), zeros = filled({3}, 0);
  const std::vector<double> instance =
      run_op("InstanceNormalization", {x, ones, zeros})[0].tensor().to_doubles();
  expect_near(run_op("GroupNormalization", {x, ones, zeros}, {{"num_groups", int64_t{3}}})[0],
              instance, 1e-6);
  const Tensor scale = filled({4, 5}, 1);
  expect_near(run_op("LayerNormalization", {x, scale}, {{"axis", int64_t{2}}})[0], instance, 1e-6);
  expect_near(run_op("MeanVarianceNormalization", {x}, {{"axes", std::vector<int64_t>{2, 3}}})[0],
              instance, 1e-4);  // its epsilon is another
}

TEST(Normalization, BatchInTraining) {
  const Tensor x = Tensor::of(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}, {2, 2, 2});
  const auto y = run_op("BatchNormalization",
                        {x, filled({2}, 2), filled({2}, 1), filled({2}, 10), filled({2}, 20)},
                        {{"training_mode", int64_t{1}}, {"momentum", 0.75f}, {"epsilon", 0.0f}}, 3);
  // Channel 0 holds 1 2 5 6: mean 3.5, variance 4.25; channel 1 is 2 more.
  expect_near(y[1], {0.75 * 10 + 0.25 * 3.5, 0.75 * 10 + 0.25 * 5.5}, 1e-5);
  expect_near(y[2], {0.75 * 20 + 0.25 * 4.25, 0.75 * 20 + 0.25 * 4.25}, 1e-5);
  const double a = 2 * 2.5 / std::sqrt(4.25), b = 2 * 1.5 / std::sqrt(4.25);
  expect_near(y[0], {1 - a, 1 - b, 1 - a, 1 - b, 1 + b, 1 + a, 1 + b, 1 + a}, 1e-5);
}

TEST(Normalization, LayerStatisticsAndBroadcastScale) {
  const Tensor x = Tensor::of(std::vector<float>{1, 3, 5, 9}, {2, 2});
  const Tensor scale = Tensor::of(std::vector<float>{2, 10}, {2, 1});
  const auto y = run_op("LayerNormalization", {x, scale, filled({}, 1)}, {{"epsilon", 0.0f}}, 3);
  expect_near(y[0], {-1, 3, -9, 11}, 1e-5);
  expect_near(y[1], {2, 7}, 0);
  expect_near(y[2], {1, 0.5}, 1e-6);
  EXPECT_EQ(y[1].tensor().shape(), (Shape{2, 1}));
}

TEST(Normalization, ZeroNormStaysZero) {
  const Tensor x = Tensor::of(std::vector<float>{0, 0, 3, 4}, {2, 2});
  expect_near(run_op("LpNormalization", {x})[0], {0, 0, 0.6, 0.8}, 1e-6);
}

TEST(Normalization, LocalResponseAtTheEdges) {
  const Tensor x = Tensor::of(std::vector<float>{1, 2, 3, 4}, {1, 4, 1});
  // Size 2 looks at a channel and the one behind it.
  const auto y = run_op("LRN", {x}, {{"size", int64_t{2}}, {"alpha", 2.0f}, {"beta", 1.0f}});
  expect_near(y[0], {1.0 / 6, 2.0 / 14, 3.0 / 26, 4.0 / 17}, 1e-6);
}

}  // namespace
}  // namespace sardonyx::ops
