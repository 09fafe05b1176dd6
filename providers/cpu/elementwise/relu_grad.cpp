#include "providers/cpu/elementwise/relu_grad.h"

#include <algorithm>

#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/normalization/channel_stats_kernel.h"

namespace sardonyx::cpu {
namespace {

class ReluGradient : public Kernel {
 public:
  ReluGradient(int64_t count, int threads)
      : count_(count),
        threads_(static_cast<int>(std::min<int64_t>(threads, count / kElementsPerThread + 1))) {}

  void run(const KernelArgs& args) const override {
    const auto* d_y = static_cast<const float*>(args.inputs[0]);
    const auto* y = static_cast<const float*>(args.inputs[1]);
    auto* d_x = static_cast<float*>(args.outputs[0]);
    const int64_t pieces = (count_ + kPiece - 1) / kPiece;
    for_each_task(pieces, threads_, kPiece, [&](int64_t piece) {
      const int64_t begin = piece * kPiece;
      map_relu_gradient(d_y + begin, y + begin, std::min(kPiece, count_ - begin), d_x + begin);
    });
  }
  bool may_alias(size_t, size_t) const override { return true; }

 private:
  static constexpr int64_t kPiece = 1 << 12;  // whole cache lines

  int64_t count_;
  int threads_;
};

Prepared prepare_relu(const KernelRequest& request) {
  if (!all_of(request.inputs, DType::kFloat))
    return Prepared::refuse("only float is computed here");
  return Prepared::accept(relu_gradient(element_count(request.inputs[0].shape), request.threads),
                          "simd");
}

constexpr KernelEntry kActivationGradientEntries[] = {
    {"sardonyx::ReluGrad", "relu_grad", prepare_relu},
};

}  // namespace

std::unique_ptr<Kernel> relu_gradient(int64_t count, int threads) {
  return std::make_unique<ReluGradient>(count, threads);
}

std::span<const KernelEntry> relu_grad_kernels() {
  return kActivationGradientEntries;
}

}  // namespace sardonyx::cpu
