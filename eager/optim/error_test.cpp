// Settings of optimisers and schedules that make no sense.
#include "tests/support/expect_error.h"

#include <cmath>

#include "eager/create.h"
#include "eager/optim/optimizer.h"
#include "eager/optim/scheduler.h"
#include "ir/core/tensor.h"

namespace sardonyx::eager::optim {
namespace {

std::vector<Tensor> parameters() {
  return {tensor({1.0, 2.0}).set_requires_grad()};
}

TEST(OptimizerRefusals, Settings) {
  const std::vector<Tensor> own = parameters();
  const auto sgd = [&](SgdOptions options) { return [=] { SGD made(own, options); }; };
  const auto adam = [&](AdamOptions options) { return [=] { Adam made(own, options); }; };
  const auto rms = [&](RmspropOptions options) { return [=] { RMSprop made(own, options); }; };
  const auto adagrad = [&](AdagradOptions options) { return [=] { Adagrad made(own, options); }; };
  expect_refusals({
      {"SGD: lr: expected 0 <= value < inf, got -1", sgd({.lr = -1})},
      {"SGD: momentum: expected 0 <= value < inf, got -1", sgd({.momentum = -1})},
      {"SGD: weight_decay: expected 0 <= value < inf, got -1", sgd({.weight_decay = -1})},
      {"SGD: nesterov needs a momentum above 0 and no dampening, got 0 and 0",
       sgd({.nesterov = true})},
      {"got 0.5 and 0.1", sgd({.momentum = 0.5, .dampening = 0.1, .nesterov = true})},
      {"Adam: beta1: expected 0 <= value < 1, got 1", adam({.beta1 = 1})},
      {"Adam: beta2: expected 0 <= value < 1, got -0.5", adam({.beta2 = -0.5})},
      {"Adam: eps: expected 0 <= value < inf, got nan", adam({.eps = NAN})},
      {"Adam: weight_decay: expected 0 <= value", adam({.weight_decay = -1})},
      {"RMSprop: alpha: expected 0 <= value", rms({.alpha = -1})},
      {"RMSprop: eps: expected 0 <= value", rms({.eps = -1})},
      {"RMSprop: momentum: expected 0 <= value", rms({.momentum = -1})},
      {"RMSprop: weight_decay: expected 0 <= value", rms({.weight_decay = -1})},
      {"Adagrad: lr_decay: expected 0 <= value", adagrad({.lr_decay = -1})},
      {"Adagrad: eps: expected 0 <= value", adagrad({.eps = -1})},
      {"Adagrad: initial_accumulator: expected 0", adagrad({.initial_accumulator = -1})},
      {"Adagrad: weight_decay: expected 0 <= value", adagrad({.weight_decay = -1})},
      {"SGD: expected floating tensors that are no results of ops as parameters",
       [] { SGD made({Tensor()}); }},
      {"SGD: expected floating tensors", [] { SGD made({tensor({int64_t{1}})}); }},
      {"SGD: lr: expected 0 <= value < inf, got inf", [&] { SGD(own).set_lr(INFINITY); }},
      {"SGD: no group 1, it has 1", [&] { SGD(own).set_lr(1, 1); }},
      {"SGD: a parameter stands in it twice",
       [&] {
         SGD made({own[0], own[0]});
       }},
      {"SGD: a parameter stands in it twice",
       [&] {
         SGD made(SGD::Groups{{own, {}}, {own, {}}});
       }},
      {"clip_grad_norm: expected a positive norm and p, got 0 and 2",
       [&] { clip_grad_norm(own, 0, 2); }},
      {"clip_grad_norm: expected a positive norm and p, got 1 and -1",
       [&] { clip_grad_norm(own, 1, -1); }},
      {"clip_grad_value: expected a positive limit, got 0", [&] { clip_grad_value(own, 0); }},
  });
}

TEST(SchedulerRefusals, Settings) {
  SGD optimizer(parameters()), other(parameters());
  const auto constant = [](SGD& of) {
    return std::make_shared<LambdaLR>(of, [](int64_t) { return 1.0; });
  };
  const auto cycle = [&](OneCycleOptions options) {
    return [&optimizer, options] { OneCycleLR made(optimizer, options); };
  };
  expect_refusals({
      {"StepLR: expected a positive size, got 0", [&] { StepLR made(optimizer, 0); }},
      {"CosineAnnealingLR: expected a positive count of steps, got -1",
       [&] { CosineAnnealingLR made(optimizer, -1); }},
      {"LinearLR: expected a positive count of steps, got 0",
       [&] { LinearLR made(optimizer, 0.5, 1, 0); }},
      {"OneCycleLR: expected a positive max_lr, got 0", cycle({.max_lr = 0, .total_steps = 5})},
      {"OneCycleLR: expected a positive count of steps", cycle({.max_lr = 1, .total_steps = 0})},
      {"OneCycleLR: expected pct_start within [0, 1], got 2",
       cycle({.max_lr = 1, .total_steps = 5, .pct_start = 2})},
      {"OneCycleLR: step 6 of 5",
       [&] { OneCycleLR(optimizer, {.max_lr = 1, .total_steps = 5}).set_step(6); }},
      {"SequentialLR: expected one milestone fewer than schedulers, got 0 for 0",
       [&] { SequentialLR made(optimizer, {}, {}); }},
      {"got 1 for 1", [&] { SequentialLR made(optimizer, {constant(optimizer)}, {3}); }},
      {"SequentialLR: expected schedulers of one optimiser",
       [&] {
         SequentialLR made(optimizer, {constant(optimizer), constant(other)}, {3});
       }},
      {"SequentialLR: expected schedulers of one optimiser",
       [&] { SequentialLR made(optimizer, {nullptr}, {}); }},
      {"ReduceLROnPlateau: expected a factor below 1, got 1",
       [&] { ReduceLROnPlateau made(optimizer, {.factor = 1}); }},
      {"scheduler: expected a step of at least 0, got -1",
       [&] { constant(optimizer)->set_step(-1); }},
      {"load_state_dict of a scheduler: expected one number",
       [&] { constant(optimizer)->load_state_dict({}); }},
  });
}

}  // namespace
}  // namespace sardonyx::eager::optim
