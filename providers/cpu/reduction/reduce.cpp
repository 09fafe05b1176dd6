// Reductions on float32 over one or two groups of adjacent dims: [outer, reduced, inner] or
// [outer, reduced, inner, reduced].
#include "ir/ops/reduction/reduce.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/normalization/softmax_kernel.h"
#include "providers/cpu/reduction/reduce_kernel.h"

namespace sardonyx::cpu {
namespace {

struct ReduceExtents {
  int64_t outer = 1, reduced = 1, inner = 1;
};

// Whether the reduction of one element is that element.
bool keeps_single(ReduceOp op) {
  return op == ReduceOp::kSum || op == ReduceOp::kMean || op == ReduceOp::kMax ||
         op == ReduceOp::kMin || op == ReduceOp::kProduct;
}

class ReduceKernel : public Kernel {
 public:
  ReduceKernel(ReduceOp op, ReduceExtents block, int threads)
      : op_(op), block_(block), threads_(threads) {}

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const float*>(args.inputs[0]);
    auto* out = static_cast<float*>(args.outputs[0]);
    const int64_t total = block_.outer * block_.reduced * block_.inner;
    const auto wanted = static_cast<int>(
        std::min({static_cast<int64_t>(threads_), block_.outer, total / kElementsPerThread + 1}));
    if (block_.reduced == 1 && keeps_single(op_)) {
      std::memcpy(out, in, static_cast<size_t>(total) * sizeof(float));
      return;
    }
    if (block_.inner == 1) return reduce_in_pieces(in, out, wanted);
    for_each_task(block_.outer, wanted, block_.reduced * block_.inner, [&](int64_t i) {
      reduce_columns(op_, in + i * block_.reduced * block_.inner,
                     static_cast<size_t>(block_.reduced), static_cast<size_t>(block_.inner),
                     out + i * block_.inner);
    });
  }

 private:
  // Reduces rows in pieces of some thousand elements.
  void reduce_in_pieces(const float* in, float* out, int wanted) const {
    constexpr int64_t kPiece = 1 << 12;
    const int64_t rows = std::max<int64_t>(kPiece / block_.reduced, 1);
    for_each_task((block_.outer + rows - 1) / rows, wanted, rows * block_.reduced, [&](int64_t i) {
      const int64_t begin = i * rows, count = std::min(rows, block_.outer - begin);
      reduce_rows(op_, in + begin * block_.reduced, static_cast<size_t>(count),
                  static_cast<size_t>(block_.reduced), out + begin);
    });
  }

  ReduceOp op_;
  ReduceExtents block_;
  int threads_;
};

// Two reductions: over the last group of dims, then over the other one.
class ReduceInTwo : public Kernel {
 public:
  ReduceInTwo(ReduceOp op, ReduceExtents block, int64_t last, int threads)
      : kept_(block.outer * block.reduced * block.inner),
        first_(op == ReduceOp::kLogSum ? ReduceOp::kSum : op, {kept_, last, 1}, threads),
        second_(op == ReduceOp::kSumSquare ? ReduceOp::kSum : op, block, threads) {}

  size_t scratch_bytes() const override { return static_cast<size_t>(kept_) * sizeof(float); }
  void run(const KernelArgs& args) const override {
    void* between = args.scratch;
    const void* const between_in[] = {between};
    first_.run({args.inputs, &between, nullptr});
    second_.run({between_in, args.outputs, nullptr});
  }

 private:
  int64_t kept_;
  ReduceKernel first_, second_;
};

// Sums and means of float64: several partial sums, as of float32.
class DoubleSumKernel : public Kernel {
 public:
  DoubleSumKernel(ReduceExtents block, bool is_mean, int threads)
      : block_(block), factor_(is_mean ? 1 / static_cast<double>(block.reduced) : 1) {
    const int64_t total = block.outer * block.reduced * block.inner;
    threads_ =
        static_cast<int>(std::min({int64_t{threads}, block.outer, total / kElementsPerThread + 1}));
  }

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const double*>(args.inputs[0]);
    auto* out = static_cast<double*>(args.outputs[0]);
    const int64_t size = block_.reduced * block_.inner;
    for_each_task(block_.outer, threads_, size, [&](int64_t i) {
      if (block_.inner == 1)
        out[i] = sum_of(in + i * size) * factor_;
      else
        add_rows(in + i * size, out + i * block_.inner);
    });
  }

 private:
  double sum_of(const double* in) const {
    constexpr int64_t kSums = 16;
    double sums[kSums] = {};
    int64_t at = 0;
    for (; at + kSums <= block_.reduced; at += kSums) {
      for (int64_t k = 0; k < kSums; ++k)
        sums[k] += in[at + k];
    }
    double total = 0;
    for (; at < block_.reduced; ++at)
      total += in[at];
    for (const double sum : sums)
      total += sum;
    return total;
  }
  void add_rows(const double* in, double* out) const {
    std::fill_n(out, block_.inner, 0.0);
    for (int64_t row = 0; row < block_.reduced; ++row) {
      for (int64_t k = 0; k < block_.inner; ++k)
        out[k] += in[row * block_.inner + k];
    }
    for (int64_t k = 0; k < block_.inner; ++k)
      out[k] *= factor_;
  }

  ReduceExtents block_;
  double factor_;
  int threads_;
};

// ReduceLogSumExp of rows, or of columns that are transposed into rows, some at a time.
class LogSumExpKernel : public Kernel {
 public:
  LogSumExpKernel(ReduceExtents block, int threads) : block_(block) {
    const int64_t total = block.outer * block.reduced * block.inner;
    if (block.inner == 1) {
      threads_ = static_cast<int>(
          std::min({int64_t{threads}, block.outer, total / kElementsPerThread + 1}));
    }
  }
  size_t scratch_bytes() const override {
    return block_.inner == 1 ? 0 : static_cast<size_t>(kColumns * block_.reduced) * sizeof(float);
  }

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const float*>(args.inputs[0]);
    auto* out = static_cast<float*>(args.outputs[0]);
    const auto count = static_cast<size_t>(block_.reduced);
    if (block_.inner == 1) {
      return for_each_task(block_.outer, threads_, block_.reduced, [&](int64_t i) {
        out[i] = log_sum_exp_row(in + i * block_.reduced, count);
      });
    }
    auto* transposed = reinterpret_cast<float*>(args.scratch);
    for (int64_t i = 0; i < block_.outer; ++i) {
      for (int64_t first = 0; first < block_.inner; first += kColumns)
        columns(in + i * block_.reduced * block_.inner + first, first, transposed,
                out + i * block_.inner + first);
    }
  }

 private:
  static constexpr int64_t kColumns = 16;
  void columns(const float* in, int64_t first, float* transposed, float* out) const {
    const int64_t width = std::min(kColumns, block_.inner - first);
    for (int64_t row = 0; row < block_.reduced; ++row) {
      for (int64_t k = 0; k < width; ++k)
        transposed[k * block_.reduced + row] = in[row * block_.inner + k];
    }
    for (int64_t k = 0; k < width; ++k)
      out[k] =
          log_sum_exp_row(transposed + k * block_.reduced, static_cast<size_t>(block_.reduced));
  }

  ReduceExtents block_;
  int threads_ = 1;
};

// Sizes of the alternating groups of kept and reduced dims; a refusal if there are more groups.
struct DimGroups {
  std::array<int64_t, 4> sizes{1, 1, 1, 1};
  size_t last = 0;
  const char* refusal = nullptr;
  ReduceExtents block() const { return {sizes[0], sizes[1], sizes[2]}; }
};
DimGroups groups_of(const KernelRequest& request) {
  DimGroups groups;
  std::vector<int64_t> axes;
  if (request.has(1)) {
    if (!request.inputs[1].constant) return {{}, 0, "the axes are not known ahead"};
    axes = request.inputs[1].constant->to_int64s();
  }
  const Shape& shape = request.inputs[0].shape;
  const ops::ReducedDims reduced =
      ops::reduced_dims(request.attrs<ops::ReduceAttrs>(), axes, shape.size());
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) return {{}, 0, "there are no elements"};
    if (shape[axis] == 1) continue;
    if (reduced[axis] != (groups.last % 2 == 1)) ++groups.last;
    if (groups.last == groups.sizes.size()) return {{}, 0, "the reduced dims are in many groups"};
    groups.sizes[groups.last] *= shape[axis];
  }
  return groups;
}

template <ReduceOp op>
Prepared prepare_reduce(const KernelRequest& request) {
  if (request.inputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  const DimGroups groups = groups_of(request);
  if (groups.refusal) return Prepared::refuse(groups.refusal);
  if (groups.last == 3) {
    return Prepared::accept(
        std::make_unique<ReduceInTwo>(op, groups.block(), groups.sizes[3], request.threads),
        "simd");
  }
  return Prepared::accept(std::make_unique<ReduceKernel>(op, groups.block(), request.threads),
                          "simd");
}

template <bool is_mean>
Prepared prepare_double_sum(const KernelRequest& request) {
  if (request.inputs[0].dtype != DType::kDouble)
    return Prepared::refuse("only double is computed here");
  const DimGroups groups = groups_of(request);
  if (groups.refusal) return Prepared::refuse(groups.refusal);
  if (groups.last == 3) return Prepared::refuse("the reduced dims are in two groups");
  return Prepared::accept(
      std::make_unique<DoubleSumKernel>(groups.block(), is_mean, request.threads), "reduce_f64");
}

Prepared prepare_log_sum_exp(const KernelRequest& request) {
  if (request.inputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  const DimGroups groups = groups_of(request);
  if (groups.refusal) return Prepared::refuse(groups.refusal);
  if (groups.last == 3) return Prepared::refuse("the reduced dims are in two groups");
  return Prepared::accept(std::make_unique<LogSumExpKernel>(groups.block(), request.threads),
                          "simd");
}

// The pool over all spatial dims of [N, C, spatial...].
Prepared prepare_global_average(const KernelRequest& request) {
  if (request.inputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  const Shape& shape = request.inputs[0].shape;
  if (element_count(shape) == 0) return Prepared::refuse("there are no elements");
  ReduceExtents block;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    (axis < 2 ? block.outer : block.reduced) *= shape[axis];
  return Prepared::accept(std::make_unique<ReduceKernel>(ReduceOp::kMean, block, request.threads),
                          "simd");
}

constexpr KernelEntry kReduceEntries[] = {
    {"GlobalAveragePool", "reduce", prepare_global_average},
    {"ReduceSum", "reduce", prepare_reduce<ReduceOp::kSum>},
    {"ReduceMean", "reduce", prepare_reduce<ReduceOp::kMean>},
    {"ReduceMax", "reduce", prepare_reduce<ReduceOp::kMax>},
    {"ReduceMin", "reduce", prepare_reduce<ReduceOp::kMin>},
    {"ReduceSumSquare", "reduce", prepare_reduce<ReduceOp::kSumSquare>},
    {"ReduceL1", "reduce", prepare_reduce<ReduceOp::kL1>},
    {"ReduceL2", "reduce", prepare_reduce<ReduceOp::kL2>},
    {"ReduceProd", "reduce", prepare_reduce<ReduceOp::kProduct>},
    {"ReduceLogSum", "reduce", prepare_reduce<ReduceOp::kLogSum>},
    {"ReduceLogSumExp", "reduce", prepare_log_sum_exp},
    {"ReduceSum", "reduce_f64", prepare_double_sum<false>},
    {"ReduceMean", "reduce_f64", prepare_double_sum<true>},
};

}  // namespace

std::span<const KernelEntry> reduce_kernels() {
  return kReduceEntries;
}

}  // namespace sardonyx::cpu
