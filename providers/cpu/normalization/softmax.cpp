// Softmax and LogSoftmax along the last axis of float32 tensors.
#include <algorithm>

#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/normalization/softmax_kernel.h"

namespace sardonyx::cpu {
namespace {

using RowFunction = void(const float* in, float* out, size_t count);
using ShortRowsFunction = void(const float* in, float* out, size_t rows, size_t length);

class SoftmaxKernel : public Kernel {
 public:
  SoftmaxKernel(RowFunction* function, ShortRowsFunction* short_rows, int64_t rows, int64_t length,
                int threads)
      : function_(function),
        short_rows_(short_rows),
        rows_(rows),
        length_(length),
        threads_(
            static_cast<int>(std::min<int64_t>(threads, rows * length / kElementsPerThread + 1))) {}

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const float*>(args.inputs[0]);
    auto* out = static_cast<float*>(args.outputs[0]);
    const auto length = static_cast<size_t>(length_);
    if (length <= kLongestShortRow) return run_short_rows(in, out);
    for_each_task(rows_, threads_, length_,
                  [&](int64_t row) { function_(in + row * length_, out + row * length_, length); });
  }
  bool may_alias(size_t, size_t) const override { return true; }

 private:
  void run_short_rows(const float* in, float* out) const {
    constexpr int64_t kRows = 256;
    for_each_task((rows_ + kRows - 1) / kRows, threads_, kRows * length_, [&](int64_t i) {
      const int64_t begin = i * kRows * length_;
      short_rows_(in + begin, out + begin, static_cast<size_t>(std::min(kRows, rows_ - i * kRows)),
                  static_cast<size_t>(length_));
    });
  }

  RowFunction* function_;
  ShortRowsFunction* short_rows_;
  int64_t rows_, length_;
  int threads_;
};

template <RowFunction* function, ShortRowsFunction* short_rows>
Prepared prepare(const KernelRequest& request) {
  const Shape& x = request.inputs[0].shape;
  if (request.inputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  if (x.empty() || element_count(x) == 0) return Prepared::refuse("there are no rows");
  const auto axis =
      axis_of(std::get<int64_t>(request.raw_attrs.get("axis").value_or(int64_t{-1})), x.size());
  const AxisSplit split = split_at(x, axis);
  if (split.inner != 1) return Prepared::refuse("not along the last axis");
  return Prepared::accept(std::make_unique<SoftmaxKernel>(function, short_rows, split.outer,
                                                          split.size, request.threads),
                          "softmax");
}

constexpr KernelEntry kSoftmaxEntries[] = {
    {"Softmax", "softmax", prepare<softmax_row, softmax_short_rows>},
    {"LogSoftmax", "softmax", prepare<log_softmax_row, log_softmax_short_rows>},
};

}  // namespace

std::span<const KernelEntry> softmax_kernels() {
  return kSoftmaxEntries;
}

}  // namespace sardonyx::cpu
