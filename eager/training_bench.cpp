// A training step at once and compiled, and what its parts cost.
#include <benchmark/benchmark.h>

#include "eager/compile.h"
#include "eager/create.h"
#include "eager/functional.h"
#include "eager/nn.h"
#include "eager/optim/optimizer.h"
#include "ir/tensor.h"

namespace sardonyx::eager {
namespace {

nn::Sequential mlp() {
  return nn::Sequential(nn::Linear(784, 512), nn::ReLU(), nn::Linear(512, 256), nn::ReLU(),
                        nn::Linear(256, 10));
}
nn::Sequential lenet() {
  return nn::Sequential(nn::Conv2d(1, 6, 5, {.padding = 2}), nn::ReLU(), nn::MaxPool2d(2),
                        nn::Conv2d(6, 16, 5), nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(),
                        nn::Linear(400, 120), nn::ReLU(), nn::Linear(120, 84), nn::ReLU(),
                        nn::Linear(84, 10));
}

TensorFunction step_of(const nn::Sequential& net, optim::Optimizer& optimizer) {
  return [net, &optimizer](const std::vector<Tensor>& batch) {
    optimizer.zero_grad();
    const Tensor loss = nn::cross_entropy(net(batch[0]), batch[1]);
    loss.backward();
    optimizer.step();
    return std::vector{loss};
  };
}

template <bool is_compiled>
void train(benchmark::State& state, const nn::Sequential& net, const Dims& shape) {
  optim::Adam optimizer(net.parameters());
  const TensorFunction plain = step_of(net, optimizer);
  const TensorFunction step = is_compiled ? TensorFunction(compile(plain)) : plain;
  const std::vector<Tensor> batch{randn(shape), randint(0, 10, {shape[0].value()})};
  for (int i = 0; i < 3; ++i)
    step(batch);
  for (auto _ : state)
    benchmark::DoNotOptimize(step(batch)[0].item<float>());
  state.SetItemsProcessed(state.iterations() * shape[0].value());
}

void mlp_eager(benchmark::State& state) {
  train<false>(state, mlp(), {64, 784});
}
void mlp_compiled(benchmark::State& state) {
  train<true>(state, mlp(), {64, 784});
}
void lenet_eager(benchmark::State& state) {
  train<false>(state, lenet(), {64, 1, 28, 28});
}
void lenet_compiled(benchmark::State& state) {
  train<true>(state, lenet(), {64, 1, 28, 28});
}
BENCHMARK(mlp_eager)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(mlp_compiled)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(lenet_eager)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK(lenet_compiled)->Unit(benchmark::kMicrosecond)->UseRealTime();

// One update of all parameters of the MLP (536,000 elements).
void adam_step(benchmark::State& state) {
  const nn::Sequential net = mlp();
  optim::Adam optimizer(net.parameters());
  for (const Tensor& parameter : net.parameters())
    parameter.set_grad(randn(parameter.shape()));
  for (auto _ : state)
    optimizer.step();
}
BENCHMARK(adam_step)->Unit(benchmark::kMicrosecond)->UseRealTime();

// What a module adds to the op it calls.
void small_linear(benchmark::State& state) {
  const nn::Linear linear(2, 2);
  const Tensor x = ones({2, 2});
  for (auto _ : state)
    benchmark::DoNotOptimize(linear(x));
}
BENCHMARK(small_linear)->Unit(benchmark::kNanosecond);

}  // namespace
}  // namespace sardonyx::eager
