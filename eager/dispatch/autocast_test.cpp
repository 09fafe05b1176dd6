#include "eager/dispatch/autocast.h"

#include <gtest/gtest.h>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/op.h"
#include "eager/trace/compile.h"
#include "ir/type.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager {
namespace {

constexpr DType kHalf = DType::kFloat16, kBrain = DType::kBFloat16, kSingle = DType::kFloat,
                kWide = DType::kDouble;

struct CastCase {
  const char* name;
  std::function<Tensor(const Tensor& x, const Tensor& y)> fn;  // of [4, 4]
  DType x, y, result;
};

// Under Autocast(bfloat16).
std::vector<CastCase> cast_cases() {
  const auto times = [](const Tensor& x, const Tensor& y) { return matmul(x, y); };
  const auto plus = [](const Tensor& x, const Tensor& y) { return op::Add(x, y); };
  const auto joined = [](const Tensor& x, const Tensor& y) { return cat({x, y}); };
  const auto first = [](const Tensor& x, const Tensor&) { return relu(x); };
  const auto picked = [](const Tensor& x, const Tensor& y) {
    return op::Where(op::Greater(x, x), x, y);
  };
  const auto images = [](const Tensor& x, const Tensor& y) {
    return op::Conv(x.reshape({1, 1, 4, 4}), y.reshape({1, 1, 4, 4}));
  };
  const auto shares = [](const Tensor& x, const Tensor&) { return softmax(x); };
  const auto loss = [](const Tensor& x, const Tensor&) {
    return nn::cross_entropy(x, tensor({int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}}));
  };
  const auto mean = [](const Tensor& x, const Tensor& y) { return nn::mse_loss(x, y); };
  const auto layer = [](const Tensor& x, const Tensor&) { return nn::LayerNorm({4})(x); };
  const auto affine = [](const Tensor& x, const Tensor&) { return nn::Linear(4, 2)(x); };
  return {
      {"matmul", times, kSingle, kSingle, kBrain},
      {"matmul of mixed types", times, kBrain, kSingle, kBrain},
      {"matmul of the other small type", times, kHalf, kSingle, kBrain},
      {"matmul of doubles", times, kWide, kWide, kWide},
      {"matmul with doubles", times, kBrain, kWide, kWide},
      {"conv", images, kSingle, kBrain, kBrain},
      {"linear", affine, kSingle, kSingle, kBrain},
      {"softmax", shares, kBrain, kSingle, kSingle},
      {"softmax of doubles", shares, kWide, kSingle, kWide},
      {"cross_entropy", loss, kBrain, kSingle, kSingle},
      {"mse_loss", mean, kBrain, kBrain, kSingle},
      {"layer norm", layer, kBrain, kSingle, kSingle},
      {"add of mixed types", plus, kBrain, kSingle, kSingle},
      {"add of both small types", plus, kBrain, kHalf, kSingle},
      {"add with doubles", plus, kWide, kSingle, kWide},
      {"add of one type", plus, kBrain, kBrain, kBrain},
      {"cat", joined, kBrain, kSingle, kSingle},
      {"where", picked, kBrain, kSingle, kSingle},
      {"relu", first, kBrain, kSingle, kBrain},
  };
}

TEST(Autocast, TypesOfResults) {
  for (const CastCase& one : cast_cases()) {
    const Tensor x = ones({4, 4}, {.dtype = one.x}), y = ones({4, 4}, {.dtype = one.y});
    const TensorFunction fn = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
      const Autocast autocast(kBrain);
      return {one.fn(in[0], in[1])};
    };
    EXPECT_EQ(fn({x, y})[0].dtype(), one.result) << one.name;
    EXPECT_EQ(compile(fn)({x, y})[0].dtype(), one.result) << one.name << " compiled";
  }
}

TEST(Autocast, NestsAndEnds) {
  const Tensor x = ones({4, 4});
  EXPECT_EQ(Autocast::current(), DType::kUndefined);
  {
    const Autocast outer(kHalf);
    EXPECT_EQ(matmul(x, x).dtype(), kHalf);
    {
      const Autocast off(kHalf, false);
      EXPECT_EQ(matmul(x, x).dtype(), kSingle);
    }
    const Autocast inner(kBrain);
    EXPECT_EQ(matmul(x, x).dtype(), kBrain);
  }
  EXPECT_EQ(matmul(x, x).dtype(), kSingle);
  expect_refusals({{"Autocast: expected bfloat16 or float16, got float",
                    [] { const Autocast refused(DType::kFloat); }}});
}

// Parameters get float32 gradients, within the guard and after it, and by recomputation too.
TEST(Autocast, Gradients) {
  manual_seed(1);
  const nn::Linear body(8, 8), head(8, 3);
  const Tensor x = randn({5, 8}), y = randint(0, 3, {5});
  const auto forward = [&](const std::vector<Tensor>& in) {
    return std::vector{head(relu(body(in[0])))};
  };
  const auto gradient = [&](bool within, bool again) {
    body.zero_grad();
    head.zero_grad();
    Tensor loss;
    {
      const Autocast autocast;
      const Tensor scores = again ? checkpoint(forward, {x})[0] : forward({x})[0];
      EXPECT_EQ(scores.dtype(), kBrain);
      loss = nn::cross_entropy(scores, y);
      if (within) loss.backward();
    }
    if (!within) loss.backward();
    EXPECT_EQ(body.weight.grad().dtype(), kSingle);
    return body.weight.grad().to_vector<float>();
  };
  const std::vector<float> expected = gradient(false, false);
  EXPECT_EQ(gradient(true, false), expected);
  EXPECT_EQ(gradient(false, true), expected);
  nn::cross_entropy(forward({x})[0], y).backward();  // adds to it, in float32
  const std::vector<float> twice = body.weight.grad().to_vector<float>();
  for (size_t i = 0; i < twice.size(); ++i)
    EXPECT_NEAR(twice[i], 2 * expected[i], 2e-3);
}

TEST(Autocast, NormsKeepTheirWeights) {
  constexpr double kScale = 1.001;  // 1 in bfloat16
  const nn::LayerNorm layer({2});
  const nn::GroupNorm group(1, 2);
  const Tensor x = tensor({{1.0f, -1.0f}, {3.0f, -3.0f}}).to(kBrain);
  const std::vector<std::pair<Tensor, std::function<Tensor()>>> norms{
      {layer.weight, [&] { return layer(x); }},
      {group.weight, [&] { return group(x); }},
  };
  for (const auto& [weight, norm] : norms) {
    const Autocast autocast(kBrain);
    const std::vector<float> plain = norm().to_vector<float>();
    weight.assign(full({2}, kScale));
    const std::vector<float> scaled = norm().to_vector<float>();
    for (size_t i = 0; i < plain.size(); ++i)
      EXPECT_NEAR(scaled[i], plain[i] * kScale, 1e-6);
  }
}

// torch's: float32 within, by weights and statistics in float32, and the type of x.
TEST(Autocast, BatchNormsGiveTheTypeOfTheirInput) {
  const Tensor single = tensor({{1.0f, -1.0f}, {3.0f, -3.5f}, {0.5f, 2.0f}});
  const auto images = [&](const Tensor& x) { return x.reshape({1, 2, 3}); };
  for (const bool trains : {true, false}) {
    for (const DType dtype : {kBrain, DType::kFloat16, kSingle}) {
      nn::BatchNorm1d plain(2), mixed(2), compiled(2);
      const nn::InstanceNorm instance(2, {.affine = true});
      for (const nn::BatchNorm1d& norm : {plain, mixed, compiled}) {
        norm.weight.assign(tensor({1.001f, 0.999f}));
        norm.running_mean.assign(tensor({0.1f, 0.2f}));
        norm.train(trains);
      }
      const Tensor x = single.to(dtype).detach().set_requires_grad();
      const Tensor expected = plain(x.detach().to(kSingle)).to(dtype);
      const Autocast autocast(kBrain);
      const Tensor y = mixed(x);
      EXPECT_EQ(y.dtype(), dtype);
      EXPECT_TRUE(equal(y, expected));
      EXPECT_EQ(mixed.running_mean.to_vector<float>(), plain.running_mean.to_vector<float>());
      EXPECT_EQ(mixed.running_var.dtype(), kSingle);
      y.to(kSingle).square().sum().backward();
      EXPECT_EQ(x.grad().dtype(), dtype);
      EXPECT_EQ(mixed.weight.grad().dtype(), kSingle);
      const auto step = compile([&](const Tensor& in) { return compiled(in); });
      EXPECT_TRUE(equal(step(x.detach()), y));
      EXPECT_EQ(instance(images(x.detach())).dtype(), dtype);
    }
  }
}

TEST(Autocast, IsAConditionOfACompiledFunction) {
  const auto product =
      compile([](const std::vector<Tensor>& in) { return std::vector{matmul(in[0], in[0])}; });
  const Tensor x = ones({4, 4});
  EXPECT_EQ(product({x})[0].dtype(), kSingle);
  {
    const Autocast autocast;
    EXPECT_EQ(product({x})[0].dtype(), kBrain);
  }
  EXPECT_EQ(product({x})[0].dtype(), kSingle);
  EXPECT_EQ(product.traces(), 2u);
}

}  // namespace
}  // namespace sardonyx::eager
