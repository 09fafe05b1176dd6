// Products of few rows, in GB/s of weights that are read. The arguments: rows, depth, columns,
// whether the weights are transposed, threads. "cold" goes through so many weights that no cache
// near the core holds them.
#include <benchmark/benchmark.h>

#include "ir/op_samples.h"
#include "providers/cpu/provider.h"

namespace sardonyx::cpu {
namespace {

constexpr int64_t kColdBytes = 256 << 20;

Prepared prepared_by(const Provider& provider, std::string_view name,
                     const KernelRequest& request) {
  for (const KernelEntry& entry : provider.kernels) {
    if (entry.op == full_name(request.op) && entry.name == name) return entry.prepare(request);
  }
  return Prepared::refuse("there is no such kernel");
}

void run_gemv(benchmark::State& state, bool cold) {
  const int64_t rows = state.range(0), depth = state.range(1), columns = state.range(2);
  const bool transposed = state.range(3) != 0;
  const OpDef& op = op_named("Gemm");
  const Attrs attrs = Attrs::parse(*op.attrs, {{"transB", int64_t{transposed}}});
  const Shape shape = transposed ? Shape{columns, depth} : Shape{depth, columns};
  const int64_t bytes = depth * columns * static_cast<int64_t>(sizeof(float));
  std::vector<Tensor> weights;
  for (int64_t total = 0; total == 0 || (cold && total < kColdBytes); total += bytes)
    weights.push_back(Tensor::zeros(DType::kFloat, shape));
  const Tensor a = drawn_tensor(DType::kFloat, {rows, depth}, -1, 1, 1);
  Tensor out = Tensor::allocate(DType::kFloat, {rows, columns});
  const KernelTensor in[] = {{DType::kFloat, a.shape()}, {DType::kFloat, shape}};
  const KernelTensor result{DType::kFloat, out.shape()};
  KernelRequest request{op, attrs, in, {&result, 1}};
  request.threads = static_cast<int>(state.range(4));
  const Prepared prepared = prepared_by(cpu_provider(), "gemv", request);
  if (!prepared.kernel) return state.SkipWithError(prepared.refusal.c_str());
  const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
  size_t next = 0;
  for (auto _ : state) {
    const void* sources[] = {a.raw(), weights[next].raw()};
    void* targets[] = {out.raw()};
    prepared.kernel->run({sources, targets, scratch->data()});
    next = (next + 1) % weights.size();
  }
  using benchmark::Counter;
  state.counters["B/s"] = Counter(static_cast<double>(bytes), Counter::kIsIterationInvariantRate);
  state.counters["FLOP/s"] = Counter(2.0 * static_cast<double>(rows * depth * columns),
                                     Counter::kIsIterationInvariantRate);
}

void shapes(benchmark::internal::Benchmark* bench) {
  for (const int64_t threads : {1, 2}) {
    for (const int64_t rows : {1, 2, 4, 8}) {
      bench->Args({rows, 768, 3072, 0, threads});
      bench->Args({rows, 3072, 768, 0, threads});
      bench->Args({rows, 2048, 1000, 1, threads});
    }
    bench->Args({1, 64, 64, 0, threads});
    bench->Args({1, 784, 10, 0, threads});
  }
  bench->UseRealTime();
}

BENCHMARK_CAPTURE(run_gemv, cold, true)->Apply(shapes);
BENCHMARK_CAPTURE(run_gemv, warm, false)->Apply(shapes);

}  // namespace
}  // namespace sardonyx::cpu
