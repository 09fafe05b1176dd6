// Steps of training, op by op and compiled: forward, cross entropy, backward and update.
#include <benchmark/benchmark.h>

#include "eager/create.h"
#include "eager/dispatch/engine.h"
#include "eager/functional/functional.h"
#include "models/lenet.h"
#include "models/mlp.h"
#include "models/resnet.h"
#include "models/training.h"

namespace sardonyx::models {
namespace {

template <typename M>
void run_steps(benchmark::State& state, const M& model, const Shape& inputs, int64_t classes,
               std::shared_ptr<eager::optim::Optimizer> optimizer) {
  eager::set_num_threads(static_cast<int>(state.range(1)));
  const std::vector<Tensor> batch{eager::randn(to_dims(inputs)),
                                  eager::randint(0, classes, {inputs[0]})};
  const eager::TensorFunction step =
      training_step([&](const Tensor& x) { return model(x); }, optimizer);
  const eager::Compiled compiled = eager::compile(step);
  for (int i = 0; i < 2; ++i)
    state.range(0) ? compiled(batch) : step(batch);
  for (auto _ : state)
    benchmark::DoNotOptimize(state.range(0) ? compiled(batch) : step(batch));
}

template <typename M>
std::shared_ptr<eager::optim::Optimizer> sgd(const M& model) {
  return std::make_shared<eager::optim::SGD>(model.parameters(),
                                             eager::optim::SgdOptions{.lr = 0.01, .momentum = 0.9});
}
template <typename M>
std::shared_ptr<eager::optim::Optimizer> adam(const M& model) {
  return std::make_shared<eager::optim::Adam>(model.parameters());
}

void mlp_sgd(benchmark::State& state) {
  const Mlp model({784, 512, 256, 10});
  run_steps(state, model, {64, 784}, 10, sgd(model));
}
void mlp_adam(benchmark::State& state) {
  const Mlp model({784, 512, 256, 10});
  run_steps(state, model, {64, 784}, 10, adam(model));
}
void lenet_sgd(benchmark::State& state) {
  const LeNet model;
  run_steps(state, model, {64, 1, 28, 28}, 10, sgd(model));
}
void lenet_adam(benchmark::State& state) {
  const LeNet model;
  run_steps(state, model, {64, 1, 28, 28}, 10, adam(model));
}
void resnet18_sgd(benchmark::State& state) {
  const ResNet model = resnet18();
  run_steps(state, model, {8, 3, 224, 224}, 1000, sgd(model));
}

void modes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"compiled", "threads"})->Unit(benchmark::kMillisecond)->UseRealTime();
  for (const int64_t compiled : {0, 1}) {
    for (const int64_t threads : {1, 2})
      bench->Args({compiled, threads});
  }
}

BENCHMARK(mlp_sgd)->Apply(modes);
BENCHMARK(mlp_adam)->Apply(modes);
BENCHMARK(lenet_sgd)->Apply(modes);
BENCHMARK(lenet_adam)->Apply(modes);
BENCHMARK(resnet18_sgd)->Apply(modes);

}  // namespace
}  // namespace sardonyx::models
