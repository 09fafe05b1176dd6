// What one small op costs beyond its arithmetic.
#include <benchmark/benchmark.h>

#include "eager/create.h"
#include "eager/op.h"

namespace sardonyx::eager {
namespace {

void BM_EagerAdd2x2(benchmark::State& state) {
  const Tensor a = ones({2, 2}), b = ones({2, 2});
  for (auto _ : state)
    benchmark::DoNotOptimize(a + b);
}
BENCHMARK(BM_EagerAdd2x2);

void BM_EagerOpAdd2x2(benchmark::State& state) {
  const Tensor a = ones({2, 2}), b = ones({2, 2});
  for (auto _ : state)
    benchmark::DoNotOptimize(op::Add(a, b));
}
BENCHMARK(BM_EagerOpAdd2x2);

void BM_EagerAddNumber2x2(benchmark::State& state) {
  const Tensor a = ones({2, 2});
  for (auto _ : state)
    benchmark::DoNotOptimize(a + 1);
}
BENCHMARK(BM_EagerAddNumber2x2);

void BM_EagerOpWithAttributes(benchmark::State& state) {
  const Tensor a = ones({2, 2});
  for (auto _ : state)
    benchmark::DoNotOptimize(op::LeakyRelu(a, {.alpha = 0.2f}));
}
BENCHMARK(BM_EagerOpWithAttributes);

void BM_EagerTapedAdd2x2(benchmark::State& state) {
  const Tensor a = ones({2, 2}, {.requires_grad = true}), b = ones({2, 2});
  for (auto _ : state)
    benchmark::DoNotOptimize(a + b);
}
BENCHMARK(BM_EagerTapedAdd2x2);

// The sum's gradient is given, so that add is the one op on the tape.
void BM_EagerTapedAddAndBackward2x2(benchmark::State& state) {
  const Tensor a = ones({2, 2}, {.requires_grad = true}), b = ones({2, 2});
  const Tensor gradient = ones({2, 2});
  for (auto _ : state) {
    (a + b).backward(gradient);
    a.zero_grad();
  }
}
BENCHMARK(BM_EagerTapedAddAndBackward2x2);

}  // namespace
}  // namespace sardonyx::eager
