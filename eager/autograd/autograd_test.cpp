#include "eager/autograd/autograd.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/trace/compile.h"
#include "tests/support/message_of.h"

namespace sardonyx::eager {
namespace {

using Tensors = std::vector<Tensor>;

Tensor leaf(std::initializer_list<double> values) {
  return tensor(std::vector<double>(values)).set_requires_grad();
}

TEST(Autograd, BackwardOfAProduct) {
  const Tensor a = Tensor::scalar(15.f).set_requires_grad();
  const Tensor b = Tensor::scalar(20.f).set_requires_grad();
  const Tensor c = a * b;
  c.backward();
  EXPECT_EQ(c.item<float>(), 300);
  EXPECT_EQ(a.grad().item<float>(), 20);
  EXPECT_EQ(b.grad().item<float>(), 15);
}

TEST(Autograd, GradientsAccumulateAndBroadcastsAreUndone) {
  const Tensor x = leaf({1, 2, 3}), y = leaf({2});
  (x * y).sum().backward();
  EXPECT_EQ(y.grad().to_vector<double>(), (std::vector<double>{6}));
  (x * y).sum().backward();
  EXPECT_EQ(y.grad().to_vector<double>(), (std::vector<double>{12}));
  y.zero_grad();
  EXPECT_FALSE(y.grad().defined());
}

TEST(Autograd, HigherOrder) {
  const Tensor x = leaf({2});
  const Tensor y = (x * x * x).sum();
  const Tensor first = grad({y}, {x}, {.create_graph = true})[0];
  const Tensor second = grad({first.sum()}, {x}, {.create_graph = true})[0];
  const Tensor third = grad({second.sum()}, {x})[0];
  EXPECT_DOUBLE_EQ(first.item<double>(), 12);
  EXPECT_DOUBLE_EQ(second.item<double>(), 12);
  EXPECT_DOUBLE_EQ(third.item<double>(), 6);
}

TEST(Autograd, WithRespectToAValueAndWhatItWasMadeFrom) {
  const Tensor x = leaf({1, 2, 3}), y = x * x, z = (y * y).sum();
  const Tensors both = grad({z}, {x, y}, {.retain_graph = true});
  EXPECT_EQ(both[0].to_vector<double>(), (std::vector<double>{4, 32, 108}));
  EXPECT_EQ(both[1].to_vector<double>(), (std::vector<double>{2, 8, 18}));
  // What is before the wanted value is not used up.
  (void)grad({z}, {y});
  y.sum().backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{2, 4, 6}));
}

TEST(Autograd, FunctionalForms) {
  const Function cube = [](const Tensors& in) { return (in[0] * in[0] * in[0]).sum(); };
  const auto derivative = grad(cube);
  EXPECT_DOUBLE_EQ(derivative({leaf({3})})[0].item<double>(), 27);
  const Function slope = [&](const Tensors& in) { return derivative(in)[0].sum(); };
  EXPECT_DOUBLE_EQ(grad(slope)({leaf({3})})[0].item<double>(), 18);
  const auto [value, gradients] = value_and_grad(cube)({tensor({2.0})});
  EXPECT_DOUBLE_EQ(value.item<double>(), 8);
  EXPECT_DOUBLE_EQ(gradients[0].item<double>(), 12);
}

TEST(Autograd, NoGradDetachAndHooks) {
  const Tensor x = leaf({1, 2});
  {
    const NoGrad guard;
    EXPECT_FALSE((x * 2).requires_grad());
  }
  EXPECT_FALSE((x * 2).detach().requires_grad());
  x.register_hook([](const Tensor& gradient) { return gradient * 10; });
  Tensor middle = x * 3;
  middle.retain_grad();
  (middle * middle).sum().backward();
  EXPECT_EQ(middle.grad().to_vector<double>(), (std::vector<double>{6, 12}));
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{180, 360}));
}

TEST(Autograd, WhatWasRolledIsRolledBack) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor y = (roll(x * x, {1}, {0}) * tensor({1.0, 2.0, 3.0, 4.0})).sum();
  const Tensor first = grad({y}, {x}, {.create_graph = true})[0];
  EXPECT_EQ(first.to_vector<double>(), (std::vector<double>{4, 12, 24, 8}));
  const Tensor second = grad({first.sum()}, {x})[0];
  EXPECT_EQ(second.to_vector<double>(), (std::vector<double>{4, 6, 8, 2}));
}

TEST(Autograd, CheckpointGivesTheSameGradients) {
  const Tensor weight = leaf({0.5, -1});
  const auto body = [&](const Tensors& in) -> Tensors { return {tanh(in[0] * weight) * weight}; };
  const Tensor a = leaf({1, 2}), b = leaf({1, 2});
  body({a})[0].sum().backward();
  const std::vector<double> expected = weight.grad().to_vector<double>();
  weight.zero_grad();
  checkpoint(body, {b})[0].sum().backward();
  EXPECT_EQ(weight.grad().to_vector<double>(), expected);
  EXPECT_EQ(a.grad().to_vector<double>(), b.grad().to_vector<double>());
}

TEST(Autograd, CustomFunctions) {
  const CustomFunction twice{
      [](const Tensors& in) -> Tensors { return {in[0] * 2}; },
      [](const Tensors&, const Tensors&, const Tensors& g) -> Tensors { return {g[0] * 5}; }};
  const Tensor x = leaf({1, 2});
  apply(twice, {x})[0].sum().backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{5, 5}));
}

TEST(Autograd, AnomalyModeNamesTheFirstNaN) {
  const Tensor x = leaf({-1});
  const DetectAnomaly guard;
  try {
    (void)(log(x) * 2);
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("Log"), std::string::npos) << message;
    EXPECT_NE(message.find("autograd_test.cpp:"), std::string::npos) << message;
  }
}

TEST(Autograd, MisuseIsToldWithTheRemedy) {
  const Tensor x = leaf({1, 2});
  EXPECT_NE(message_of([&] { (x * 2).backward(); }).find("sum"), std::string::npos);
  EXPECT_NE(message_of([&] { tensor({1.0}).backward(); }).find("set_requires_grad"),
            std::string::npos);
  const Tensor y = (x * x).sum();
  y.backward();
  EXPECT_NE(message_of([&] { y.backward(); }).find("retain_graph"), std::string::npos);
  const Tensor z = (x * x).sum();
  x.assign(tensor({5.0, 5.0}));
  EXPECT_NE(message_of([&] { z.backward(); }).find("assign"), std::string::npos);
}

TEST(Autograd, ALongChainNeitherRecursesNorLeaks) {
  Tensor x = leaf({1});
  Tensor y = x;
  for (int i = 0; i < 50000; ++i)
    y = y * 1.0;
  y.backward();
  EXPECT_DOUBLE_EQ(x.grad().item<double>(), 1);
  Tensor unused = x;
  for (int i = 0; i < 50000; ++i)
    unused = unused * 1.0;
}

TEST(Compile, ATrainingStepAsOneGraph) {
  const Tensor w = Tensor::scalar(0.f).set_requires_grad();
  const Tensor b = Tensor::scalar(0.f).set_requires_grad();
  const auto step = [&](const Tensors& in) -> Tensors {
    w.zero_grad();
    b.zero_grad();
    const Tensor loss = square(in[0] * w + b - in[1]).mean();
    loss.backward();
    const NoGrad guard;
    w.assign(w - 0.1 * w.grad());
    b.assign(b - 0.1 * b.grad());
    return {loss};
  };
  const Tensor x = linspace(-1, 1, 16), y = x * 2;
  const Compiled compiled = compile(step);
  std::vector<float> losses;
  for (int i = 0; i < 200; ++i)
    losses.push_back(compiled({x, y})[0].item<float>());
  EXPECT_EQ(compiled.traces(), 1u);
  EXPECT_NEAR(w.item<float>(), 2, 1e-4);
  EXPECT_NEAR(b.item<float>(), 0, 1e-4);
  w.assign(Tensor::scalar(0.f));
  b.assign(Tensor::scalar(0.f));
  for (int i = 0; i < 200; ++i)
    EXPECT_NEAR(step({x, y})[0].item<float>(), losses[static_cast<size_t>(i)], 1e-6) << i;
}

// Threads that train one tensor lose updates of each other, but never its memory.
TEST(Autograd, GradientsMayBeReplacedWhileOthersRead) {
  const Tensor p = ones({64}).set_requires_grad(), x = ones({64});
  const auto backward = [&] {
    for (int i = 0; i < 300; ++i)
      (x * p).sum().backward();
  };
  const auto replace = [&] {
    for (int i = 0; i < 3000; ++i)
      p.set_grad(ones({64}));
  };
  std::vector<std::thread> threads;
  threads.emplace_back(backward);
  threads.emplace_back(backward);
  threads.emplace_back(replace);
  threads.emplace_back(replace);
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_GE(p.grad().to_vector<float>()[0], 1);
}

TEST(Hooks, MayRegisterOthersOnTheirOwnTensor) {
  const Tensor x = ones({1}, {.requires_grad = true}), y = x * 2;
  y.register_hook([&y](const Tensor& gradient) {
    for (int i = 0; i < 20; ++i)
      y.register_hook([](const Tensor& other) { return other * 10; });
    return gradient;
  });
  y.sum().backward();
  EXPECT_EQ(x.grad().item<float>(), 2);
}

TEST(Hooks, AreRemovedByTheirHandles) {
  const Tensor x = leaf({1});
  const auto gradient = [&] { return grad({(x * 3).sum()}, {x})[0].item<double>(); };
  const RemovableHandle doubles = x.register_hook([](const Tensor& g) { return g * 2; });
  const RemovableHandle triples = x.register_hook([](const Tensor& g) { return g * 3; });
  EXPECT_EQ(gradient(), 18);
  doubles.remove();
  EXPECT_EQ(gradient(), 9);
  doubles.remove();
  RemovableHandle copy = triples;
  copy.remove();
  EXPECT_EQ(gradient(), 3);
  RemovableHandle late;
  late.remove();  // of no hook
  {
    const Tensor gone = leaf({1});
    late = gone.register_hook([](const Tensor&) { return Tensor(); });
  }
  late.remove();
}

TEST(Hooks, MayBeRemovedWhileTheyRun) {
  const Tensor x = leaf({1});
  RemovableHandle first, second;
  int calls = 0;
  first = x.register_hook([&](const Tensor& g) {
    first.remove();
    second.remove();
    return g * 2;
  });
  second = x.register_hook([&](const Tensor&) {
    ++calls;
    return Tensor();
  });
  EXPECT_EQ(grad({(x * 3).sum()}, {x})[0].item<double>(), 6);
  EXPECT_EQ(grad({(x * 3).sum()}, {x})[0].item<double>(), 3);
  EXPECT_EQ(calls, 0);
}

TEST(Hooks, FirstOnesOfManyThreadsAreAllKept) {
  constexpr int kThreads = 4, kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    const Tensor x = ones({1}, {.requires_grad = true});
    std::atomic<int> waiting = kThreads, calls = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        --waiting;
        while (waiting > 0) {
        }
        x.register_hook([&](const Tensor&) {
          ++calls;
          return Tensor();
        });
      });
    }
    for (std::thread& thread : threads)
      thread.join();
    (x * 2).sum().backward();
    ASSERT_EQ(calls, kThreads);
  }
}

TEST(Hooks, ComeAndGoWhileOtherThreadsWalk) {
  const Tensor x = leaf({1});
  (void)x.register_hook([](const Tensor& g) { return g * 2; });
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 100; ++round) {
        if (i % 2 == 0) {
          EXPECT_EQ(grad({(x * 3).sum()}, {x})[0].item<double>(), 6);
        } else {
          x.register_hook([](const Tensor&) { return Tensor(); }).remove();
        }
      }
    });
  }
  for (std::thread& thread : threads)
    thread.join();
}

// Both walks revive the outputs of the part that they share.
TEST(Autograd, ThreadsMayWalkASharedPart) {
  const Tensor x = leaf({1, 2});
  for (int round = 0; round < 20; ++round) {
    Tensor shared = x;
    for (int i = 0; i < 20; ++i)
      shared = shared * 1.0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, y = (shared * i).sum(), i] {
        const Tensor found = grad({y}, {x}, {.create_graph = i % 2 == 0, .retain_graph = true})[0];
        EXPECT_EQ(found.to_vector<double>(), std::vector<double>(2, i));
      });
    }
    for (std::thread& thread : threads)
      thread.join();
  }
}

}  // namespace
}  // namespace sardonyx::eager
