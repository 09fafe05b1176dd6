// Training in small types: masters of parameters, loss scaling, and both against float32.
#include "eager/optim/grad_scaler.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eager/create.h"
#include "eager/dispatch/autocast.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/trace/compile.h"
#include "ir/type.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager::optim {
namespace {

Tensor small_leaf(double value, DType dtype) {
  return full({2}, value, {.dtype = dtype}).set_requires_grad();
}

TEST(Masters, KeepWhatTheSmallTypeLoses) {
  for (const DType dtype : {DType::kBFloat16, DType::kFloat16}) {
    const Tensor x = small_leaf(1, dtype);
    SGD optimizer({x}, {.lr = 1e-4});
    const auto steps = [&](int count) {
      for (int i = 0; i < count; ++i) {
        x.set_grad(ones({2}, {.dtype = dtype}));
        optimizer.step();
      }
      return optimizer.state_dict().at("state.0.master").to_vector<float>()[0];
    };
    EXPECT_NEAR(steps(100), 0.99, 1e-5);
    EXPECT_NEAR(x[0].item<double>(), 0.99, 2e-3);
    EXPECT_EQ(x.dtype(), dtype);
    // A value that the program gives is where the next step starts.
    x.assign(full({2}, 3, {.dtype = dtype}));
    EXPECT_NEAR(steps(1), 2.9999, 1e-6);
    SGD resumed({x}, {.lr = 1e-4});
    resumed.load_state_dict(optimizer.state_dict());
    EXPECT_NEAR(resumed.state_dict().at("state.0.master").to_vector<float>()[0], 2.9999, 1e-6);
  }
}

TEST(Masters, ComeAndGoWithTheParametersType) {
  nn::Linear net(2, 2);
  AdamW optimizer(net.parameters());
  const auto step = [&] {
    net(ones({1, 2}, {.dtype = net.weight.dtype()})).sum().backward();
    optimizer.step();
    optimizer.zero_grad();
  };
  step();
  EXPECT_FALSE(optimizer.state_dict().contains("state.0.master"));
  net.to(DType::kBFloat16);
  step();
  EXPECT_EQ(optimizer.state_dict().at("state.0.master").dtype(), DType::kFloat);
  EXPECT_EQ(optimizer.state_dict().at("state.0.exp_avg").dtype(), DType::kFloat);
  net.to(DType::kDouble);
  step();
  EXPECT_FALSE(optimizer.state_dict().contains("state.0.master"));
  EXPECT_EQ(optimizer.state_dict().at("state.0.exp_avg").dtype(), DType::kDouble);
}

struct Way {
  const char* name;
  DType parameters, autocast;  // kUndefined: none
  bool scales, compiles;
};

// A small net on one batch; the losses of 30 steps.
std::vector<double> losses_of(const Way& way) {
  manual_seed(3);
  nn::Sequential net(nn::Conv2d(1, 4, 3), nn::BatchNorm2d(4), nn::ReLU(), nn::Flatten(),
                     nn::Linear(4 * 4 * 4, 16), nn::ReLU(), nn::Linear(16, 3));
  const Tensor x = randn({12, 1, 6, 6}).to(way.parameters), y = randint(0, 3, {12});
  net.to(way.parameters);
  AdamW optimizer(net.parameters(), {.lr = 3e-3});
  GradScaler scaler({.init_scale = 1024, .enabled = way.scales});
  const TensorFunction step = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    optimizer.zero_grad();
    Tensor loss;
    {
      const Autocast autocast(way.autocast == DType::kUndefined ? DType::kBFloat16 : way.autocast,
                              way.autocast != DType::kUndefined);
      loss = nn::cross_entropy(net(in[0]).to(DType::kFloat), in[1]);
    }
    scaler.scale(loss).backward();
    scaler.unscale(optimizer);
    clip_grad_norm(net.parameters(), 5);
    scaler.step(optimizer);
    scaler.update();
    optimizer.zero_grad();
    return {loss};
  };
  const auto compiled = compile(step);
  std::vector<double> losses;
  for (int i = 0; i < 30; ++i)
    losses.push_back((way.compiles ? compiled({x, y}) : step({x, y}))[0].item<double>());
  return losses;
}

TEST(MixedPrecision, FollowsFloat32) {
  constexpr DType kSingle = DType::kFloat, kBrain = DType::kBFloat16, kHalf = DType::kFloat16,
                  kNone = DType::kUndefined;
  const std::vector<double> expected = losses_of({"float32", kSingle, kNone, false, false});
  EXPECT_LT(expected.back(), expected.front() / 4);
  const std::vector<Way> ways{
      {"scaled float32", kSingle, kNone, true, false},
      {"autocast to bfloat16", kSingle, kBrain, false, false},
      {"autocast to bfloat16, compiled", kSingle, kBrain, false, true},
      {"autocast to float16", kSingle, kHalf, true, false},
      {"autocast to float16, compiled", kSingle, kHalf, true, true},
      {"all in bfloat16", kBrain, kNone, false, false},
      {"all in float16", kHalf, kNone, true, false},
      {"all in float16, compiled", kHalf, kNone, true, true},
  };
  for (const Way& way : ways) {
    const std::vector<double> losses = losses_of(way);
    const double tolerance = way.parameters == kSingle && way.autocast == kNone ? 1e-5 : 0.05;
    for (size_t i = 0; i < losses.size(); ++i)
      EXPECT_NEAR(losses[i], expected[i], tolerance) << way.name << " " << i;
  }
}

// Steps by gradients of 1 (or one that overflows), eager and compiled.
TEST(GradScaler, SkipsOverflowsAndMovesItsScale) {
  for (const bool compiles : {false, true}) {
    const Tensor x = small_leaf(0, DType::kFloat), other = small_leaf(0, DType::kFloat);
    SGD optimizer({x}, {.lr = 1, .momentum = 0.5}), second({other}, {.lr = 1});
    GradScaler scaler({.init_scale = 8, .growth_interval = 3});
    const TensorFunction step = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
      scaler.scale((in[0] * x + other).sum()).backward();
      scaler.step(optimizer);
      scaler.step(second);
      scaler.update();
      const std::vector<Tensor> seen{x.grad().detach()};
      optimizer.zero_grad();
      second.zero_grad();
      return seen;
    };
    const auto compiled = compile(step);
    const Tensor one = ones({2}), endless = tensor({1.0f, HUGE_VALF}), none = tensor({NAN, 1.0f});
    struct Expected {
      Tensor in;
      double x, other, scale;
    };
    const std::vector<Expected> table{
        {one, -1, -1, 8},     {one, -2.5, -2, 8},   {endless, -2.5, -3, 4}, {one, -4.25, -4, 4},
        {none, -4.25, -5, 2}, {one, -6.125, -6, 2}, {one, -8.0625, -7, 2},  {one, -10.03125, -8, 4},
    };
    for (const Expected& expected : table) {
      const Tensor gradient = (compiles ? compiled({expected.in}) : step({expected.in}))[0];
      if (expected.in.is_same(one)) {
        EXPECT_EQ(gradient[0].item<double>(), 1);
      }
      EXPECT_EQ(x[0].item<double>(), expected.x) << compiles;
      EXPECT_EQ(other[0].item<double>(), expected.other) << compiles;
      EXPECT_EQ(scaler.scale(), expected.scale) << compiles;
    }
    GradScaler resumed;
    resumed.load_state_dict(scaler.state_dict());
    EXPECT_EQ(resumed.scale(), 4);
    EXPECT_EQ(scaler.state_dict().at("_growth_tracker").item<int64_t>(), 0);
  }
}

TEST(GradScaler, GradientsOfSmallTypesAreUnscaledInFloat32) {
  const Tensor x = small_leaf(0, DType::kFloat16);
  SGD optimizer({x}, {.lr = 1});
  GradScaler scaler({.init_scale = 65536});
  // 2^-26 is below what float16 holds.
  const double least = std::ldexp(1, -26);
  scaler.scale((x.to(DType::kFloat) * least).sum()).backward();
  scaler.unscale(optimizer);
  EXPECT_EQ(x.grad().dtype(), DType::kFloat);
  EXPECT_EQ(x.grad()[0].item<double>(), least);
  scaler.step(optimizer);
  scaler.update();
  EXPECT_EQ(optimizer.state_dict().at("state.0.master")[0].item<double>(), -least);
}

TEST(GradScalerRefusals, Settings) {
  const Tensor x = small_leaf(0, DType::kFloat);
  SGD optimizer({x});
  expect_refusals({
      {"init_scale: expected a positive number, got 0", [] { GradScaler({.init_scale = 0}); }},
      {"growth_factor: expected more than 1", [] { GradScaler({.growth_factor = 1}); }},
      {"backoff_factor: expected a number within (0, 1)",
       [] { GradScaler({.backoff_factor = 1}); }},
      {"growth_interval: expected at least 1", [] { GradScaler({.growth_interval = 0}); }},
      {"update() follows a step()", [] { GradScaler().update(); }},
      {"the gradients of SGD were unscaled since the last update()",
       [&] {
         GradScaler scaler;
         scaler.unscale(optimizer);
         scaler.unscale(optimizer);
       }},
      {"load_state_dict of GradScaler: missing scale", [] { GradScaler().load_state_dict({}); }},
  });
}

}  // namespace
}  // namespace sardonyx::eager::optim
