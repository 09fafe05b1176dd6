// Pools of row-major images, in bytes of input and output that are moved. The arguments: spatial
// rank, size of each spatial axis, channels, kernel, stride, threads.
#include <benchmark/benchmark.h>

#include "ir/op_samples.h"
#include "providers/cpu/provider.h"

namespace sardonyx::cpu {
namespace {

void run_pool(benchmark::State& state, std::string_view name, size_t outputs) {
  const auto rank = static_cast<size_t>(state.range(0));
  const int64_t size = state.range(1), kernel = state.range(3), stride = state.range(4);
  using Ints = std::vector<int64_t>;
  const int64_t pad = kernel % 2 == 0 ? 0 : kernel / 2;
  const OpDef& op = op_named(name);
  const Attrs attrs = Attrs::parse(*op.attrs, {{"kernel_shape", Ints(rank, kernel)},
                                               {"strides", Ints(rank, stride)},
                                               {"pads", Ints(2 * rank, pad)}});
  Shape in{1, state.range(2)}, out = in;
  for (size_t axis = 0; axis < rank; ++axis) {
    in.push_back(size);
    out.push_back((size + 2 * pad - kernel) / stride + 1);
  }
  const Tensor x = drawn_tensor(DType::kFloat, in, -1, 1, 1);
  const Tensor y = Tensor::allocate(DType::kFloat, out);
  const Tensor indices = Tensor::allocate(DType::kInt64, out);
  const KernelTensor source{DType::kFloat, in};
  const KernelTensor targets[] = {{DType::kFloat, out}, {DType::kInt64, out}};
  KernelRequest request{op, attrs, {&source, 1}, std::span(targets).first(outputs)};
  request.threads = static_cast<int>(state.range(5));
  for (const KernelEntry& entry : cpu_provider().kernels) {
    if (entry.op != name) continue;
    const Prepared prepared = entry.prepare(request);
    if (!prepared.kernel) return state.SkipWithError(prepared.refusal.c_str());
    const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
    const void* from = x.raw();
    void* to[] = {y.raw(), indices.raw()};
    for (auto _ : state)
      prepared.kernel->run({&from, to, scratch->data()});
    state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(x.bytes() + y.bytes()));
    return;
  }
}

void shapes(benchmark::internal::Benchmark* bench) {
  for (const int64_t threads : {1, 2}) {
    for (const int64_t kernel : {2, 3}) {
      bench->Args({1, 8000, 64, kernel, 2, threads});
      bench->Args({2, 112, 64, kernel, 2, threads});
      bench->Args({2, 28, 192, kernel, 2, threads});
      bench->Args({2, 7, 512, kernel, 2, threads});
      bench->Args({3, 28, 64, kernel, 2, threads});
    }
    bench->Args({2, 20, 256, 5, 1, threads});
    bench->Args({2, 20, 256, 13, 1, threads});
    bench->Args({3, 28, 64, 3, 1, threads});
  }
}

BENCHMARK_CAPTURE(run_pool, max, "MaxPool", 1)->Apply(shapes)->UseRealTime();
BENCHMARK_CAPTURE(run_pool, max_with_indices, "MaxPool", 2)->Apply(shapes)->UseRealTime();
BENCHMARK_CAPTURE(run_pool, average, "AveragePool", 1)->Apply(shapes)->UseRealTime();

}  // namespace
}  // namespace sardonyx::cpu
