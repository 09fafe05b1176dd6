// What a compiled function depends on: it agrees with the function whatever changes between calls.
#include "eager/trace/compile.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/functional/fft.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/optim/optimizer.h"
#include "eager/trace/control_flow.h"
#include "eager/trace/same_for_test.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager {
namespace {

using ::testing::HasSubstr;
using Tensors = std::vector<Tensor>;

TEST(CompileGuards, GradientsOfSeveralCallsAddUp) {
  const nn::Linear layer(3, 2);
  const auto run = [&](const Tensors& in) -> Tensors {
    const Tensor loss = square(layer(in[0])).sum();
    loss.backward();
    return {loss};
  };
  const Compiled compiled = compile(run);
  const Tensor x = randn({4, 3});
  for (int round = 0; round < 2; ++round) {
    layer.zero_grad();
    for (int i = 0; i < 3; ++i)
      run({x});
    const Tensor expected = layer.weight.grad();
    layer.zero_grad();
    for (int i = 0; i < 3; ++i)
      compiled({x});
    EXPECT_TRUE(same(layer.weight.grad(), expected)) << round;
  }
  EXPECT_EQ(compiled.traces(), 2u);
  EXPECT_THAT(compiled.trace_log()[1], HasSubstr("has a gradient from before the call"));
}

TEST(CompileGuards, StepsThatClearGradientsFirstAreTracedOnce) {
  const nn::Linear layer(3, 2);
  optim::SGD optimizer(layer.parameters(), {.lr = 0.1});
  const Compiled step = compile([&](const Tensors& in) -> Tensors {
    optimizer.zero_grad();
    const Tensor loss = square(layer(in[0])).sum();
    loss.backward();
    optimizer.step();
    return {loss};
  });
  for (int i = 0; i < 3; ++i)
    step({randn({2 + i, 3})});
  EXPECT_EQ(step.traces(), 1u);
}

TEST(CompileGuards, AnOptimiserStepReadsTheGradientsOfItsCall) {
  const Tensor w = ones({2}).set_requires_grad();
  optim::SGD optimizer({w}, {.lr = 1.0});
  const Compiled step = compile([&](const Tensors& in) -> Tensors {
    optimizer.step();
    return in;
  });
  for (const double slope : {1.0, 10.0}) {
    optimizer.zero_grad();
    (w * slope).sum().backward();
    step({ones({1})});
  }
  EXPECT_EQ(w.to_vector<float>(), (std::vector<float>{-10, -10}));
}

TEST(CompileGuards, ModesOfModules) {
  nn::Dropout dropout(0.5);
  nn::BatchNorm1d norm(4);
  const Compiled compiled = compile([&](const Tensors& in) -> Tensors {
    return {dropout(in[0]), norm(in[0])};
  });
  const Tensor x = randn({64, 4});
  compiled({x});
  dropout.eval();
  EXPECT_TRUE(same(compiled({x})[0], x));
  norm.eval();
  EXPECT_TRUE(same(compiled({x})[1], norm(x)));
  EXPECT_EQ(compiled.traces(), 3u);
  EXPECT_THAT(compiled.trace_log()[1], HasSubstr("Dropout is in evaluation mode now"));
  compiled({randn({3, 4})});
  EXPECT_EQ(compiled.traces(), 3u);
}

TEST(CompileGuards, PartsAndHooksOfModules) {
  const NoGrad no_grad;
  const Tensor x = ones({1, 2});
  nn::Sequential net(nn::Linear(2, 2), nn::Linear(2, 2));
  const Compiled compiled = compile([&](const Tensors& in) { return Tensors{net(in[0])}; });
  const auto agrees = [&] { return same(compiled({x})[0], net(x)); };
  EXPECT_TRUE(agrees());
  net.append(nn::Linear(2, 5));
  EXPECT_TRUE(agrees());
  const RemovableHandle hook = net.register_forward_hook(
      [](const nn::Module&, const Tensors&, Tensors& outputs) { outputs[0] = outputs[0] * 2; });
  EXPECT_TRUE(agrees());
  hook.remove();
  EXPECT_TRUE(agrees());
  EXPECT_THAT(compiled.trace_log().back(), HasSubstr("Sequential has other parts or hooks now"));
  nn::Linear layer(2, 2);
  const Compiled other = compile([&](const Tensors& in) { return Tensors{layer(in[0])}; });
  EXPECT_TRUE(same(other({x})[0], layer(x)));
  layer.weight = layer.replace_parameter("weight", full({2, 2}, 100));
  EXPECT_TRUE(same(other({x})[0], layer(x)));
  EXPECT_TRUE(same(other({x})[0], layer(x)));
  EXPECT_EQ(other.traces(), 2u);
}

TEST(CompileGuards, HooksThatTheFunctionRegistersAndRemovesItself) {
  const NoGrad no_grad;
  const Tensor x = ones({1, 2});
  const nn::Linear layer(2, 2);
  const Compiled compiled = compile([&](const Tensors& in) {
    Tensor feature;
    const RemovableHandle hook = layer.register_forward_hook(
        [&](const nn::Module&, const Tensors&, Tensors& outputs) { feature = outputs[0]; });
    const Tensor y = layer(in[0]);
    hook.remove();
    return Tensors{y + feature};
  });
  for (int call = 0; call < 3; ++call)
    EXPECT_TRUE(same(compiled({x})[0], layer(x) * 2));
  EXPECT_EQ(compiled.traces(), 1u);
  // One that was there before and goes within the trace is there no more in the next call.
  RemovableHandle once;
  once = layer.register_forward_hook([&](const nn::Module&, const Tensors&, Tensors& outputs) {
    once.remove();
    outputs[0] = outputs[0] * 5;
  });
  const Tensor first = compiled({x})[0], second = compiled({x})[0];
  EXPECT_TRUE(same(first, layer(x) * 10));
  EXPECT_TRUE(same(second, layer(x) * 2));
}

TEST(Compile, ThreadsThatEvaluateWhileOneTrains) {
  const nn::Linear layer(64, 64);
  optim::SGD optimizer(layer.parameters(), {.lr = 0.01});
  const Compiled compiled = compile([&](const Tensors& in) {
    const Tensor loss = square(layer(in[0])).mean();
    if (!is_grad_enabled()) return Tensors{loss};
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return Tensors{loss};
  });
  const Tensor x = randn({8, 64});
  std::atomic<bool> is_over = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&] {
      const NoGrad no_grad;
      while (!is_over)
        wrong += !std::isfinite(compiled({x})[0].item<float>());
    });
  }
  for (int step = 0; step < 200; ++step)
    compiled({x});
  is_over = true;
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Compile, ManyThreadsCallOneFunction) {
  const Compiled compiled = compile([](const Tensors& in) { return Tensors{(in[0] * 2).sum()}; });
  const Tensor total = zeros({});
  const Compiled counting = compile([&](const Tensors& in) {
    total.assign(total + in[0].sum());
    return Tensors{total};
  });
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int call = 0; call < 40; ++call) {
        const int size = 1 + call % 7 + thread;
        wrong += compiled({ones({size})})[0].item<float>() != 2.f * static_cast<float>(size);
        wrong += compiled.plan_text().empty();
        counting({ones({thread + 1, 2})});
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(total.item<float>(), 40 * 2 * (1 + 2 + 3 + 4));
}

TEST(Compile, ATensorThatOutlivesItsTrace) {
  Tensor kept, in_branch;
  const Compiled compiled = compile([&](const Tensors& in) {
    kept = in[0] * 2;
    const Tensor unused = kept + 3;
    in_branch = unused;
    return Tensors{cond(
        in[0].sum() > 0, [&]() -> Tensor { return in_branch = kept + 1; },
        [&]() -> Tensor { return kept - 1; })};
  });
  EXPECT_EQ(compiled({ones({2})})[0].to_vector<float>(), (std::vector<float>{3, 3}));
  for (const Tensor& tensor : {kept, in_branch}) {
    EXPECT_TRUE(tensor.is_symbolic());
    EXPECT_EQ(tensor.dtype(), DType::kFloat);
    EXPECT_EQ(tensor.shape().size(), 1u);
    EXPECT_FALSE(tensor.text().empty());
    EXPECT_EQ(tensor.detach().shape().size(), 1u);
    expect_refusal(ErrorCode::kInvalidArgument, "", [&] { return tensor + 1; });
    const Compiled other = compile([&](const Tensors& in) { return Tensors{in[0] + tensor}; });
    expect_refusal(ErrorCode::kInvalidArgument, "symbolic tensor of another trace",
                   [&] { return other({ones({2})}); });
  }
}

TEST(Compile, GradientsOfAnOutlivedTraceAreRefused) {
  const Tensor w = ones({2}, {.requires_grad = true});
  Tensor kept;
  const Compiled compiled = compile([&](const Tensors& in) {
    kept = square(in[0] * w).sum();
    return Tensors{kept.detach()};
  });
  compiled({ones({2})});
  expect_refusal(ErrorCode::kInvalidArgument, "a trace that is over", [&] { kept.backward(); });
}

TEST(Compile, AssignsWhereTheSizesOfTheCallFit) {
  const Tensor state = zeros({2});
  const Compiled compiled = compile([&](const Tensors& in) {
    state.assign(in[0]);
    return Tensors{state * 2};
  });
  EXPECT_EQ(compiled({ones({2})})[0].to_vector<float>(), (std::vector<float>{2, 2}));
  EXPECT_EQ(state.to_vector<float>(), (std::vector<float>{1, 1}));
  expect_refusal(ErrorCode::kInvalidArgument, "assign", [&] { return compiled({ones({3})}); });
  EXPECT_EQ(state.to_vector<float>(), (std::vector<float>{1, 1}));
}

TEST(CompileGuards, ModesThatTheFunctionSetsItself) {
  nn::Dropout dropout(0.5);
  const Compiled compiled = compile([&](const Tensors& in) -> Tensors {
    const nn::EvalMode mode(dropout);
    return {dropout(in[0])};
  });
  const Tensor x = randn({8});
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(same(compiled({x})[0], x));
  EXPECT_EQ(compiled.traces(), 1u);
}

TEST(CompileGuards, WhatRequiresGradients) {
  nn::Linear layer(3, 2);
  const Compiled compiled = compile([&](const Tensors& in) -> Tensors {
    layer.zero_grad();
    square(layer(in[0])).sum().backward();
    return {};
  });
  compiled({ones({1, 3})});
  EXPECT_TRUE(layer.bias.grad().defined());
  layer.zero_grad();
  layer.bias.set_requires_grad(false);
  compiled({ones({1, 3})});
  EXPECT_FALSE(layer.bias.grad().defined());
  EXPECT_TRUE(layer.weight.grad().defined());
  EXPECT_EQ(compiled.traces(), 2u);
}

TEST(CompileGuards, WhetherGradientsAreRecorded) {
  const Compiled compiled =
      compile([](const Tensors& in) -> Tensors { return {is_grad_enabled() ? in[0] : -in[0]}; });
  EXPECT_EQ(compiled({ones({1})})[0].item<float>(), 1);
  const NoGrad guard;
  EXPECT_EQ(compiled({ones({1})})[0].item<float>(), -1);
}

TEST(CompileGuards, ValuesOfTensorsThatTheFunctionReads) {
  const Tensor scale = Tensor::scalar(2.f);
  const Compiled compiled =
      compile([&](const Tensors& in) -> Tensors { return {in[0] * scale.item<float>()}; });
  EXPECT_EQ(compiled({ones({1})})[0].item<float>(), 2);
  scale.assign(Tensor::scalar(3.f));
  EXPECT_EQ(compiled({ones({1})})[0].item<float>(), 3);
  EXPECT_EQ(compiled({ones({5})})[0].shape(), (Dims{5}));
  EXPECT_EQ(compiled.traces(), 2u);
}

TEST(CompileGuards, TypesOfTensorsThatTheFunctionReads) {
  nn::Linear layer(3, 2);
  const Compiled compiled = compile([&](const Tensors& in) -> Tensors { return {layer(in[0])}; });
  compiled({randn({2, 3})});
  layer.to(DType::kDouble);
  const Tensor x = randn({2, 3}, {.dtype = DType::kDouble});
  EXPECT_EQ(compiled({x})[0].dtype(), DType::kDouble);
}

TEST(Compile, RunsAsPartOfAnotherTrace) {
  const Compiled inner = compile([](const Tensors& in) -> Tensors { return {in[0] * 2}; });
  const Compiled outer = compile([&](const Tensors& in) -> Tensors { return {inner(in)[0] + 1}; });
  EXPECT_EQ(outer({ones({2})})[0].to_vector<float>(), (std::vector<float>{3, 3}));
  EXPECT_EQ(inner.traces(), 0u);
}

TEST(Compile, LoopsOfProductsHaveGradients) {
  const Tensor w = (randn({3, 3}) * 0.3).set_requires_grad();
  const auto run = [&](const Tensors& in) -> Tensors {
    w.zero_grad();
    const Tensors out = while_loop([](const Tensors& state) { return state[1] < 3; },
                                   [&](const Tensors& state) -> Tensors {
                                     return {matmul(state[0], w), state[1] + 1};
                                   },
                                   {in[0], Tensor::scalar(int64_t{0})});
    const Tensor loss = square(out[0]).sum();
    loss.backward();
    return {loss};
  };
  const Tensor x = randn({2, 3});
  const Tensor expected = run({x})[0].detach();
  const Tensor gradient = w.grad();
  const Compiled compiled = compile(run);
  EXPECT_TRUE(same(compiled({x})[0], expected));
  EXPECT_TRUE(same(w.grad(), gradient));
}

TEST(Compile, FunctionsOfTensorsAndModulesAreCalledAsTheyAre) {
  const auto product = compile([](const Tensor& a, const Tensor& b) { return a * b + 1.0; });
  const Tensor x = randn({2, 3}), y = randn({2, 3});
  EXPECT_TRUE(same(product(x, y), x * y + 1.0));
  const auto both = compile([](const Tensor& a) { return std::pair{a + 1.0, a.sum()}; });
  const auto [more, sum] = both(x);
  EXPECT_TRUE(same(more, x + 1.0));
  EXPECT_TRUE(same(sum, x.sum()));
  const auto parts = compile([](const Tensor& a) { return split(a, 1, 1); });
  EXPECT_EQ(parts(x).size(), 3u);
  const nn::Sequential net(nn::Linear(3, 4), nn::ReLU(), nn::Dropout(0.5));
  const auto forward = compile(net);
  net.eval();
  EXPECT_TRUE(same(forward(x), net(x).detach()));
  forward(randn({5, 3}));
  EXPECT_EQ(forward.traces(), 1u);
  const auto four = compile([](const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& d) {
    return a + b * c - d;
  });
  EXPECT_TRUE(same(four(x, x, x, x), x * x));
  static_assert(!std::invocable<decltype(product), Tensor>);
  static_assert(std::same_as<decltype(both(x)), std::pair<Tensor, Tensor>>);
}

TEST(Compile, HooksOfTensorsAreConditions) {
  const Tensor weight = ones({2}, {.requires_grad = true});
  int traces = 0;
  const auto gradient = compile([&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    ++traces;
    const RemovableHandle own = weight.register_hook([](const Tensor& found) { return found * 5; });
    const std::vector<Tensor> found = grad({(weight * in[0]).sum()}, {weight});
    own.remove();
    return {found[0]};
  });
  const auto found = [&] { return gradient({ones({2})})[0].to_vector<float>()[0]; };
  EXPECT_EQ(found(), 5);
  EXPECT_EQ(found(), 5);
  EXPECT_EQ(traces, 1);
  const RemovableHandle twice = weight.register_hook([](const Tensor& found) { return found * 2; });
  EXPECT_EQ(found(), 10);
  twice.remove();
  EXPECT_EQ(found(), 5);
}

}  // namespace
}  // namespace sardonyx::eager
