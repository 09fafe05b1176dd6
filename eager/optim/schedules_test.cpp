// Schedules against torch 1.13.
#include <gtest/gtest.h>

#include <functional>

#include "eager/create.h"
#include "eager/optim/cycles.h"
#include "eager/trace/compile.h"
#include "ir/core/tensor.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager::optim {
namespace {

using Rates = std::vector<double>;

SGD optimizer_of(double lr = 1) {
  return SGD({tensor({1.0}).set_requires_grad()}, {.lr = lr});
}

struct ScheduleCase {
  const char* name;
  std::function<std::shared_ptr<Scheduler>(const Optimizer&)> make;
  Rates rates;
};

template <typename S, typename... Args>
std::function<std::shared_ptr<Scheduler>(const Optimizer&)> schedule(Args... args) {
  return [=](const Optimizer& optimizer) { return std::make_shared<S>(optimizer, args...); };
}

std::vector<ScheduleCase> schedule_cases() {
  using Cycle = CyclicOptions;
  using Restarts = CosineAnnealingWarmRestarts;
  const auto constant_then_exponential = [](const Optimizer& of) -> std::shared_ptr<Scheduler> {
    return std::make_shared<ChainedScheduler>(std::vector<std::shared_ptr<Scheduler>>{
        std::make_shared<ConstantLR>(of, 0.1, 2), std::make_shared<ExponentialLR>(of, 0.9)});
  };
  const auto three = [](const Optimizer& of) -> std::shared_ptr<Scheduler> {
    return std::make_shared<ChainedScheduler>(std::vector<std::shared_ptr<Scheduler>>{
        std::make_shared<LinearLR>(of, 0.25, 1, 3), std::make_shared<StepLR>(of, 2, 0.5),
        std::make_shared<CosineAnnealingLR>(of, 6)});
  };
  return {
      {"ConstantLR", schedule<ConstantLR>(0.5, 3), {0.5, 0.5, 0.5, 1, 1, 1}},
      {"MultiplicativeLR",
       schedule<MultiplicativeLR>([](int64_t step) { return 1 - 0.1 * static_cast<double>(step); }),
       {1, 0.9, 0.72, 0.504, 0.3024}},
      {"PolynomialLR", schedule<PolynomialLR>(4, 2.0), {1, 0.5625, 0.25, 0.0625, 0, 0}},
      {"WarmRestarts",
       schedule<Restarts>(3, 2, 0.1),
       {1, 0.775, 0.325, 1, 0.939711431702997, 0.775, 0.55, 0.325, 0.160288568297003, 1,
        0.984666621830081}},
      {"WarmRestarts of one length", schedule<Restarts>(3), {1, 0.75, 0.25, 1, 0.75, 0.25, 1}},
      {"CyclicLR",
       schedule<CyclicLR>(
           Cycle{.base_lr = 0.1, .max_lr = 1, .step_size_up = 2, .step_size_down = 3}),
       {0.1, 0.55, 1, 0.7, 0.4, 0.1, 0.55, 1, 0.7, 0.4, 0.1, 0.55}},
      {"CyclicLR, halved",
       schedule<CyclicLR>(Cycle{
           .base_lr = 0.1, .max_lr = 1, .step_size_up = 2, .mode = Cycle::Mode::kTriangular2}),
       {0.1, 0.55, 1, 0.55, 0.1, 0.325, 0.55, 0.325, 0.1, 0.2125, 0.325, 0.2125}},
      {"CyclicLR, exponential",
       schedule<CyclicLR>(Cycle{.base_lr = 0.1,
                                .max_lr = 1,
                                .step_size_up = 2,
                                .mode = Cycle::Mode::kExpRange,
                                .gamma = 0.9}),
       {0.1, 0.505, 0.829, 0.42805, 0.1, 0.3657205, 0.5782969, 0.315233605, 0.1}},
      {"CyclicLR, a scale of one's own",
       schedule<CyclicLR>(Cycle{.base_lr = 0,
                                .max_lr = 1,
                                .step_size_up = 1,
                                .scale = [](double cycle) { return cycle; }}),
       {0, 1, 0, 2, 0, 3}},
      {"ChainedScheduler", constant_then_exponential, {0.1, 0.09, 0.81, 0.729, 0.6561, 0.59049}},
      {"ChainedScheduler of three",
       three,
       {0.25, 0.46650635094611, 0.28125, 0.25, 0.0625, 0.0167468245269452}},
      {"SWALR",
       schedule<SWALR>(0.05, 4),
       {1, 0.86087572106361, 0.525, 0.18912427893639, 0.05, 0.05, 0.05}},
      {"SWALR, linear", schedule<SWALR>(0.05, 4, true), {1, 0.7625, 0.525, 0.2875, 0.05, 0.05}},
      {"SWALR at once", schedule<SWALR>(0.05, 0), {1, 0.05, 0.05}},
  };
}

TEST(Schedules, AsTorchAndResumed) {
  for (const ScheduleCase& one : schedule_cases()) {
    const SGD optimizer = optimizer_of();
    const auto scheduler = one.make(optimizer);
    for (size_t i = 0; i < one.rates.size(); ++i) {
      EXPECT_NEAR(optimizer.lr(), one.rates[i], 1e-13) << one.name << " " << i;
      // Into a schedule that was made when the rate was another one.
      const SGD other = optimizer_of(0.5);
      const auto resumed = one.make(other);
      resumed->load_state_dict(scheduler->state_dict());
      EXPECT_NEAR(other.lr(), one.rates[i], 1e-13) << one.name << " resumed at " << i;
      scheduler->step();
    }
  }
}

TEST(Schedules, KeepTheirOptimiser) {
  auto optimizer = std::make_unique<SGD>(optimizer_of());
  ExponentialLR schedule(*optimizer, 0.5);
  ReduceLROnPlateau plateau(*optimizer, {.patience = 0});
  optimizer.reset();
  schedule.step();
  EXPECT_EQ(schedule.lrs(), Rates{0.5});
  plateau.step(1);
  plateau.step(1);
  EXPECT_NEAR(schedule.lrs()[0], 0.05, 1e-15);
}

TEST(ScheduleRefusals, Settings) {
  const SGD optimizer = optimizer_of(), other = optimizer_of();
  using Restarts = CosineAnnealingWarmRestarts;
  const auto cycle = [&](CyclicOptions options) {
    return [=] { CyclicLR made(optimizer, options); };
  };
  const auto constant = std::make_shared<ConstantLR>(optimizer);
  expect_refusals({
      {"ConstantLR: expected a factor within [0, 1], got 2",
       [&] { ConstantLR made(optimizer, 2); }},
      {"PolynomialLR: expected a positive count of steps, got 0",
       [&] { PolynomialLR made(optimizer, 0); }},
      {"PolynomialLR: expected a positive power, got 0",
       [&] { PolynomialLR made(optimizer, 5, 0); }},
      {"CosineAnnealingWarmRestarts: expected steps of at least 1, got 0",
       [&] { Restarts made(optimizer, 0); }},
      {"CosineAnnealingWarmRestarts: expected growth of at least 1, got 0",
       [&] { Restarts made(optimizer, 5, 0); }},
      {"CyclicLR: expected step_size_up of at least 1, got 0",
       cycle({.base_lr = 0, .max_lr = 1, .step_size_up = 0})},
      {"CyclicLR: expected step_size_down of at least 1, got 0",
       cycle({.base_lr = 0, .max_lr = 1, .step_size_down = 0})},
      {"CyclicLR: expected 0 <= base_lr <= max_lr, got 2 and 1",
       cycle({.base_lr = 2, .max_lr = 1})},
      {"SWALR: expected steps of at least 0, got -1", [&] { SWALR made(optimizer, 0.1, -1); }},
      {"SWALR: expected a rate of at least 0, got -1", [&] { SWALR made(optimizer, -1); }},
      {"ChainedScheduler: expected schedulers, got none", [] { ChainedScheduler made({}); }},
      {"ChainedScheduler: expected schedulers of one optimiser",
       [&] {
         ChainedScheduler made({constant, std::make_shared<ConstantLR>(other)});
       }},
      {"expected 'base_lrs' of 1 groups, got 2",
       [&] {
         constant->load_state_dict(
             {{"step", Tensor::scalar(int64_t{1})}, {"base_lrs", tensor({1.0, 2.0})}});
       }},
  });
}

// It would count once, and its rates would stay in the graph.
TEST(SchedulerRefusals, StepsInATrace) {
  const Tensor weight = ones({2}, {.requires_grad = true});
  const SGD optimizer({weight}, {.lr = 0.5});
  ExponentialLR schedule(optimizer, 0.5);
  const auto step = compile([&](const Tensor& x) {
    schedule.step();
    return x;
  });
  expect_refusal(ErrorCode::kUnsupported, "scheduler: step() in a trace is called once",
                 [&] { step(ones({1})); });
  EXPECT_EQ(optimizer.lr(), 0.5);
}

}  // namespace
}  // namespace sardonyx::eager::optim
