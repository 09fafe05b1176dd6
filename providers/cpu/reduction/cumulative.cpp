// CumSum and CumProd along an axis that has others behind it: columns, of which blocks are shared
// out.
#include <algorithm>

#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/reduction/reduce.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/reduction/cumulative_kernel.h"

namespace sardonyx::cpu {
namespace {

// Columns of a task: a share of them, in whole cache lines.
int64_t columns_of_task(int64_t columns, int threads) {
  constexpr int64_t kLine = 64;
  const int64_t share = (columns + threads - 1) / threads;
  return std::min((share + kLine - 1) / kLine * kLine, static_cast<int64_t>(kMaxCumulativeColumns));
}

class CumulativeKernel : public Kernel {
 public:
  CumulativeKernel(CumulativeRun run, const KernelRequest& request, const AxisSplit& split)
      : run_(run),
        s_(split),
        columns_(columns_of_task(split.inner, std::max(request.threads, 1))),
        blocks_((split.inner + columns_ - 1) / columns_),
        width_(bits_of(request.inputs[0].dtype) / 8) {
    const auto& attrs = request.attrs<ops::CumulativeAttrs>();
    is_exclusive_ = attrs.exclusive, is_reverse_ = attrs.reverse;
    const int64_t elements = s_.outer * s_.size * s_.inner;
    threads_ = static_cast<int>(std::min<int64_t>(
        {request.threads, elements / kElementsPerThread + 1, s_.outer * blocks_}));
  }

  void run(const KernelArgs& args) const override {
    const auto* x = static_cast<const std::byte*>(args.inputs[0]);
    auto* y = static_cast<std::byte*>(args.outputs[0]);
    for_each_task(s_.outer * blocks_, threads_, s_.size * columns_, [&](int64_t task) {
      const int64_t column = task % blocks_ * columns_;
      const int64_t row = task / blocks_ * s_.size + (is_reverse_ ? s_.size - 1 : 0);
      const int64_t at = (row * s_.inner + column) * width_;
      run_({x + at, y + at, static_cast<size_t>(s_.size),
            static_cast<size_t>(std::min(columns_, s_.inner - column)),
            static_cast<ptrdiff_t>(is_reverse_ ? -s_.inner : s_.inner), is_exclusive_});
    });
  }
  // An element is read before it is written.
  bool may_alias(size_t, size_t input) const override { return input == 0; }

 private:
  CumulativeRun run_;
  AxisSplit s_;
  int64_t columns_, blocks_, width_;
  bool is_exclusive_ = false, is_reverse_ = false;
  int threads_ = 1;
};

Prepared prepare_cumulative(const KernelRequest& request) {
  const KernelTensor& x = request.inputs[0];
  const CumulativeRun run = cumulative_run_of(x.dtype, request.op.name == "CumProd");
  if (!run) return Prepared::refuse("elements of this type are left to the reference");
  if (!request.inputs[1].constant) return Prepared::refuse("the axis is not known ahead");
  if (element_count(x.shape) == 0) return Prepared::refuse("there are no elements");
  const int64_t axis = request.inputs[1].constant->to_int64s()[0];
  const auto rank = static_cast<int64_t>(x.shape.size());
  if (axis < -rank || axis >= rank) return Prepared::refuse("the axis is out of range");
  const AxisSplit split = split_at(x.shape, axis_of(axis, x.shape.size()));
  if (split.inner == 1) return Prepared::refuse("along rows a sum waits for the one before");
  Prepared prepared =
      Prepared::accept(std::make_unique<CumulativeKernel>(run, request, split), "columns");
  prepared.unread_inputs = 0b10;
  return prepared;
}

constexpr KernelEntry kCumulativeEntries[] = {{"CumSum", "cumulative", prepare_cumulative},
                                              {"CumProd", "cumulative", prepare_cumulative}};

}  // namespace

std::span<const KernelEntry> cumulative_kernels() {
  return kCumulativeEntries;
}

}  // namespace sardonyx::cpu
