// Random numbers under torch's names: their distributions, seeds and gradients.
#include <gtest/gtest.h>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/functional/tensors_for_test.h"

namespace sardonyx::eager {
namespace {

TEST(Sampling, FollowsTheDistributions) {
  manual_seed(5);
  constexpr int64_t kCount = 20000;
  const auto mean = [](const Tensor& x) { return x.to(DType::kDouble).mean().item<double>(); };
  const auto spread = [](const Tensor& x) { return x.to(DType::kDouble).std().item<double>(); };
  EXPECT_NEAR(mean(bernoulli(full({kCount}, 0.3))), 0.3, 0.015);
  const Tensor drawn = normal(2, 3, {kCount});
  EXPECT_NEAR(mean(drawn), 2, 0.1);
  EXPECT_NEAR(spread(drawn), 3, 0.1);
  const Tensor even = uniform(-1, 3, {kCount});
  EXPECT_NEAR(mean(even), 1, 0.05);
  EXPECT_GE(even.min().item<float>(), -1);
  EXPECT_LT(even.max().item<float>(), 3);
  EXPECT_NEAR(mean(exponential(4, {kCount})), 0.25, 0.01);
  const Tensor soft = gumbel_softmax(zeros({kCount, 4}), {.hard = true});
  EXPECT_NEAR(mean(soft.select(1, 2)), 0.25, 0.015);
  EXPECT_TRUE(equal(soft.sum({1}).round(), ones({kCount})));
  const Tensor with = multinomial(tensor({1.f, 0.f, 3.f}), kCount, true);
  EXPECT_NEAR(mean((with == 2).to(DType::kFloat)), 0.75, 0.015);
  EXPECT_EQ(count_nonzero(with == 1).item<int64_t>(), 0);
  // The first of two without replacement follows the weights, too.
  const Tensor rows = multinomial(tensor({1.f, 0.f, 3.f}).expand({kCount, 3}), 2);
  EXPECT_NEAR(mean((rows.select(1, 0) == 2).to(DType::kFloat)), 0.75, 0.015);
  EXPECT_TRUE(equal(rows.sum({1}), full({kCount}, 2, {.dtype = DType::kInt64})));
}

TEST(Sampling, SameSeedSameNumbers) {
  const auto draw = [] {
    manual_seed(9);
    return cat({bernoulli(full({5}, 0.5)), normal(0, 1, {5}), exponential(1, {5}),
                multinomial(ones({5}), 3).to(DType::kFloat), gumbel_softmax(zeros({5}))});
  };
  EXPECT_TRUE(equal(draw(), draw()));
}

TEST(Sampling, HardGumbelSoftmaxHasTheSoftOnesGradient) {
  Tensor logits = of({1, 2, 3}).set_requires_grad();
  const auto gradient = [&](bool hard) {
    manual_seed(3);
    logits.zero_grad();
    (gumbel_softmax(logits, {.hard = hard}) * of({1, 5, 2})).sum().backward();
    return logits.grad();
  };
  EXPECT_TRUE(equal(gradient(true), gradient(false)));
}

}  // namespace
}  // namespace sardonyx::eager
