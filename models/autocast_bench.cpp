// Steps of training in float32, and with products in bfloat16 under Autocast.
#include <benchmark/benchmark.h>

#include "eager/create.h"
#include "eager/dispatch/autocast.h"
#include "eager/dispatch/engine.h"
#include "eager/nn.h"
#include "eager/optim.h"
#include "models/mlp.h"
#include "models/training.h"
#include "models/transformer.h"

namespace sardonyx::models {
namespace {

enum CastMode : int64_t { kOpByOp, kCompiled, kOpByOpCast, kCompiledCast };

void run_cast_steps(benchmark::State& state, const nn::Module& module, const Forward& forward,
                    const Shape& inputs) {
  eager::set_num_threads(static_cast<int>(state.range(1)));
  const bool casts = state.range(0) >= kOpByOpCast, compiles = state.range(0) % 2 == 1;
  const std::vector<Tensor> batch{eager::randn(to_dims(inputs)),
                                  eager::randint(0, 10, {inputs[0]})};
  const auto optimizer = std::make_shared<eager::optim::SGD>(module.parameters(),
                                                             eager::optim::SgdOptions{.lr = 0.01});
  const eager::TensorFunction step = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    optimizer->zero_grad();
    Tensor loss;
    {
      const eager::Autocast autocast(DType::kBFloat16, casts);
      loss = nn::cross_entropy(forward(in[0]), in[1]);
    }
    loss.backward();
    optimizer->step();
    return {loss};
  };
  const eager::Compiled compiled = eager::compile(step);
  for (int i = 0; i < 2; ++i)
    compiles ? compiled(batch) : step(batch);
  for (auto _ : state)
    benchmark::DoNotOptimize(compiles ? compiled(batch) : step(batch));
}

void autocast_mlp(benchmark::State& state) {
  const Mlp model({512, 1024, 1024, 10});
  run_cast_steps(state, model, [&](const Tensor& x) { return model(x); }, {128, 512});
}

void autocast_conv(benchmark::State& state) {
  const nn::Sequential model(nn::Conv2d(3, 32, 3, {.padding = 1}), nn::ReLU(), nn::MaxPool2d(2),
                             nn::Conv2d(32, 64, 3, {.padding = 1}), nn::ReLU(), nn::MaxPool2d(2),
                             nn::Conv2d(64, 64, 3, {.padding = 1}), nn::ReLU(), nn::Flatten(),
                             nn::Linear(64 * 8 * 8, 10));
  run_cast_steps(state, model, [&](const Tensor& x) { return model(x); }, {32, 3, 32, 32});
}

struct BlockClassifier : nn::Layer<BlockClassifier> {
  TransformerBlock block = add("block", TransformerBlock(256, 4));
  nn::Linear scores = add("scores", nn::Linear(256, 10));
  Tensor forward(const Tensor& x) const { return scores(block(x).mean({1})); }
};
void autocast_transformer(benchmark::State& state) {
  const BlockClassifier model;
  run_cast_steps(state, model, [&](const Tensor& x) { return model(x); }, {8, 64, 256});
}

void cast_modes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"mode", "threads"})->Unit(benchmark::kMillisecond)->UseRealTime();
  for (const int64_t mode : {kOpByOp, kCompiled, kOpByOpCast, kCompiledCast}) {
    for (const int64_t threads : {1, 2})
      bench->Args({mode, threads});
  }
}

BENCHMARK(autocast_mlp)->Apply(cast_modes);
BENCHMARK(autocast_conv)->Apply(cast_modes);
BENCHMARK(autocast_transformer)->Apply(cast_modes);

}  // namespace
}  // namespace sardonyx::models
