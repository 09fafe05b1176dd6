// Settings of optimisers and schedules, and datasets, that make no sense.
#include "ir/refusal_for_test.h"

#include <cmath>

#include "eager/create.h"
#include "eager/data/loader.h"
#include "eager/optim/optimizer.h"
#include "eager/optim/scheduler.h"
#include "ir/tensor.h"

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

TEST(DatasetRefusals, Samples) {
  using namespace data;
  const auto rows = [](int64_t count) { return ones({count, 2}); };
  const auto whole = std::make_shared<TensorDataset>(std::vector{rows(3)});
  const auto packed = std::make_shared<TensorDataset>(
      std::vector{Tensor(sardonyx::Tensor::zeros(DType::kUInt4, {2, 2}))});
  const FunctionDataset uneven(2, [&](int64_t index) {
    return index == 0 ? Sample{rows(1)} : Sample{rows(1), rows(1)};
  });
  const FunctionDataset unlike(2, [&](int64_t index) { return Sample{rows(index + 1)}; });
  const std::vector<int64_t> both{0, 1}, beyond{3};
  const Subset part(whole, {2});
  expect_refusals({
      {"dataset: a batch without samples", [] { stack_samples({}); }},
      {"dataset: sample 1 has 2 tensors, others have 1", [&] { uneven.batch(both); }},
      {"dataset: samples of one batch differ: float[1, 2] and float[2, 2]",
       [&] { unlike.batch(both); }},
      {"TensorDataset: expected tensors", [] { TensorDataset made({}); }},
      {"TensorDataset: expected tensors of rank 1 or more", [] { TensorDataset made({Tensor()}); }},
      {"TensorDataset: expected tensors of rank 1", [] { TensorDataset made({ones({})}); }},
      {"TensorDataset: expected tensors of as many rows, got float[3, 2] and float[2, 2]",
       [&] {
         TensorDataset made({rows(3), rows(2)});
       }},
      {"dataset: no sample 3, it has 3", [&] { whole->get(3); }},
      {"dataset: no sample -1, it has 3", [&] { whole->get(-1); }},
      {"dataset: no sample 3, it has 3", [&] { whole->batch(beyond); }},
      {"Subset: expected a dataset", [] { Subset made(nullptr, {}); }},
      {"dataset: no sample 3, it has 3", [&] { Subset made(whole, {3}); }},
      {"dataset: no sample 1, it has 1", [&] { part.get(1); }},
      {"dataset: no sample 3, it has 1", [&] { part.batch(beyond); }},
      {"random_split: expected a dataset", [] { random_split(nullptr, {1}); }},
      {"DataLoader: expected a dataset", [] { DataLoader made(nullptr, {}); }},
      {"DataLoader: expected a positive batch_size",
       [&] { DataLoader made(whole, {.batch_size = 0}); }},
  });
  expect_refusal(ErrorCode::kUnsupported, "dataset: elements of type uint4 are not batched",
                 [&] { packed->get(0); });
  expect_refusal(ErrorCode::kUnsupported, "dataset: elements of type uint4 are not batched",
                 [&] { packed->batch(both); });
}

}  // namespace
}  // namespace sardonyx::eager::optim
