// SoftmaxGrad on float32: row by row where the elements of a line are adjacent, else a tile of
// neighbouring lines at a time.
#include <algorithm>

#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/normalization/softmax.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/elementwise/elementwise_f32_kernel.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/normalization/softmax_grad_kernel.h"

namespace sardonyx::cpu {
namespace {

constexpr int64_t kLines = 512;  // lines at a time, so that their sums stay near

class SoftmaxGrad : public Kernel {
 public:
  SoftmaxGrad(AxisSplit split, int threads)
      : split_(split), tiles_((split.inner + kLines - 1) / kLines) {
    const int64_t count = split.outer * split.size * split.inner;
    threads_ = static_cast<int>(std::min<int64_t>(threads, count / kElementsPerThread + 1));
  }

  size_t scratch_bytes() const override {
    return split_.inner == 1 ? 0 : static_cast<size_t>(threads_) * 2 * kLines * sizeof(float);
  }

  void run(const KernelArgs& args) const override {
    const auto* d = static_cast<const float*>(args.inputs[0]);
    const auto* y = static_cast<const float*>(args.inputs[1]);
    auto* out = static_cast<float*>(args.outputs[0]);
    if (split_.inner == 1) return run_rows(d, y, out);
    auto* scratch = reinterpret_cast<float*>(args.scratch);
    for_each_task(split_.outer * tiles_, threads_, kLines * split_.size,
                  [&](int64_t i, int64_t thread) {
                    const int64_t column = i % tiles_ * kLines;
                    const int64_t at = i / tiles_ * split_.size * split_.inner + column;
                    run_tile(d + at, y + at, out + at,
                             static_cast<size_t>(std::min(kLines, split_.inner - column)),
                             scratch + thread * 2 * kLines);
                  });
  }
  bool may_alias(size_t, size_t) const override { return true; }

 private:
  void run_rows(const float* d, const float* y, float* out) const {
    const int64_t length = split_.size;
    for_each_task(split_.outer, threads_, length, [&](int64_t row) {
      softmax_grad_row(d + row * length, y + row * length, out + row * length,
                       static_cast<size_t>(length));
    });
  }

  void run_tile(const float* d, const float* y, float* out, size_t count, float* scratch) const {
    float *sum = scratch, *row = scratch + kLines;
    std::fill_n(sum, count, 0.0f);
    for (int64_t at = 0; at < split_.size * split_.inner; at += split_.inner) {
      binary_row(Binary::kMul, d + at, true, y + at, true, row, count);
      binary_row(Binary::kAdd, sum, true, row, true, sum, count);
    }
    for (int64_t at = 0; at < split_.size * split_.inner; at += split_.inner) {
      binary_row(Binary::kSub, d + at, true, sum, true, row, count);
      binary_row(Binary::kMul, row, true, y + at, true, out + at, count);
    }
  }

  AxisSplit split_;
  int64_t tiles_;
  int threads_;
};

Prepared prepare_softmax_grad(const KernelRequest& request) {
  if (!all_of(request.inputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  const Shape& y = request.inputs[1].shape;
  if (y.empty() || element_count(y) == 0) return Prepared::refuse("there are no elements");
  const AxisSplit split = split_at(y, axis_of(request.attrs<ops::SoftmaxAttrs>().axis, y.size()));
  return Prepared::accept(std::make_unique<SoftmaxGrad>(split, request.threads), "simd");
}

constexpr KernelEntry kSoftmaxGradEntries[] = {
    {"sardonyx::SoftmaxGrad", "softmax_grad", prepare_softmax_grad},
};

}  // namespace

std::span<const KernelEntry> softmax_grad_kernels() {
  return kSoftmaxGradEntries;
}

}  // namespace sardonyx::cpu
