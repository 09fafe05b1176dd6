// What a compiled function depends on: it agrees with the function whatever changes between calls.
#include "eager/trace/compile.h"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <cmath>
#include <thread>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/export/export.h"
#include "eager/functional/fft.h"
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/optim/optimizer.h"
#include "eager/trace/control_flow.h"
#include "executor/session.h"
#include "tests/support/expect_error.h"

namespace sardonyx::eager {
namespace {

using ::testing::HasSubstr;
using Tensors = std::vector<Tensor>;

bool same(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  return a.numel().value() == 0 || abs(a - b).amax().item<float>() < 1e-5f;
}

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

TEST(CompileGuards, ComparisonsOfSizes) {
  const auto run = [](const Tensors& in) -> Tensors {
    if (in[0].size(0) == 3) return {in[0] * 10};
    const Dim rows = in[0].shape()[0];
    if (rows * 2 > 8) return {in[0] * 100};
    return {in[0]};
  };
  const Compiled compiled = compile(run);
  for (const int64_t rows : {3, 2, 3, 4, 5, 7, 2, 1}) {
    const Tensor x = ones({rows, 2});
    EXPECT_TRUE(same(compiled({x})[0], run({x})[0])) << rows;
  }
  EXPECT_EQ(compiled.traces(), 3u);
  EXPECT_THAT(compiled.trace_log()[1], HasSubstr("size_0 == 3 (compile_test.cpp:"));
}

TEST(CompileGuards, ValuesOfSizesThatTheFunctionAsksFor) {
  const auto run = [](const Tensors& in) -> Tensors {
    Tensor total = in[0].select(0, 0);
    for (int64_t i = 1; i < in[0].size(0); ++i)
      total = total * 2 + in[0].select(0, i);
    return {total / static_cast<double>(in[0].size(1).value())};
  };
  const Compiled compiled = compile(run);
  for (const auto& [rows, columns] : {std::pair{3, 2}, {4, 2}, {3, 5}, {3, 2}}) {
    const Tensor x = randn({rows, columns});
    EXPECT_TRUE(same(compiled({x})[0], run({x})[0])) << rows << ' ' << columns;
  }
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

// What eager code refuses a compiled function refuses too, also at sizes that come later.
TEST(CompileGuards, ChecksOfSizesHoldForLaterCalls) {
  const nn::LayerNorm norm(2);
  const Compiled half =
      compile([&](const Tensors& in) -> Tensors { return {norm(chunk(in[0], 2)[0])}; });
  EXPECT_EQ(half({ones({4})})[0].shape(), (Dims{2}));
  expect_refusal(ErrorCode::kInvalidArgument, "LayerNorm: expected x to end in [2], got",
                 [&] { half({ones({6})}); });
  const Compiled loss =
      compile([](const Tensors& in) -> Tensors { return {nn::mse_loss(in[0], in[1])}; });
  loss({ones({3, 4}), ones({3, 4})});
  expect_refusal(ErrorCode::kInvalidArgument, "expected input and target of one shape", [&] {
    loss({ones({3, 4}), ones({3, 1})});
  });
  const Compiled picked =
      compile([](const Tensors& in) -> Tensors { return {in[0].index({in[1]})}; });
  const CreateOptions mask{.dtype = DType::kBool};
  picked({ones({3}), ones({3}, mask)});
  expect_refusal(ErrorCode::kInvalidArgument, "index: a mask bool[", [&] {
    picked({ones({3}), ones({2}, mask)});
  });
}

// What two open sizes broadcast to is a size like others: later calls may broadcast otherwise.
TEST(CompileGuards, ChecksOfSizesThatWereBroadcast) {
  const TensorFunction run = [](const Tensors& in) -> Tensors {
    const Tensor square = matmul(in[0], in[0].t());
    return {nn::bce_with_logits(square, square * in[0])};
  };
  const Compiled loss = compile(run);
  const Tensor x = randn({4, 4});
  EXPECT_TRUE(same(loss({x})[0], run({x})[0]));
  expect_refusal(ErrorCode::kInvalidArgument,
                 "bce_with_logits: expected input and target of one shape, got float[", [&] {
                   loss({ones({1, 4})});
                 });
  expect_refusal(ErrorCode::kInvalidArgument, "broadcast", [&] { loss({ones({2, 4})}); });
  EXPECT_TRUE(same(loss({ones({3, 3})})[0], run({ones({3, 3})})[0]));
  EXPECT_TRUE(same(loss({ones({1, 1})})[0], run({ones({1, 1})})[0]));

  const TensorFunction doubled = [](const Tensors& in) -> Tensors {
    const Tensor sum = in[0] + in[1] + in[2];
    return {sum * static_cast<double>(sum.size(0).value()), sum.size(0) == 3 ? sum * 2 : sum};
  };
  const Compiled compiled = compile(doubled);
  const std::vector<std::array<int64_t, 3>> calls{{3, 3, 3}, {1, 3, 3}, {1, 1, 3}, {1, 1, 1},
                                                  {4, 4, 1}, {1, 4, 4}, {3, 3, 3}};
  for (const auto& [a, b, c] : calls) {
    const Tensors in{ones({a, 1}), ones({1, b}).t(), ones({c, 1, 1}).squeeze({1})};
    const Tensors expected = doubled(in), got = compiled(in);
    EXPECT_TRUE(same(got[0], expected[0]) && same(got[1], expected[1])) << a << b << c;
  }
}

TEST(CompileGuards, ChecksOfSizesThatDependOnData) {
  const TensorFunction run = [](const Tensors& in) -> Tensors {
    return {nn::mse_loss(in[0].index({in[0] > 0}), in[1].index({in[1] > 0}))};
  };
  const Compiled loss = compile(run);
  const auto of = [](const std::vector<float>& values) { return Tensor::of(values, {3}); };
  const Tensors two{of({1, -1, 2}), of({3, 4, -1})}, three{of({1, 3, 2}), of({3, 4, 8})};
  EXPECT_TRUE(same(loss(two)[0], run(two)[0]));
  EXPECT_TRUE(same(loss(three)[0], run(three)[0]));
  EXPECT_EQ(loss.traces(), 1u);
  for (const Tensor& other : {of({-1, 1, -1}), of({1, 1, 1})}) {
    expect_refusal(ErrorCode::kInvalidArgument, "mse_loss", [&] { run({two[0], other}); });
    expect_refusal(ErrorCode::kInvalidArgument, "compile_test.cpp:", [&] {
      loss({two[0], other});
    });
  }
  expect_refusal(ErrorCode::kInvalidArgument, "compile_test.cpp:", [&] {
    loss({of({-1, 1, -1}), two[0]});
  });
}

// Where later sizes no longer allow what a function does, it does not cut or stretch instead.
TEST(CompileGuards, LaterSizesThatAFunctionRefuses) {
  struct Case {
    const char* message;
    TensorFunction fn;
    Tensors fits, does_not;
  };
  const nn::LSTM lstm(2, 3);
  const nn::LSTMCell cell(2, 3);
  const std::vector<Case> cases{
      {"cross: expected 3 elements along axis -1",
       [](const Tensors& in) -> Tensors { return {cross(in[0], in[0])}; },
       {ones({2, 3})},
       {ones({2, 4})}},
      {"narrow: expected a part of axis 0",
       [](const Tensors& in) -> Tensors { return {narrow(in[0], 0, 1, 3)}; },
       {ones({5})},
       {ones({3})}},
      {"circular pads of axis 2",
       [](const Tensors& in) -> Tensors {
         return {pad(in[0], {2, 0}, "circular")};
       },
       {ones({1, 1, 3})},
       {ones({1, 1, 1})}},
      {"stft: expected at least 4 samples",
       [](const Tensors& in) -> Tensors {
         return {fft::stft(in[0], {.n_fft = 4, .center = false})};
       },
       {ones({8})},
       {ones({3})}},
      {"index_put: values",
       [](const Tensors& in) -> Tensors {
         return {in[0].index_put({Tensor::of(std::vector<int64_t>{0, 1}, {2})}, in[1])};
       },
       {ones({4}), ones({2})},
       {ones({4}), ones({3})}},
      {"LSTM: expected hidden",
       [&](const Tensors& in) -> Tensors {
         return {lstm(in[0], {in[1], in[1]}).output};
       },
       {ones({5, 2, 2}), ones({1, 2, 3})},
       {ones({5, 2, 2}), ones({2, 2, 3})}},
      {"LSTMCell: expected cell",
       [&](const Tensors& in) -> Tensors {
         return {cell(in[0], nn::LSTMState{in[1], in[2]}).hidden};
       },
       {ones({2, 2}), ones({2, 3}), ones({2, 3})},
       {ones({2, 2}), ones({2, 3}), ones({2, 1})}},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.message);
    const Compiled compiled = compile(one.fn);
    EXPECT_TRUE(same(compiled(one.fits)[0], one.fn(one.fits)[0]));
    expect_refusal(ErrorCode::kInvalidArgument, one.message, [&] { compiled(one.does_not); });
  }
}

// The values that a loop kept for its gradient have their shape also where it never ran.
TEST(CompileGuards, GradientsOfLoopsThatNeverRun) {
  const Tensor scale = ones({4}).set_requires_grad();
  for (const int level : {0, 1, 2}) {
    const Compiled loop = compile(
        [&](const Tensors& in) -> Tensors {
          const Tensor y = while_loop([](const Tensors& state) { return state[1] < 0; },
                                      [](const Tensors& state) -> Tensors {
                                        return {tanh(state[0]) * 1.5, state[1] + 1};
                                      },
                                      {in[0] * scale, zeros({}, {.dtype = DType::kInt64})})[0];
          y.sum().backward();
          return {y};
        },
        {.optimization_level = level});
    scale.zero_grad();
    loop({full({3, 4}, 2)});
    EXPECT_EQ(scale.grad().to_vector<float>(), std::vector<float>(4, 6.f)) << level;
  }
}

TEST(CompileGuards, ReshapesBesideASizeOfZero) {
  const auto rows = [](const Tensors& in) -> Tensors {
    return {in[0].reshape({in[0].size(0), -1})};
  };
  for (const int64_t size : {0, 3}) {
    EXPECT_EQ(rows({ones({size, 2, 2})})[0].shape(), (Dims{size, 4}));
    const ExportOptions options{.dynamic_axes = {{"input_0", {{0, "n"}}}}};
    const Model model = traced_model(rows, {ones({3, 2, 2})}, options);
    EXPECT_EQ(
        Session(model).run(std::vector<Datum>{ones({size, 2, 2}).datum()})[0].tensor().shape(),
        (Shape{size, 4}));
  }
}

// Ends beyond the size are cut off, and negative bounds count from the end, at every size of a
// call.
TEST(CompileSlices, GradientsOnOpenAxes) {
  const std::vector<std::optional<Dim>> bounds{std::nullopt, 0, 2, 7, -1, -2, -7};
  for (const std::optional<Dim>& begin : bounds) {
    for (const std::optional<Dim>& end : bounds) {
      for (const int64_t step : {1, 2, -1, -2}) {
        const auto run = [&](const Tensors& in) -> Tensors {
          Tensor x = in[0].detach();
          x.set_requires_grad();
          const Tensor y = x.slice(1, {begin, end, step});
          square(y).sum().backward();
          return {x.grad(), y.detach()};
        };
        const Compiled compiled = compile(run);
        for (const int64_t size : {3, 5, 1, 8, 2}) {
          const Tensor x = randn({2, size});
          const Tensors expected = run({x}), found = compiled({x});
          EXPECT_TRUE(same(found[0], expected[0]) && same(found[1], expected[1]))
              << begin.value_or(99) << ":" << end.value_or(99) << ":" << step << " of " << size;
        }
      }
    }
  }
}

// The same with bounds that are computed from sizes, which may be negative.
TEST(CompileSlices, BoundsOfSizesOnOpenAxes) {
  using Bound = Dim (*)(const Tensors&);
  const std::vector<Bound> bounds{
      [](const Tensors& in) { return in[0].size(1) - 3; },
      [](const Tensors& in) { return in[1].size(0) - 2; },
      [](const Tensors& in) { return 2 * in[1].size(0); },
      [](const Tensors& in) { return floor_div(in[0].size(1), 2); },
  };
  for (size_t i = 0; i < bounds.size() * bounds.size() * 2; ++i) {
    const Bound begin = bounds[i / 2 % bounds.size()], end = bounds[i / 2 / bounds.size()];
    const auto run = [&](const Tensors& in) -> Tensors {
      Tensor x = in[0].detach();
      x.set_requires_grad();
      const Tensor y = x.slice(1, {begin(in), end(in), i % 2 ? -1 : 1});
      square(y).sum().backward();
      return {x.grad(), y.detach()};
    };
    const Compiled compiled = compile(run);
    for (const auto& [n, m] : std::vector<std::pair<int64_t, int64_t>>{
             {5, 6}, {4, 7}, {8, 3}, {2, 9}, {9, 4}, {1, 1}, {1, 5}, {6, 2}}) {
      const Tensors in{randn({2, n}), randn({m})};
      const Tensors expected = run(in), found = compiled(in);
      EXPECT_TRUE(same(found[0], expected[0]) && same(found[1], expected[1]))
          << i << " at " << n << ", " << m;
    }
  }
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
