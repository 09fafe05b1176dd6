// The optimisers beyond those of optimizer_test.cpp against torch 1.13 in float64: x0 = (1, -2,
// 0.5), three gradients over and over. What 1.13 lacks (decoupled decay, maximize) is its step on a
// decayed parameter and on the negative gradient. NAdam is the formula of its documentation in
// numpy: 1.13 has a factor twice, which torch 2 mended.
#include <gtest/gtest.h>

#include <algorithm>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/functional/functional.h"
#include "eager/optim/adaptive.h"
#include "eager/optim/lbfgs.h"
#include "eager/optim/rprop.h"
#include "eager/trace/compile.h"
#include "executor/session.h"
#include "ir/type.h"
#include "tests/support/expect_error.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx::eager::optim {
namespace {

using Values = std::vector<double>;
using Make = std::function<std::shared_ptr<Optimizer>(const std::vector<Tensor>&)>;

template <typename O, typename Options>
Make make(Options options) {
  return [=](const std::vector<Tensor>& parameters) {
    return std::make_shared<O>(parameters, options);
  };
}

struct RuleCase {
  const char* name;
  Make make;
  Values after_3, after_9;  // the second may be left out
};

std::vector<RuleCase> rule_cases() {
  return {
      {"Adadelta",
       make<Adadelta>(AdadeltaOptions{}),
       {0.997435270008573, -2.00292139013431, 0.495734327546696},
       {0.996351725914463, -2.0085716862683, 0.486261890266764}},
      {"Adadelta, all options",
       make<Adadelta>(AdadeltaOptions{
           .lr = 0.5, .rho = 0.8, .eps = 1e-4, .weight_decay = 0.1, .maximize = true}),
       {0.995305828746626, -1.97495566506944, 0.510618276385766},
       {0.983388796262336, -1.92481727417725, 0.53651545282205}},
      {"Adamax",
       make<Adamax>(AdamaxOptions{}),
       {0.998777005482634, -1.99813941160555, 0.495553047058916},
       {0.999002873175213, -1.99992071705229, 0.489516941390822}},
      {"Adamax, all options",
       make<Adamax>(AdamaxOptions{.lr = 0.01,
                                  .beta1 = 0.8,
                                  .beta2 = 0.9,
                                  .eps = 1e-4,
                                  .weight_decay = 0.1,
                                  .maximize = true}),
       {0.992629483615724, -1.98837974907348, 0.521186017046098},
       {0.979149771866127, -1.9551129134949, 0.545813267419206}},
      {"NAdam",
       make<NAdam>(NAdamOptions{}),
       {0.998644658430188, -2.00048837462874, 0.497042234243945},
       {0.998644805310603, -2.00316076174991, 0.491520595451158}},
      {"NAdam, all options",
       make<NAdam>(NAdamOptions{.lr = 0.01,
                                .beta1 = 0.8,
                                .beta2 = 0.9,
                                .eps = 1e-4,
                                .weight_decay = 0.1,
                                .momentum_decay = 0.1}),
       {0.989055993595508, -1.98721521491952, 0.481716599031046},
       {0.97261841019094, -1.96069196340273, 0.444302789572116}},
      {"NAdam, decoupled",
       make<NAdam>(NAdamOptions{.lr = 0.01, .weight_decay = 0.1, .decoupled_weight_decay = true}),
       {0.990237424420106, -1.99646487851668, 0.48374011240781},
       {}},
      {"NAdam, maximize",
       make<NAdam>(NAdamOptions{.maximize = true}),
       {1.00135534156981, -1.99951162537126, 0.502957765756055},
       {}},
      {"RAdam",
       make<RAdam>(RAdamOptions{}),
       {1.00005540881725, -1.99984202757817, 0.499333443387065},
       {1.00009401234691, -1.99990888793657, 0.498894803370217}},
      {"RAdam, all options",
       make<RAdam>(
           RAdamOptions{.lr = 0.01, .beta1 = 0.8, .beta2 = 0.9, .eps = 1e-4, .weight_decay = 0.1}),
       {0.997599717213115, -1.99270558196721, 0.49202850102459},
       {0.991456266057147, -1.98166196908013, 0.477425063063528}},
      {"RAdam, decoupled",
       make<RAdam>(RAdamOptions{.lr = 0.01,
                                .beta1 = 0.8,
                                .beta2 = 0.9,
                                .weight_decay = 0.1,
                                .decoupled_weight_decay = true}),
       {0.997600670131148, -1.99270978288525, 0.492032709614754},
       {0.99202209914079, -1.98563797290838, 0.477100915549754}},
      {"RAdam, maximize",
       make<RAdam>(RAdamOptions{.maximize = true}),
       {0.999944591182754, -2.00015797242183, 0.500666556612935},
       {}},
      {"Rprop", make<Rprop>(RpropOptions{}), {0.985, -1.995, 0.478}, {0.9706, -2.0038, 0.45688}},
      {"Rprop, all options",
       make<Rprop>(RpropOptions{
           .lr = 0.3, .eta_minus = 0.25, .eta_plus = 2, .min_step = 0.1, .max_step = 0.4}),
       {0.6, -1.8, -0.2},
       {0, -2.4, -0.8}},
      {"Rprop, maximize", make<Rprop>(RpropOptions{.maximize = true}), {1.015, -2.005, 0.522}, {}},
      {"ASGD",
       make<ASGD>(AsgdOptions{}),
       {0.999996999505251, -2.0019939977605, 0.495998508002612},
       {0.999990998563009, -2.00598196187626, 0.487995587030902}},
      {"ASGD, all options",
       make<ASGD>(AsgdOptions{
           .lr = 0.1, .lambd = 0.1, .alpha = 0.5, .t0 = 1, .weight_decay = 0.1, .maximize = true}),
       {0.941774620384157, -1.86270923813443, 0.509164182292513},
       {0.837514383042246, -1.61691280097128, 0.525589201680766}},
  };
}

Tensor gradient_at(int step, DType dtype) {
  const std::vector<Values> rows{{0.1, -0.2, 0.3}, {-0.4, 0.1, 0.2}, {0.3, 0.3, -0.1}};
  return tensor(rows[static_cast<size_t>(step % 3)]).to(dtype);
}

Tensor leaf(DType dtype = DType::kDouble) {
  return tensor({1.0, -2.0, 0.5}).to(dtype).set_requires_grad();
}

void expect_near(const Tensor& x, const Values& expected, double tolerance, const char* what) {
  const Values values = x.to(DType::kDouble).to_vector<double>();
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(values.at(i), expected[i], tolerance) << what << " " << i;
}

TEST(OptimizerRules, AsTorch) {
  for (const RuleCase& one : rule_cases()) {
    for (const DType dtype : {DType::kDouble, DType::kFloat}) {
      const double tolerance = dtype == DType::kDouble ? 1e-13 : 2e-6;
      const Tensor x = leaf(dtype);
      const auto optimizer = one.make({x});
      for (int step = 0; step < 9; ++step) {
        x.set_grad(gradient_at(step, dtype));
        optimizer->step();
        if (step == 2) expect_near(x, one.after_3, tolerance, one.name);
      }
      expect_near(x, one.after_9, tolerance, one.name);
    }
  }
}

TEST(OptimizerRules, AsgdAveragesAfterT0) {
  const Tensor x = leaf();
  ASGD optimizer({x}, {.lr = 0.1, .lambd = 0.1, .alpha = 0.5, .t0 = 1});
  for (int step = 0; step < 5; ++step) {
    x.set_grad(gradient_at(step, DType::kDouble));
    optimizer.step();
  }
  expect_near(x, {0.9808289150669253, -1.9127733313224364, 0.3884057390052762}, 1e-13, "x");
  expect_near(optimizer.state_dict().at("state.0.ax"),
              {0.9673679841702001, -1.9318085124020437, 0.4154920448318675}, 1e-13, "ax");
}

// A compiled step, and a step whose states were saved and read in between, do what eager steps do.
TEST(OptimizerRules, CompiledAndResumed) {
  for (const RuleCase& one : rule_cases()) {
    const Tensor x = leaf(), y = leaf(), z = leaf();
    const auto eager = one.make({x}), compiled = one.make({y});
    auto resumed = one.make({z});
    const auto step = compile([&](const std::vector<Tensor>& in) {
      y.set_grad(in[0]);
      compiled->step();
      y.zero_grad();
      return std::vector{in[0].sum()};
    });
    for (int i = 0; i < 5; ++i) {
      const Tensor gradient = gradient_at(i, DType::kDouble);
      x.set_grad(gradient);
      eager->step();
      step({gradient});
      if (i == 2) {
        const nn::StateDict state = resumed->state_dict();
        resumed = one.make({z});
        resumed->load_state_dict(state);
      }
      z.set_grad(gradient);
      resumed->step();
    }
    expect_near(y, x.to_vector<double>(), 1e-12, one.name);
    EXPECT_EQ(z.to_vector<double>(), x.to_vector<double>()) << one.name;
    EXPECT_EQ(step.traces(), 1u) << one.name;
  }
}

TEST(OptimizerRules, StepsCanBeExported) {
  const TemporaryFolder folder;
  for (const RuleCase& one : rule_cases()) {
    const Tensor w = leaf(DType::kFloat);
    const auto optimizer = one.make({w});
    const TensorFunction step = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
      optimizer->zero_grad();
      const Tensor loss = square(in[0] * w).sum();
      loss.backward();
      optimizer->step();
      return {loss};
    };
    nn::NamedTensors names = optimizer->named_states();
    names.emplace_back("w", w);
    export_onnx(step, {ones({3})}, folder / "step.onnx",
                {.input_names = {"x"}, .names = names, .training_step = true});
    const Session session(folder / "step.onnx");
    NamedData inputs{{"x", ones({3}).datum()}};
    for (const auto& [name, tensor] : names) {
      const auto has_it = [&](const auto& input) { return input.name == name; };
      if (std::ranges::any_of(session.inputs(), has_it)) inputs.emplace(name, tensor.datum());
    }
    const auto results = session.run(inputs);
    const auto next = std::ranges::find(session.outputs(), "w.next", &ValueInfo::name);
    ASSERT_NE(next, session.outputs().end()) << one.name;
    step({ones({3})});
    const Tensor found(results[static_cast<size_t>(next - session.outputs().begin())]);
    expect_near(found, w.to(DType::kDouble).to_vector<double>(), 1e-6, one.name);
  }
}

// Rosenbrock's function from (-1.2, 1), as torch 1.13 goes.
TEST(OptimizerRules, Lbfgs) {
  struct Case {
    LbfgsOptions options;
    Values losses, x;
    int evaluations;
  };
  const std::vector<Case> cases{
      {{.strong_wolfe = true},
       {24.2, 0.423482302438, 4.22145751126e-10},
       {0.999981421079, 0.999961965181},
       45},
      {{.lr = 0.5, .max_iter = 5, .history_size = 2, .strong_wolfe = true},
       {24.2, 4.14933754496, 4.08754511532, 2.83330565739},
       {-0.337163831059, 0.0736590966003},
       24},
      {{.lr = 0.1, .max_iter = 4},
       {24.2, 7.76241536749, 5.77339695759},
       {-1.06563106181, 1.05823330101},
       12},
  };
  for (const Case& one : cases) {
    for (const bool is_resumed : {false, true}) {
      const Tensor x = tensor({-1.2, 1.0}).set_requires_grad();
      auto optimizer = std::make_shared<LBFGS>(std::vector{x}, one.options);
      int evaluations = 0;
      const Closure closure = [&] {
        ++evaluations;
        optimizer->zero_grad();
        const Tensor loss = square(1 - x[0]) + 100 * square(x[1] - square(x[0]));
        loss.backward();
        return loss;
      };
      for (const double expected : one.losses) {
        EXPECT_NEAR(optimizer->step(closure).item<double>(), expected, 1e-9);
        if (!is_resumed) continue;
        const nn::StateDict state = optimizer->state_dict();
        optimizer = std::make_shared<LBFGS>(std::vector{x}, one.options);
        optimizer->load_state_dict(state);
      }
      expect_near(x, one.x, 1e-9, "LBFGS");
      EXPECT_EQ(evaluations, one.evaluations);
    }
  }
}

TEST(OptimizerRules, AStepByAClosureGivesItsLoss) {
  const Tensor x = leaf();
  Rprop optimizer({x});
  const NoGrad no_grad;
  const Tensor loss = optimizer.step([&] {
    optimizer.zero_grad();
    const Tensor found = square(x).sum();
    found.backward();
    return found;
  });
  EXPECT_EQ(loss.item<double>(), 5.25);
  expect_near(x, {0.99, -1.99, 0.49}, 1e-13, "x");
}

// An optimiser of one's own, as the guide shows it.
struct LionOptions {
  double lr = 1e-4, beta1 = 0.9, beta2 = 0.99, weight_decay = 0;
};
class Lion : public Optimizer {
 public:
  explicit Lion(const std::vector<Group<LionOptions>>& groups) : Optimizer("Lion") {
    for (const auto& [parameters, options] : groups) {
      add_group(parameters, options.lr, {{"exp_avg"}});
      options_.push_back(options);
    }
  }

 protected:
  void update(Update& u) override {
    const LionOptions& o = options_[u.group];
    Tensor& mean = u.state("exp_avg");
    const Tensor direction = sign(o.beta1 * mean + (1 - o.beta1) * u.gradient);
    u.parameter = u.parameter - u.lr() * (direction + o.weight_decay * u.parameter);
    mean = o.beta2 * mean + (1 - o.beta2) * u.gradient;
  }

 private:
  std::vector<LionOptions> options_;
};

TEST(OwnOptimizer, HasGroupsStatesSchedulesAndTraces) {
  const Tensor a = leaf(), b = leaf();
  Lion lion({{{a}, {.lr = 0.1}}, {{b}, {.lr = 0.5, .weight_decay = 0.1}}});
  const auto step = compile([&](const std::vector<Tensor>& in) {
    a.set_grad(in[0]);
    b.set_grad(in[0]);
    lion.step();
    lion.zero_grad();
    return std::vector{in[0].sum()};
  });
  step({gradient_at(0, DType::kDouble)});
  expect_near(a, {0.9, -1.9, 0.4}, 1e-13, "a");
  expect_near(b, {0.45, -1.4, -0.025}, 1e-13, "b");
  lion.set_lr(0);
  step({gradient_at(1, DType::kDouble)});
  expect_near(a, {0.9, -1.9, 0.4}, 1e-13, "a without a rate");
  expect_near(lion.state_dict().at("state.1.exp_avg"), {-0.00301, -0.00098, 0.00497}, 1e-13, "");
  EXPECT_EQ(lion.state_dict().size(), 4u);
}

struct Unfinished : Optimizer {
  explicit Unfinished(const std::vector<Tensor>& parameters) : Optimizer("Unfinished") {
    add_group(parameters, 1, {{"mean"}});
  }
};
struct AsksForMore : Unfinished {
  using Unfinished::Unfinished;
  void update(Update& u) override { u.state("variance"); }
};

TEST(OptimizerRuleRefusals, Settings) {
  const std::vector<Tensor> own{leaf()};
  const auto step = [&](Optimizer& optimizer) {
    own[0].set_grad(gradient_at(0, DType::kDouble));
    optimizer.step();
  };
  expect_refusals({
      {"Adadelta: group 0 has no parameters", [] { Adadelta made(std::vector<Tensor>{}); }},
      {"RAdam: expected a group of parameters", [] { RAdam made(RAdam::Groups{}); }},
      {"Adadelta: rho: expected 0", [&] { Adadelta made(own, {.rho = 1.5}); }},
      {"Adamax: beta1: expected 0", [&] { Adamax made(own, {.beta1 = 1}); }},
      {"NAdam: momentum_decay: expected 0", [&] { NAdam made(own, {.momentum_decay = -1}); }},
      {"RAdam: eps: expected 0", [&] { RAdam made(own, {.eps = -1}); }},
      {"Rprop: eta_minus: expected 0 <= value < 1", [&] { Rprop made(own, {.eta_minus = 1}); }},
      {"Rprop: max_step: expected 1e-06", [&] { Rprop made(own, {.max_step = 0}); }},
      {"ASGD: weight_decay: expected 0", [&] { ASGD made(own, {.weight_decay = -1}); }},
      {"LBFGS: history_size: expected 1", [&] { LBFGS made(own, {.history_size = 0}); }},
      {"LBFGS calls the function many times", [&] { LBFGS(own).step(); }},
      {"LBFGS: expected a closure that gives the loss, one number",
       [&] { LBFGS(own).step([] { return zeros({2}); }); }},
      {"LBFGS: expected parameters of float32, or all of float64, got float16[3]",
       [] { LBFGS made({leaf(DType::kFloat16)}); }},
      {"load_state_dict of LBFGS: missing state.0.func_evals",
       [&] { LBFGS(own).load_state_dict({}); }},
      {"Unfinished: an optimiser of one's own overrides update()",
       [&] {
         Unfinished optimizer(own);
         step(optimizer);
       }},
      {"no state 'variance'; add_group is told the states",
       [&] {
         AsksForMore optimizer(own);
         step(optimizer);
       }},
  });
}

}  // namespace
}  // namespace sardonyx::eager::optim
