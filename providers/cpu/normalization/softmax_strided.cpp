// Softmax and LogSoftmax of float32 along an axis whose elements are not adjacent: whole rows of
// neighbours are worked on at a time.
#include <algorithm>

#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/normalization/softmax.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/elementwise/elementwise_f32_kernel.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

constexpr int64_t kTile =
    512;  // columns at a time: what an axis of some dozens has of them stays near

class SoftmaxColumns : public Kernel {
 public:
  SoftmaxColumns(AxisSplit split, bool is_log, int threads) : split_(split), is_log_(is_log) {
    tiles_ = (split.inner + kTile - 1) / kTile;
    const int64_t count = split.outer * split.size * split.inner;
    threads_ = static_cast<int>(std::min<int64_t>(threads, count / kElementsPerThread + 1));
  }

  size_t scratch_bytes() const override {
    return static_cast<size_t>(threads_) * 3 * kTile * sizeof(float);
  }

  void run(const KernelArgs& args) const override {
    auto* scratch = reinterpret_cast<float*>(args.scratch);
    const CancelFlag sign;
    for_each_task(split_.outer * tiles_, threads_, kTile * split_.size,
                  [&](int64_t i, int64_t thread) {
                    const int64_t column = i % tiles_ * kTile;
                    const int64_t at = i / tiles_ * split_.size * split_.inner + column;
                    run_tile(static_cast<const float*>(args.inputs[0]) + at,
                             static_cast<float*>(args.outputs[0]) + at,
                             static_cast<size_t>(std::min(kTile, split_.inner - column)),
                             scratch + thread * 3 * kTile, sign);
                  });
    sign.check();
  }
  bool may_alias(size_t, size_t input) const override { return input == 0; }

 private:
  // Leaves the tile where `sign` is up: one of few columns may have millions of rows.
  void run_tile(const float* in, float* out, size_t count, float* scratch,
                const CancelFlag& sign) const {
    constexpr int64_t kRowsPerPoll = kWorkPerPoll / kTile;
    const auto must_stop = [&](int64_t row) {
      return row % kRowsPerPoll == kRowsPerPoll - 1 && sign.ask();
    };
    float *greatest = scratch, *sum = scratch + kTile, *row = scratch + 2 * kTile;
    std::copy_n(in, count, greatest);
    for (int64_t i = 1; i < split_.size; ++i) {
      if (must_stop(i)) return;
      binary_row(Binary::kMax, greatest, true, in + i * split_.inner, true, greatest, count);
    }
    std::fill_n(sum, count, 0.0f);
    for (int64_t i = 0; i < split_.size; ++i) {
      if (must_stop(i)) return;
      float* to = out + i * split_.inner;
      binary_row(Binary::kSub, in + i * split_.inner, true, greatest, true, to, count);
      float* exponential = is_log_ ? row : to;
      unary_row(common_unaries().exp, {}, to, exponential, count);
      binary_row(Binary::kAdd, sum, true, exponential, true, sum, count);
    }
    if (is_log_) unary_row(common_unaries().log, {}, sum, sum, count);
    for (int64_t i = 0; i < split_.size; ++i) {
      if (must_stop(i)) return;
      float* to = out + i * split_.inner;
      binary_row(is_log_ ? Binary::kSub : Binary::kDiv, to, true, sum, true, to, count);
    }
  }

  AxisSplit split_;
  bool is_log_;
  int64_t tiles_;
  int threads_;
};

Prepared prepare(const KernelRequest& request, bool is_log) {
  const Shape& x = request.inputs[0].shape;
  if (request.inputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  if (element_count(x) == 0 || x.empty()) return Prepared::refuse("there are no elements");
  const AxisSplit split = split_at(x, axis_of(request.attrs<ops::SoftmaxAttrs>().axis, x.size()));
  if (split.inner == 1) return Prepared::refuse("the elements of a line are adjacent");
  return Prepared::accept(std::make_unique<SoftmaxColumns>(split, is_log, request.threads),
                          "softmax_strided");
}

Prepared prepare_softmax(const KernelRequest& request) {
  return prepare(request, false);
}
Prepared prepare_log_softmax(const KernelRequest& request) {
  return prepare(request, true);
}

constexpr KernelEntry kSoftmaxColumnEntries[] = {
    {"Softmax", "softmax_strided", prepare_softmax},
    {"LogSoftmax", "softmax_strided", prepare_log_softmax},
};

}  // namespace

std::span<const KernelEntry> softmax_strided_kernels() {
  return kSoftmaxColumnEntries;
}

}  // namespace sardonyx::cpu
