// Expected values are torch.optim's formulas, written down in numpy in float64: x0 = (1, -2, 0.5),
// three updates by the gradients below.
#include "eager/optim/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/optim/scheduler.h"
#include "ir/type.h"

namespace sardonyx::eager::optim {
namespace {

const std::vector<std::vector<double>> kGradients{
    {0.1, -0.2, 0.3}, {-0.4, 0.1, 0.2}, {0.3, 0.3, -0.1}};

Tensor start(DType dtype = DType::kDouble) {
  return tensor({1.0, -2.0, 0.5}).to(dtype).set_requires_grad();
}

template <typename O, typename Options>
void expect_after_three(const Options& options, const std::vector<double>& expected) {
  for (const DType dtype : {DType::kDouble, DType::kFloat}) {
    const Tensor x = start(dtype);
    O optimizer({x}, options);
    for (const auto& gradient : kGradients) {
      x.set_grad(tensor(gradient).to(dtype));
      optimizer.step();
    }
    const std::vector<double> values = x.to(DType::kDouble).template to_vector<double>();
    const double tolerance = dtype == DType::kDouble ? 1e-13 : 1e-6;
    for (size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(values[i], expected[i], tolerance) << dtype << " " << i;
  }
}

TEST(Optimizer, Sgd) {
  expect_after_three<SGD>(SgdOptions{.lr = 0.1}, {1, -2.02, 0.46});
  expect_after_three<SGD>(SgdOptions{.lr = 0.1, .weight_decay = 0.01, .maximize = true},
                          {0.997023009, -1.973976018, 0.5384215295});
  expect_after_three<SGD>(SgdOptions{.lr = 0.1, .momentum = 0.9}, {1.0189, -1.9948, 0.3907});
  expect_after_three<SGD>(
      SgdOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.5, .weight_decay = 0.01},
      {0.99175114725, -1.9620197945, 0.402683067375});
  expect_after_three<SGD>(
      SgdOptions{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true},
      {1.008933412551, -1.999419525102, 0.3579933848005});
}

TEST(Optimizer, Adam) {
  expect_after_three<Adam>(AdamOptions{.lr = 0.01},
                           {0.995331853171282, -1.99123052798956, 0.474777560721132});
  expect_after_three<Adam>(AdamOptions{.lr = 0.01,
                                       .beta1 = 0.8,
                                       .beta2 = 0.9,
                                       .eps = 1e-6,
                                       .weight_decay = 0.1,
                                       .amsgrad = true},
                           {0.98933777064613, -1.97804182397889, 0.474204807117699});
  expect_after_three<AdamW>(AdamWOptions{.lr = 0.01},
                            {0.995033323566608, -1.99063285422448, 0.474630545972655});
  expect_after_three<AdamW>(AdamWOptions{.lr = 0.01, .maximize = true},
                            {1.00436673643139, -2.00816726577152, 0.525069484026345});
}

TEST(Optimizer, RmspropAndAdagrad) {
  expect_after_three<RMSprop>(RmspropOptions{.lr = 0.01},
                              {0.938003435412992, -2.02533751528977, 0.371274750826441});
  expect_after_three<RMSprop>(
      RmspropOptions{.lr = 0.01, .alpha = 0.9, .eps = 1e-6, .weight_decay = 0.1, .momentum = 0.9},
      {0.94120294419262, -1.9081820612305, 0.383071789238833});
  expect_after_three<RMSprop>(RmspropOptions{.lr = 0.01, .alpha = 0.9, .centered = true},
                              {0.979067403467256, -2.00821928332821, 0.456158535299874});
  expect_after_three<RMSprop>(
      RmspropOptions{.lr = 0.01, .alpha = 0.9, .momentum = 0.5, .centered = true},
      {0.969909025763194, -1.99064320977904, 0.421103589465225});
  expect_after_three<Adagrad>(AdagradOptions{.lr = 0.1},
                              {0.938179409561087, -2.02489973213229, 0.371256104610295});
  expect_after_three<Adagrad>(
      AdagradOptions{
          .lr = 0.1, .lr_decay = 0.5, .weight_decay = 0.1, .initial_accumulator = 0.2, .eps = 1e-8},
      {0.965860831219754, -1.93181758101188, 0.416800857383754});
}

TEST(Optimizer, GroupsSkipParametersWithoutGradient) {
  const Tensor a = start(), b = start(), c = start();
  SGD optimizer(SGD::Groups{{{a}, {.lr = 1}}, {{b, c}, {.lr = 0.5}}});
  EXPECT_EQ(optimizer.group_count(), 2u);
  a.set_grad(ones({3}, {.dtype = DType::kDouble}));
  b.set_grad(ones({3}, {.dtype = DType::kDouble}));
  optimizer.step();
  EXPECT_EQ(a.to_vector<double>(), (std::vector<double>{0, -3, -0.5}));
  EXPECT_EQ(b.to_vector<double>(), (std::vector<double>{0.5, -2.5, 0}));
  EXPECT_EQ(c.to_vector<double>(), (std::vector<double>{1, -2, 0.5}));
  optimizer.zero_grad();
  EXPECT_FALSE(a.grad().defined());
  EXPECT_EQ(optimizer.lr(1), 0.5);
  EXPECT_THROW(optimizer.lr(2), Error);
  EXPECT_THROW(SGD({a, a}), Error);
  EXPECT_THROW(SGD({a}, {.lr = -1}), Error);
  EXPECT_THROW(SGD({a}, {.nesterov = true}), Error);
  EXPECT_THROW(Adam({a}, {.beta1 = 1}), Error);
}

TEST(Optimizer, StatesResume) {
  const auto run = [](Adam& optimizer, const Tensor& x, size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      x.set_grad(tensor(kGradients[i]));
      optimizer.step();
    }
  };
  const Tensor x = start(), y = start();
  Adam whole({x}), first({y});
  run(whole, x, 0, 3);
  run(first, y, 0, 2);
  Adam resumed({y});
  nn::StateDict state = first.state_dict();
  EXPECT_EQ(state.at("state.0.step").item<int64_t>(), 2);
  resumed.load_state_dict(state);
  run(resumed, y, 2, 3);
  EXPECT_EQ(x.to_vector<double>(), y.to_vector<double>());
  state.erase("state.0.exp_avg");
  EXPECT_THROW(resumed.load_state_dict(state), Error);
}

// The kernels against the rows' bodies, on random data of an awkward length.
// Rates and states of the same names stay, for what shares them as well.
TEST(Optimizer, OptionsAreReplaced) {
  const Tensor x = start(), added = start();
  const auto step = [](Optimizer& optimizer, const Tensor& parameter) {
    parameter.set_grad(tensor(kGradients[0]));
    optimizer.step();
  };
  SGD before({x}, {.lr = 0.1, .momentum = 0.9});
  const StepLR schedule(before, 1);
  step(before, x);
  before.set_lr(0.2);
  SGD after(
      SGD::Groups{{{x}, {.lr = 0.7, .momentum = 0.9, .weight_decay = 1}}, {{added}, {.lr = 0.3}}});
  after.take_over(before);
  EXPECT_TRUE(after.is_same(before));
  EXPECT_EQ(after.lr(0), 0.2);
  EXPECT_EQ(after.lr(1), 0.3);
  EXPECT_EQ(schedule.lrs(), (std::vector<double>{0.2, 0.3}));
  // The momentum of the first step is still there: 0.9 * g + (g + x).
  const std::vector<double> now = x.detach().to_vector<double>();
  step(after, x);
  for (size_t i = 0; i < now.size(); ++i) {
    const double velocity = 1.9 * kGradients[0][i] + now[i];
    EXPECT_NEAR(x.detach().to_vector<double>()[i], now[i] - 0.2 * velocity, 1e-12);
  }
}

TEST(Optimizer, KernelsAgreeWithBodies) {
  manual_seed(1);
  const Tensor x = randn({1000, 37}), g = randn({1000, 37}), m = randn({1000, 37}) * 0.1;
  const Tensor v = rand({1000, 37}) + 0.5, rate = Tensor::scalar(0.01),
               count = Tensor::scalar<int64_t>(4);
  const OpDef& op = op_named("sardonyx::AdamStep");
  const Tensor inputs[] = {x, g, rate, count, m, v};
  const std::vector<Tensor> fast = apply_many(op, inputs, {}, 4, Loc::current());
  EagerEmitter emitter;
  Vals vals;
  for (const Tensor& input : inputs)
    vals.push_back(detail::val_of(input));
  const Attrs attrs = Attrs::parse(*op.attrs, {});
  const Vals slow = op.body(emitter, {op, attrs, vals, 4});
  for (size_t i = 0; i < 4; ++i) {
    const Tensor difference =
        abs(fast[i].to(DType::kDouble) - detail::tensor_of(slow[i]).to(DType::kDouble));
    EXPECT_LT(difference.amax().item<double>(), 1e-6) << i;
  }
}

// Vectors and what is left behind them round alike: a tensor that is divided among processes gets
// the update of the whole.
TEST(Optimizer, AnElementsUpdateDoesNotDependOnItsPlace) {
  using MakeFor = std::function<std::unique_ptr<Optimizer>(const std::vector<Tensor>&)>;
  const std::vector<std::pair<const char*, MakeFor>> optimizers = {
      {"SGD",
       [](const auto& p) {
         return std::make_unique<SGD>(
             p, SgdOptions{.lr = 0.013, .momentum = 0.87, .weight_decay = 0.03, .nesterov = true});
       }},
      {"Adam",
       [](const auto& p) {
         return std::make_unique<Adam>(
             p, AdamOptions{.lr = 0.017, .weight_decay = 0.02, .amsgrad = true});
       }},
      {"AdamW",
       [](const auto& p) { return std::make_unique<AdamW>(p, AdamWOptions{.lr = 0.011}); }},
      {"RMSprop",
       [](const auto& p) {
         return std::make_unique<RMSprop>(
             p, RmspropOptions{.lr = 0.013, .momentum = 0.7, .centered = true});
       }},
      {"Adagrad", [](const auto& p) {
         return std::make_unique<Adagrad>(p, AdagradOptions{.lr = 0.07, .lr_decay = 0.01});
       }}};
  for (const auto& [name, make] : optimizers) {
    for (const bool is_compiled : {false, true}) {
      for (const double value : {0.1234567, -1.7654321, 3.0000019}) {
        SCOPED_TRACE(text(name, is_compiled ? ", compiled, " : ", ", value));
        const Tensor w = full({64, 131}, value).set_requires_grad();
        const auto optimizer = make({w});
        const auto step = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
          optimizer->zero_grad();
          const Tensor loss = (matmul(in[0], w) * 0.7310123).sum();
          loss.backward();
          optimizer->step();
          return {loss};
        };
        const Compiled compiled = compile(step);
        for (int i = 0; i < 4; ++i)
          is_compiled ? compiled({full({16, 64}, 0.3 + i)}) : step({full({16, 64}, 0.3 + i)});
        const std::vector<float> got = w.to_vector<float>();
        for (const float element : got)
          ASSERT_EQ(element, got[0]);
      }
    }
  }
}

TEST(Optimizer, Clipping) {
  const Tensor a = start(), b = start();
  a.set_grad(tensor({3.0, 0.0, 0.0}));
  b.set_grad(tensor({0.0, -4.0, 0.0}));
  EXPECT_DOUBLE_EQ(clip_grad_norm({a, b}, 10).item<double>(), 5);
  EXPECT_NEAR(a.grad()[0].item<double>(), 3, 1e-12);
  EXPECT_DOUBLE_EQ(clip_grad_norm({a, b}, 1).item<double>(), 5);
  EXPECT_NEAR(b.grad()[1].item<double>(), -4 / (5 + 1e-6), 1e-12);
  EXPECT_NEAR(clip_grad_norm({a, b}, 1, HUGE_VAL).item<double>(), 0.8, 1e-6);
  EXPECT_NEAR(clip_grad_norm({a, b}, 9, 1).item<double>(), 1.4, 1e-6);
  clip_grad_value({a, b}, 0.5);
  EXPECT_EQ(a.grad()[0].item<double>(), 0.5);
  EXPECT_EQ(b.grad()[1].item<double>(), -0.5);
}

std::vector<double> rates(Optimizer& optimizer, Scheduler& scheduler, int steps) {
  std::vector<double> seen{optimizer.lr()};
  for (int i = 1; i < steps; ++i) {
    scheduler.step();
    seen.push_back(optimizer.lr());
  }
  return seen;
}

void expect_near(const std::vector<double>& values, const std::vector<double>& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], 1e-12) << i;
}

TEST(Scheduler, FollowTheirFormulas) {
  const auto fresh = [] { return SGD({start()}, {.lr = 1}); };
  SGD a = fresh(), b = fresh(), c = fresh(), d = fresh(), e = fresh(), f = fresh();
  StepLR by_steps(a, 2, 0.1);
  expect_near(rates(a, by_steps, 5), {1, 1, 0.1, 0.1, 0.01});
  MultiStepLR by_milestones(b, {1, 3}, 0.5);
  expect_near(rates(b, by_milestones, 5), {1, 0.5, 0.5, 0.25, 0.25});
  ExponentialLR exponential(c, 0.5);
  expect_near(rates(c, exponential, 4), {1, 0.5, 0.25, 0.125});
  CosineAnnealingLR cosine(d, 4, 0.2);
  expect_near(rates(d, cosine, 5),
              {1, 0.2 + 0.4 * (1 + std::sqrt(0.5)), 0.6, 0.2 + 0.4 * (1 - std::sqrt(0.5)), 0.2});
  LinearLR linear(e, 0.5, 1, 4);
  expect_near(rates(e, linear, 6), {0.5, 0.625, 0.75, 0.875, 1, 1});
  LambdaLR lambda(f, [](int64_t step) { return 1.0 / (1.0 + static_cast<double>(step)); });
  expect_near(rates(f, lambda, 3), {1, 0.5, 1.0 / 3});
}

TEST(Scheduler, OneCycleAndSequential) {
  SGD a({start()}, {.lr = 7}), b({start()}, {.lr = 1});
  // pct_start 0.5 of 11 steps: up to step 4.5, down to step 10.
  OneCycleLR cycle(a, {.max_lr = 2.5, .total_steps = 11, .pct_start = 0.5, .linear = true});
  expect_near(rates(a, cycle, 4), {0.1, 0.1 + 2.4 / 4.5, 0.1 + 4.8 / 4.5, 0.1 + 7.2 / 4.5});
  cycle.set_step(10);
  EXPECT_NEAR(a.lr(), 1e-5, 1e-12);
  EXPECT_THROW(cycle.set_step(12), Error);
  const auto warm = std::make_shared<LinearLR>(b, 0.5, 1, 2);
  b.set_lr(1);
  const auto decay = std::make_shared<ExponentialLR>(b, 0.5);
  SequentialLR both(b, {warm, decay}, {2});
  expect_near(rates(b, both, 5), {0.5, 0.75, 1, 0.5, 0.25});
}

TEST(Scheduler, Plateau) {
  SGD optimizer({start()}, {.lr = 1});
  ReduceLROnPlateau plateau(optimizer, {.factor = 0.5, .patience = 1, .cooldown = 1});
  std::vector<double> seen;
  for (const double loss : {1.0, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9}) {
    plateau.step(loss);
    seen.push_back(optimizer.lr());
  }
  expect_near(seen, {1, 1, 1, 0.5, 0.5, 0.5, 0.25});
}

}  // namespace
}  // namespace sardonyx::eager::optim
