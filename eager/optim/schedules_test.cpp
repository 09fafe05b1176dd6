// Schedules against torch 1.13.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/functional/functional.h"
#include "eager/optim.h"
#include "eager/optim/cycles.h"
#include "eager/trace/compile.h"
#include "executor/session.h"
#include "ir/core/tensor.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

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

// Descends x0^2 + x1^2 / 2 from (1, -2).
struct MomentumCase {
  const char* name;
  std::function<std::shared_ptr<Optimizer>(const Tensor&)> optimizer;
  std::function<std::shared_ptr<Scheduler>(const Optimizer&)> schedule;
  Rates momenta, x0;  // before and after each step
};

std::vector<MomentumCase> momentum_cases() {
  const OneCycleOptions once{.max_lr = 0.1, .total_steps = 6, .pct_start = 0.5};
  const OneCycleOptions three_phases{
      .max_lr = 0.1, .total_steps = 8, .pct_start = 0.4, .linear = true, .three_phase = true};
  const CyclicOptions to_zero{
      .base_lr = 0.05, .max_lr = 0.1, .step_size_up = 2, .base_momentum = 0, .max_momentum = 0.8};
  CyclicOptions slowly = to_zero;
  slowly.base_lr = 0.005, slowly.max_lr = 0.01;
  const Rates down_and_up{0.8, 0.4, 0, 0.4, 0.8, 0.4, 0, 0.4, 0.8};
  const Rates once_over{0.95, 0.9, 0.85, 0.875, 0.925, 0.95};
  const auto of = [](auto options,
                     auto* type) -> std::function<std::shared_ptr<Optimizer>(const Tensor&)> {
    using O = std::remove_pointer_t<decltype(type)>;
    return [=](const Tensor& x) { return std::make_shared<O>(std::vector{x}, options); };
  };
  constexpr SGD* kSgd = nullptr;
  constexpr RMSprop* kRmsprop = nullptr;
  return {
      {"SGD",
       of(SgdOptions{.lr = 0.1, .momentum = 0.9}, kSgd),
       schedule<OneCycleLR>(once),
       once_over,
       {0.992, 0.795232, 0.3145456, -0.04808717350972, -0.157495750471403, -0.157497287465216}},
      {"Adam",
       of(AdamOptions{.lr = 0.1}, static_cast<Adam*>(nullptr)),
       schedule<OneCycleLR>(three_phases),
       {0.95, 0.904545454545455, 0.859090909090909, 0.886363636363636, 0.931818181818182, 0.95,
        0.95, 0.95},
       {0.99600000002, 0.959163586754765, 0.894436725292541, 0.836485883221223, 0.808619076780343,
        0.8037488770661, 0.801455118636294, 0.801454550580855}},
      // Through 0, where the velocity rests.
      {"SGD with dampening",
       of(SgdOptions{.lr = 0.1, .dampening = 0.3}, kSgd),
       schedule<CyclicLR>(to_zero),
       down_and_up,
       {0.9, 0.7455, 0.5964, 0.471978, 0.37258114, 0.2738220043, 0.21905760344, 0.1565529007988,
        0.112258356334244}},
      {"RMSprop, centered",
       of(RmspropOptions{.lr = 0.1, .momentum = 0.5, .centered = true}, kRmsprop),
       schedule<CyclicLR>(slowly),
       down_and_up,
       {0.949748111762292, 0.867288928442907, 0.812951422261022, 0.745517277238373,
        0.689905549396549, 0.630596446943553, 0.600090476253215, 0.555207508072375,
        0.518493931643519}},
      {"RMSprop",
       of(RmspropOptions{.lr = 0.1}, kRmsprop),
       schedule<CyclicLR>(slowly),
       down_and_up,
       {0.9500000025, 0.868207499862964, 0.814644636143008, 0.748112921361742, 0.693419803475931,
        0.635331463621384, 0.605695997612029, 0.561973997709778, 0.526313935369838}},
      {"Adamax",
       of(AdamaxOptions{.lr = 0.1}, static_cast<Adamax*>(nullptr)),
       schedule<OneCycleLR>(once),
       once_over,
       {0.99600000002, 0.956385649024225, 0.887217814392315, 0.82468883278594, 0.795139504788866,
        0.795138896588189}},
      // By the formula of torch 2: that of 1.13 has a factor of the next product twice.
      {"NAdam",
       of(NAdamOptions{.lr = 0.1}, static_cast<NAdam*>(nullptr)),
       schedule<OneCycleLR>(once),
       once_over,
       {0.995877262865007, 0.95582872590594, 0.882445710561404, 0.83010836301813, 0.813223187208905,
        0.813222915537832}},
      {"RAdam",
       of(RAdamOptions{.lr = 0.1}, static_cast<RAdam*>(nullptr)),
       schedule<OneCycleLR>(once),
       once_over,
       {0.992, 0.913069473684211, 0.77855419228343, 0.660963170406959, 0.606805766067722,
        0.606805749227671}},
      {"AdamW",
       of(AdamWOptions{.lr = 0.1}, static_cast<AdamW*>(nullptr)),
       schedule<OneCycleLR>(once),
       once_over,
       {0.99596000002, 0.955788399430977, 0.884712502137108, 0.8191967792767, 0.78753316318897,
        0.78753249750216}},
  };
}

Tensor descend(Optimizer& optimizer, Scheduler& schedule, const Tensor& x) {
  optimizer.zero_grad();
  (x * x * tensor({1.0, 0.5})).sum().backward();
  optimizer.step();
  schedule.step();
  return x.detach().clone();
}

TEST(Schedules, CycleTheMomentumAsTorch) {
  const auto start = [] { return tensor({1.0, -2.0}).set_requires_grad(); };
  for (const MomentumCase& one : momentum_cases()) {
    Tensor x = start();
    const auto optimizer = one.optimizer(x);
    const auto schedule = one.schedule(*optimizer);
    for (size_t i = 0; i < one.x0.size(); ++i) {
      EXPECT_NEAR(optimizer->momentum().value(), one.momenta[i], 1e-14) << one.name << " " << i;
      // Once more from a checkpoint.
      Tensor resumed_x = x.detach().clone().set_requires_grad();
      const auto resumed = one.optimizer(resumed_x);
      const auto resumed_schedule = one.schedule(*resumed);
      resumed->load_state_dict(optimizer->state_dict());
      resumed_schedule->load_state_dict(schedule->state_dict());
      const Tensor wanted = descend(*optimizer, *schedule, x);
      EXPECT_NEAR(wanted.to_vector<double>()[0], one.x0[i], 1e-13) << one.name << " " << i;
      EXPECT_EQ(descend(*resumed, *resumed_schedule, resumed_x).to_vector<double>(),
                wanted.to_vector<double>())
          << one.name << " resumed at " << i;
    }
  }
}

TEST(Schedules, OfGroupsThatDiffer) {
  const auto one = [] { return tensor({1.0}).set_requires_grad(); };
  const SGD optimizer({{{one()}, {.lr = 1}}, {{one()}, {.lr = 1}}});
  OneCycleLR once(optimizer, {.max_lr = {0.5, 0.1},
                              .total_steps = 4,
                              .pct_start = 0.5,
                              .base_momentum = {0.7, 0.8},
                              .max_momentum = 0.9});
  once.step();
  EXPECT_EQ(once.lrs(), (Rates{0.5, 0.1}));
  EXPECT_EQ(optimizer.momentum(0), 0.7);
  EXPECT_EQ(optimizer.momentum(1), 0.8);
  CyclicLR cycles(
      optimizer,
      {.base_lr = {0.1, 0.2}, .max_lr = {0.5, 1}, .step_size_up = 1, .cycle_momentum = false});
  EXPECT_EQ(cycles.lrs(), (Rates{0.1, 0.2}));
  cycles.step();
  EXPECT_EQ(cycles.lrs(), (Rates{0.5, 1}));
  EXPECT_EQ(optimizer.momentum(1), 0.8);
}

class Halving : public Scheduler {
 public:
  explicit Halving(const Optimizer& optimizer) : Scheduler(optimizer) {}

 private:
  double lr_at(int64_t step, double base) const override {
    return std::ldexp(base, -static_cast<int>(step));
  }
};

TEST(Schedules, OfUsersSayTheRateOfAGroup) {
  const auto one = [] { return tensor({1.0}).set_requires_grad(); };
  const SGD optimizer({{{one()}, {.lr = 1}}, {{one()}, {.lr = 0.5}}});
  Halving halving(optimizer);
  halving.step();
  halving.step();
  EXPECT_EQ(halving.lrs(), (Rates{0.25, 0.125}));
}

// The same step called by eager, compiled, and as a file whose states are fed back.
struct StepRuns {
  Tensor x;
  std::shared_ptr<Optimizer> optimizer;
  std::shared_ptr<Scheduler> schedule;

  explicit StepRuns(const MomentumCase& one)
      : x(tensor({1.0, -2.0}).set_requires_grad()),
        optimizer(one.optimizer(x)),
        schedule(one.schedule(*optimizer)) {}
  Tensor operator()(const Tensor& scale) const {
    optimizer->zero_grad();
    const Tensor loss = (x * x * scale).sum();
    loss.backward();
    optimizer->step();
    return loss;
  }
  nn::NamedTensors names() const {
    nn::NamedTensors all = optimizer->named_states();
    all.emplace_back("x", x);
    return all;
  }
};

TEST(Schedules, CycleTheMomentumOfCompiledSteps) {
  for (const MomentumCase& one : momentum_cases()) {
    const StepRuns eager(one), own(one);
    const auto compiled = compile([&](const Tensor& scale) { return own(scale); });
    for (size_t i = 0; i < one.x0.size(); ++i) {
      SCOPED_TRACE(text(one.name, ", step ", i));
      const Tensor scale = tensor({1.0, 0.5});
      EXPECT_EQ(compiled(scale).to_vector<double>(), eager(scale).to_vector<double>());
      eager.schedule->step();
      own.schedule->step();
      const nn::NamedTensors wanted = eager.names(), got = own.names();
      ASSERT_EQ(got.size(), wanted.size());
      for (size_t k = 0; k < got.size(); ++k)
        EXPECT_TRUE(got[k].second.data() == wanted[k].second.data()) << got[k].first;
    }
    EXPECT_EQ(compiled.traces(), 1u) << one.name;
  }
}

TEST(Schedules, CycleTheMomentumOfExportedSteps) {
  const TemporaryFolder folder;
  for (const MomentumCase& one : momentum_cases()) {
    const StepRuns eager(one);
    const Tensor scale = tensor({1.0, 0.5});
    export_onnx([&](const Tensor& in) { return eager(in); }, {scale}, folder / "step.onnx",
                {.input_names = {"scale"}, .names = eager.names(), .training_step = true});
    const Session session(folder / "step.onnx");
    NamedData state{{"scale", scale.datum()}};
    for (const auto& [name, value] : eager.names())
      state.emplace(name, value.datum());
    for (size_t i = 0; i < one.x0.size(); ++i) {
      // What a schedule sets comes from outside.
      for (const char* set : {"group.0.lr", "group.0.momentum"}) {
        const nn::StateDict now = eager.optimizer->state_dict();
        state[set] = now.at(set).datum();
      }
      NamedData fed;
      for (const ValueInfo& input : session.inputs())
        fed.emplace(input.name, state.at(input.name));
      ASSERT_TRUE(fed.contains("group.0.momentum")) << one.name;
      const std::vector<Datum> results = session.run(fed);
      for (size_t k = 0; k < results.size(); ++k) {
        const std::string& name = session.outputs()[k].name;
        if (name.ends_with(".next")) state[name.substr(0, name.size() - 5)] = results[k];
      }
      const Tensor x(state.at("x"));
      EXPECT_NEAR(x.to_vector<double>()[0], one.x0[i], 1e-13) << one.name << ", step " << i;
      eager.schedule->step();
    }
  }
}

// The first trace has no velocity.
TEST(Schedules, GiveACompiledStepAMomentum) {
  MomentumCase one = momentum_cases()[0];
  one.optimizer = [](const Tensor& x) {
    return std::make_shared<SGD>(std::vector{x}, SgdOptions{.lr = 0.1});
  };
  one.schedule = [](const Optimizer& of) { return std::make_shared<ConstantLR>(of, 1); };
  const StepRuns eager(one), own(one);
  const auto compiled = compile([&](const Tensor& scale) { return own(scale); });
  for (const double momentum : {0.0, 0.5, 0.0, 0.75, 0.25}) {
    eager.optimizer->set_momentum(momentum, 0);
    own.optimizer->set_momentum(momentum, 0);
    EXPECT_EQ(compiled(ones({2})).to_vector<double>(), eager(ones({2})).to_vector<double>());
    EXPECT_EQ(own.x.to_vector<double>(), eager.x.to_vector<double>()) << momentum;
  }
  EXPECT_EQ(compiled.traces(), 2u);
  EXPECT_THAT(compiled.trace_log()[1], testing::HasSubstr("SGD has a momentum now"));
}

// Where the step is fused with the product that makes the gradient.
TEST(Schedules, CycleTheMomentumOfProductSteps) {
  const auto run = [](bool is_compiled, auto make) {
    const Tensor w = full({64, 131}, 0.75).set_requires_grad();
    const auto optimizer = make(w);
    CyclicLR schedule(*optimizer, {.base_lr = 0.001,
                                   .max_lr = 0.01,
                                   .step_size_up = 2,
                                   .base_momentum = 0,
                                   .max_momentum = 0.875});
    const auto step = [&](const Tensor& x) {
      const Tensor loss = square(matmul(x, w)).mean();
      loss.backward();
      optimizer->step();
      optimizer->zero_grad();  // nobody else reads the gradient
      return loss;
    };
    const auto compiled = compile(step);
    for (int i = 0; i < 6; ++i) {
      const Tensor x = full({16, 64}, 0.25 + 0.125 * i);
      is_compiled ? compiled(x) : step(x);
      schedule.step();
    }
    if (is_compiled) {
      EXPECT_THAT(compiled.plan_text(), testing::HasSubstr("ProductStep"));
    }
    return w.to_vector<float>();
  };
  const auto expect_alike = [&](auto make) {
    const std::vector<float> got = run(true, make), wanted = run(false, make);
    EXPECT_LT(wanted[0], 0.75f);
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], wanted[i], 2e-6) << i;
  };
  expect_alike([](const Tensor& w) {
    return std::make_shared<SGD>(std::vector{w}, SgdOptions{.momentum = 0.5, .nesterov = true});
  });
  expect_alike([](const Tensor& w) { return std::make_shared<Adam>(std::vector{w}); });
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
      {"OneCycleLR: expected an optimiser with a momentum or betas, got Adagrad; cycle_momentum",
       [] {
         const Adagrad adagrad({tensor({1.0}).set_requires_grad()});
         OneCycleLR made(adagrad, {.max_lr = 1, .total_steps = 5});
       }},
      {"CyclicLR: expected a base_momentum and a max_momentum of at least 0, got -1 and 0.9",
       cycle({.base_lr = 1, .max_lr = 2, .base_momentum = -1})},
      {"CyclicLR: max_lr: expected one number or one for each of 1 groups, got 2",
       cycle({.base_lr = 1, .max_lr = {2, 3}})},
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
