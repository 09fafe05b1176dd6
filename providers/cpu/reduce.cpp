// Reductions on float32 over dims that lie in one or two groups: [outer, reduced, inner] or
// [outer, reduced, inner, reduced].
#include "ir/ops/reduce.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "providers/cpu/entries.h"
#include "providers/cpu/grid.h"
#include "providers/cpu/reduce_rows.h"
#include "providers/cpu/tasks.h"

namespace sardonyx::cpu {
namespace {

struct Block {
  int64_t outer = 1, reduced = 1, inner = 1;
};

// Is the reduction of one element that element?
bool keeps_single(Reduction op) {
  return op == Reduction::kSum || op == Reduction::kMean || op == Reduction::kMax ||
         op == Reduction::kMin || op == Reduction::kProduct;
}

class ReduceKernel : public Kernel {
 public:
  ReduceKernel(Reduction op, Block block, int threads)
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
  // Rows by some thousand elements.
  void reduce_in_pieces(const float* in, float* out, int wanted) const {
    constexpr int64_t kPiece = 1 << 12;
    const int64_t rows = std::max<int64_t>(kPiece / block_.reduced, 1);
    for_each_task((block_.outer + rows - 1) / rows, wanted, rows * block_.reduced, [&](int64_t i) {
      const int64_t begin = i * rows, count = std::min(rows, block_.outer - begin);
      reduce_rows(op_, in + begin * block_.reduced, static_cast<size_t>(count),
                  static_cast<size_t>(block_.reduced), out + begin);
    });
  }

  Reduction op_;
  Block block_;
  int threads_;
};

// The last group first, then the other one.
class ReduceInTwo : public Kernel {
 public:
  ReduceInTwo(Reduction op, Block block, int64_t last, int threads)
      : kept_(block.outer * block.reduced * block.inner),
        first_(op == Reduction::kLogSum ? Reduction::kSum : op, {kept_, last, 1}, threads),
        second_(op == Reduction::kSumSquare ? Reduction::kSum : op, block, threads) {}

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

template <Reduction op>
Prepared prepare_reduce(const KernelRequest& request) {
  if (request.inputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  std::vector<int64_t> axes;
  if (request.has(1)) {
    if (!request.inputs[1].constant) return Prepared::refuse("the axes are not known ahead");
    axes = request.inputs[1].constant->to_int64s();
  }
  const Shape& shape = request.inputs[0].shape;
  const ops::ReducedDims reduced =
      ops::reduced_dims(request.attrs<ops::ReduceAttrs>(), axes, shape.size());
  std::array<int64_t, 4> groups{1, 1, 1, 1};  // kept and reduced dims in turn
  size_t group = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) return Prepared::refuse("there are no elements");
    if (shape[axis] == 1) continue;
    if (reduced[axis] != (group % 2 == 1)) ++group;
    if (group == groups.size()) return Prepared::refuse("the reduced dims lie in many groups");
    groups[group] *= shape[axis];
  }
  const Block block{groups[0], groups[1], groups[2]};
  if (group == 3) {
    return Prepared::accept(std::make_unique<ReduceInTwo>(op, block, groups[3], request.threads),
                            "simd");
  }
  return Prepared::accept(std::make_unique<ReduceKernel>(op, block, request.threads), "simd");
}

// The pool over all spatial dims of [N, C, spatial...].
Prepared prepare_global_average(const KernelRequest& request) {
  if (request.inputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  const Shape& shape = request.inputs[0].shape;
  if (element_count(shape) == 0) return Prepared::refuse("there are no elements");
  Block block;
  for (size_t axis = 0; axis < shape.size(); ++axis)
    (axis < 2 ? block.outer : block.reduced) *= shape[axis];
  return Prepared::accept(std::make_unique<ReduceKernel>(Reduction::kMean, block, request.threads),
                          "simd");
}

constexpr KernelEntry kReduceEntries[] = {
    {"GlobalAveragePool", "reduce", prepare_global_average},
    {"ReduceSum", "reduce", prepare_reduce<Reduction::kSum>},
    {"ReduceMean", "reduce", prepare_reduce<Reduction::kMean>},
    {"ReduceMax", "reduce", prepare_reduce<Reduction::kMax>},
    {"ReduceMin", "reduce", prepare_reduce<Reduction::kMin>},
    {"ReduceSumSquare", "reduce", prepare_reduce<Reduction::kSumSquare>},
    {"ReduceL1", "reduce", prepare_reduce<Reduction::kL1>},
    {"ReduceL2", "reduce", prepare_reduce<Reduction::kL2>},
    {"ReduceProd", "reduce", prepare_reduce<Reduction::kProduct>},
    {"ReduceLogSum", "reduce", prepare_reduce<Reduction::kLogSum>},
};

}  // namespace

std::span<const KernelEntry> reduce_entries() {
  return kReduceEntries;
}

}  // namespace sardonyx::cpu
