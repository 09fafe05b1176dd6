#include <cmath>

#include "ir/core/threading/parallel_for.h"
#include "tests/extend/signed_square.h"

namespace sardonyx::extend {
namespace {

class SignedSquareKernel : public Kernel {
 public:
  SignedSquareKernel(int64_t count, int threads) : count_(count), threads_(threads) {}

  void run(const KernelArgs& args) const override {
    const auto* x = static_cast<const float*>(args.inputs[0]);
    auto* y = static_cast<float*>(args.outputs[0]);
    parallel_for(count_, threads_, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i)
        y[i] = x[i] * std::abs(x[i]);
    });
  }
  // Each element is read before it is written.
  bool may_alias(size_t output, size_t input) const override { return output == 0 && input == 0; }

 private:
  int64_t count_;
  int threads_;
};

Prepared prepare_signed_square(const KernelRequest& request) {
  const KernelTensor& x = request.inputs[0];
  if (x.dtype != DType::kFloat) return Prepared::refuse("only float32 is computed here");
  constexpr int64_t kElementsPerThread = 1 << 15;  // fewer are not worth a second thread
  const int64_t count = element_count(x.shape);
  const int64_t threads = std::min<int64_t>(request.threads, count / kElementsPerThread + 1);
  return Prepared::accept(std::make_unique<SignedSquareKernel>(count, static_cast<int>(threads)),
                          "portable");
}

constexpr KernelEntry kKernels[] = {
    {"toy::SignedSquare", "signed_square", prepare_signed_square},
};

}  // namespace

std::span<const KernelEntry> signed_square_kernels() {
  return kKernels;
}

const Provider& toy_provider() {
  static const Provider provider{"toy", signed_square_kernels()};
  return provider;
}

}  // namespace sardonyx::extend
