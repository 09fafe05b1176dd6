// Det and com.microsoft::Inverse of float32 and float64, computed in float64 as the reference does.
#include <algorithm>

#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/gemm/inverse_kernel.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

// Work below this many multiplications is not worth a second thread.
constexpr int64_t kInverseProductsPerThread = 1 << 16;

// Shares out matrices; each is computed in a copy in float64, with `spare` more numbers for each
// of its rows.
class MatrixKernel : public Kernel {
 public:
  MatrixKernel(int64_t matrices, int64_t n, int64_t spare, int threads)
      : matrices_(matrices), n_(n), copy_(n * n + spare * n) {
    const int64_t most = matrices * n * n * n / kInverseProductsPerThread + 1;
    threads_ = static_cast<int>(std::min<int64_t>({threads, matrices, most}));
  }

  size_t scratch_bytes() const override {
    return static_cast<size_t>(threads_ * copy_) * sizeof(double);
  }

 protected:
  // Calls solve(index, copy, sign) for each matrix, until it gives false.
  template <typename T, typename Solve>
  void for_each_copy(const KernelArgs& args, const Solve& solve) const {
    parallel_run(threads_, [&](int64_t part, int64_t parts, const CancelFlag& sign) {
      double* const a = reinterpret_cast<double*>(args.scratch) + part * copy_;
      for (int64_t i = matrices_ * part / parts; i < matrices_ * (part + 1) / parts; ++i) {
        const T* const from = static_cast<const T*>(args.inputs[0]) + i * n_ * n_;
        for (int64_t at = 0; at < n_ * n_; at += kWorkPerPoll) {
          if (n_ * n_ > kWorkPerPoll && sign.ask()) return;
          std::copy_n(from + at, std::min(kWorkPerPoll, n_ * n_ - at), a + at);
        }
        if (!solve(i, a, sign)) return;
      }
    });
  }
  // Calls eliminate(column) for each; false once the run is to end.
  template <typename Eliminate>
  bool for_each_column(const CancelFlag& sign, const Eliminate& eliminate) const {
    int64_t since_look = kWorkPerPoll;
    for (int64_t column = 0; column < n_; ++column) {
      if ((since_look += n_ * n_) > kWorkPerPoll) {
        if (sign.ask()) return false;
        since_look = 0;
      }
      eliminate(static_cast<size_t>(column));
    }
    return true;
  }

  int64_t matrices_, n_, copy_;
  int threads_;
};

template <typename T>
class InverseKernel : public MatrixKernel {
 public:
  InverseKernel(int64_t matrices, int64_t n, int threads) : MatrixKernel(matrices, n, 1, threads) {}

  void run(const KernelArgs& args) const override {
    for_each_copy<T>(args, [&](int64_t i, double* a, const CancelFlag& sign) {
      if (!invert(a, sign)) return false;
      std::transform(a, a + n_ * n_, static_cast<T*>(args.outputs[0]) + i * n_ * n_,
                     [](double value) { return static_cast<T>(value); });
      return true;
    });
  }
  // A matrix is read before its inverse is written.
  bool may_alias(size_t, size_t) const override { return true; }

 private:
  bool invert(double* a, const CancelFlag& sign) const {
    auto* exchanged = reinterpret_cast<int64_t*>(a + n_ * n_);
    const auto n = static_cast<size_t>(n_);
    const auto eliminate = [&](size_t column) {
      exchanged[column] = static_cast<int64_t>(eliminate_column(a, n, column));
    };
    if (!for_each_column(sign, eliminate)) return false;
    for (size_t column = n; column-- > 0;) {
      const auto other = static_cast<size_t>(exchanged[column]);
      for (size_t row = 0; row < n && other != column; ++row)
        std::swap(a[row * n + column], a[row * n + other]);
    }
    return true;
  }
};

template <typename T>
class DetKernel : public MatrixKernel {
 public:
  DetKernel(int64_t matrices, int64_t n, int threads) : MatrixKernel(matrices, n, 0, threads) {}

  void run(const KernelArgs& args) const override {
    for_each_copy<T>(args, [&](int64_t i, double* a, const CancelFlag& sign) {
      double product = 1;
      const auto eliminate = [&](size_t column) {
        if (product != 0) product *= eliminate_below(a, static_cast<size_t>(n_), column);
      };
      if (!for_each_column(sign, eliminate)) return false;
      static_cast<T*>(args.outputs[0])[i] = static_cast<T>(product);
      return true;
    });
  }
};

template <template <typename> typename MatrixOp>
Prepared prepare_matrices(const KernelRequest& request) {
  const KernelTensor& x = request.inputs[0];
  const int64_t count = element_count(x.shape), n = x.shape.back();
  if (count == 0) return Prepared::refuse("there are no elements");
  const int64_t matrices = count / (n * n);
  if (x.dtype == DType::kFloat)
    return Prepared::accept(std::make_unique<MatrixOp<float>>(matrices, n, request.threads),
                            "simd");
  if (x.dtype == DType::kDouble)
    return Prepared::accept(std::make_unique<MatrixOp<double>>(matrices, n, request.threads),
                            "simd");
  return Prepared::refuse("only float and double are computed here");
}

constexpr KernelEntry kInverseEntries[] = {
    {"Det", "inverse", prepare_matrices<DetKernel>},
    {"com.microsoft::Inverse", "inverse", prepare_matrices<InverseKernel>}};

}  // namespace

std::span<const KernelEntry> inverse_kernels() {
  return kInverseEntries;
}

}  // namespace sardonyx::cpu
