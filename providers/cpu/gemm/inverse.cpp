// com.microsoft::Inverse of float32 and float64, computed in float64 as the reference does.
#include <algorithm>

#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/gemm/inverse_kernel.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

// Work below this many multiplications is not worth a second thread.
constexpr int64_t kInverseProductsPerThread = 1 << 16;

template <typename T>
class InverseKernel : public Kernel {
 public:
  InverseKernel(int64_t matrices, int64_t n, int threads) : matrices_(matrices), n_(n) {
    const int64_t most = matrices * n * n * n / kInverseProductsPerThread + 1;
    threads_ = static_cast<int>(std::min<int64_t>({threads, matrices, most}));
  }

  size_t scratch_bytes() const override {
    return static_cast<size_t>(threads_ * (n_ * n_ + n_)) * sizeof(double);
  }

  void run(const KernelArgs& args) const override {
    parallel_run(threads_, [&](int64_t part, int64_t parts, const CancelFlag& sign) {
      auto* a = reinterpret_cast<double*>(args.scratch) + part * (n_ * n_ + n_);
      for (int64_t i = matrices_ * part / parts; i < matrices_ * (part + 1) / parts; ++i) {
        const T* x = static_cast<const T*>(args.inputs[0]) + i * n_ * n_;
        std::copy_n(x, n_ * n_, a);
        if (!invert(a, sign)) return;
        T* y = static_cast<T*>(args.outputs[0]) + i * n_ * n_;
        std::transform(a, a + n_ * n_, y, [](double value) { return static_cast<T>(value); });
      }
    });
  }
  // A matrix is read before its inverse is written.
  bool may_alias(size_t, size_t) const override { return true; }

 private:
  // False once the run is to end.
  bool invert(double* a, const CancelFlag& sign) const {
    auto* exchanged = reinterpret_cast<int64_t*>(a + n_ * n_);
    const auto n = static_cast<size_t>(n_);
    int64_t since_look = 0;
    if (sign.ask()) return false;
    for (size_t column = 0; column < n; ++column) {
      if ((since_look += n_ * n_) > kWorkPerPoll) {
        if (sign.ask()) return false;
        since_look = 0;
      }
      exchanged[column] = static_cast<int64_t>(eliminate_column(a, n, column));
    }
    for (size_t column = n; column-- > 0;) {
      const auto other = static_cast<size_t>(exchanged[column]);
      for (size_t row = 0; row < n && other != column; ++row)
        std::swap(a[row * n + column], a[row * n + other]);
    }
    return true;
  }

  int64_t matrices_, n_;
  int threads_;
};

Prepared prepare_inverse(const KernelRequest& request) {
  const KernelTensor& x = request.inputs[0];
  const int64_t count = element_count(x.shape), n = x.shape.back();
  if (count == 0) return Prepared::refuse("there are no elements");
  if (x.dtype == DType::kFloat)
    return Prepared::accept(
        std::make_unique<InverseKernel<float>>(count / (n * n), n, request.threads), "simd");
  if (x.dtype == DType::kDouble)
    return Prepared::accept(
        std::make_unique<InverseKernel<double>>(count / (n * n), n, request.threads), "simd");
  return Prepared::refuse("only float and double are computed here");
}

constexpr KernelEntry kInverseEntries[] = {{"com.microsoft::Inverse", "inverse", prepare_inverse}};

}  // namespace

std::span<const KernelEntry> inverse_kernels() {
  return kInverseEntries;
}

}  // namespace sardonyx::cpu
