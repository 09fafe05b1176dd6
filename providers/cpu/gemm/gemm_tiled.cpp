// Gemm of doubles, and of floats that other kernels refuse; distances of all rows of one matrix to
// all rows of another. Register tiles over operands that are packed into row-major order first.
#include <algorithm>
#include <cmath>

#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/gemm/matmul.h"
#include "ir/ops/signal/cdist.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/gemm/gemm_generic_kernel.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

// to[columns, rows] = from[rows, columns] transposed, in squares that stay in the nearest cache.
template <typename T>
void transpose(const T* from, T* to, int64_t rows, int64_t columns, int threads) {
  constexpr int64_t kSquare = 16;
  for_each_task((columns + kSquare - 1) / kSquare, threads, rows * kSquare, [&](int64_t square) {
    const int64_t column = square * kSquare;
    for (int64_t row = 0; row < rows; row += kSquare) {
      for (int64_t x = column; x < std::min(columns, column + kSquare); ++x) {
        for (int64_t y = row; y < std::min(rows, row + kSquare); ++y)
          to[x * rows + y] = from[y * columns + x];
      }
    }
  });
}

template <typename T>
struct Operands {
  ProductRows rows;
  int64_t m, n, k;
  bool a_transposed, b_transposed;
};

// finish(args, out, row, count) is given each block of finished rows.
template <typename T, typename Epilogue>
class TileKernel : public Kernel {
 public:
  TileKernel(const Operands<T>& operands, Epilogue finish, int threads)
      : o_(operands), finish_(std::move(finish)) {
    const int64_t work = o_.m * o_.n * std::max<int64_t>(o_.k, 1);
    threads_ = static_cast<int>(std::min<int64_t>(threads, work / kElementsPerThread + 1));
  }

  size_t scratch_bytes() const override {
    return static_cast<size_t>((o_.a_transposed ? o_.m * o_.k : 0) +
                               (o_.b_transposed ? o_.k * o_.n : 0)) *
           sizeof(T);
  }

  void run(const KernelArgs& args) const override {
    const T* a = static_cast<const T*>(args.inputs[0]);
    const T* b = static_cast<const T*>(args.inputs[1]);
    T* out = static_cast<T*>(args.outputs[0]);
    T* scratch = reinterpret_cast<T*>(args.scratch);
    if (o_.a_transposed) {
      transpose(a, scratch, o_.k, o_.m, threads_);
      a = scratch;
      scratch += o_.m * o_.k;
    }
    if (o_.b_transposed) {
      transpose(b, scratch, o_.n, o_.k, threads_);
      b = scratch;
    }
    const int64_t blocks = (o_.m + kProductRows - 1) / kProductRows;
    for_each_task(blocks, threads_, kProductRows * o_.n * o_.k, [&](int64_t block) {
      const int64_t row = block * kProductRows, count = std::min(kProductRows, o_.m - row);
      o_.rows(a + row * o_.k, b, out + row * o_.n, count, o_.n, o_.k);
      finish_(args, out + row * o_.n, row, count);
    });
  }

 private:
  Operands<T> o_;
  Epilogue finish_;
  int threads_;
};

template <typename T, typename Epilogue>
Prepared tiles(const Operands<T>& operands, Epilogue finish, int threads) {
  return Prepared::accept(
      std::make_unique<TileKernel<T, Epilogue>>(operands, std::move(finish), threads), "tiles");
}

template <typename T>
Prepared prepare_gemm(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::GemmAttrs>();
  const Shape &a = request.inputs[0].shape, &out = request.outputs[0].shape;
  const Operands<T> operands{product_rows_of(request.inputs[0].dtype),
                             out[0],
                             out[1],
                             a[attrs.transA ? 0 : 1],
                             attrs.transA,
                             attrs.transB};
  // With beta = 0 the elements of C, NaN included, do not affect the result.
  const bool adds = request.has(2) && attrs.beta != 0;
  Strides steps{0, 0};
  if (adds) steps = broadcast_strides(request.inputs[2].shape, out);
  const T alpha = attrs.alpha, beta = attrs.beta;
  const auto finish = [=, n = out[1], row_step = steps[0], step = steps[1]](
                          const KernelArgs& args, T* sums, int64_t row, int64_t count) {
    for (int64_t i = 0; i < count * n && alpha != 1; ++i)
      sums[i] *= alpha;
    if (!adds) return;
    for (int64_t y = 0; y < count; ++y) {
      const T* c = static_cast<const T*>(args.inputs[2]) + (row + y) * row_step;
      for (int64_t x = 0; x < n; ++x)
        sums[y * n + x] += beta * c[x * step];
    }
  };
  return tiles(operands, finish, request.threads);
}

Prepared prepare_gemm_of_any(const KernelRequest& request) {
  if (request.inputs[0].dtype == DType::kDouble) return prepare_gemm<double>(request);
  if (request.inputs[0].dtype == DType::kFloat) return prepare_gemm<float>(request);
  return Prepared::refuse("only float and double are computed here");
}

template <typename T>
Prepared prepare_cdist(const KernelRequest& request) {
  const Shape &a = request.inputs[0].shape, &out = request.outputs[0].shape;
  const Operands<T> operands{
      distance_rows_of(request.inputs[0].dtype), out[0], out[1], a[1], false, true};
  const bool rooted = request.attrs<ops::CDistAttrs>().metric == "euclidean";
  const auto finish = [rooted, n = out[1]](const KernelArgs&, T* sums, int64_t, int64_t count) {
    for (int64_t i = 0; i < count * n && rooted; ++i)
      sums[i] = std::sqrt(sums[i]);
  };
  return tiles(operands, finish, request.threads);
}

Prepared prepare_distances(const KernelRequest& request) {
  if (request.inputs[0].dtype == DType::kDouble) return prepare_cdist<double>(request);
  return prepare_cdist<float>(request);
}

constexpr KernelEntry kTiledGemmEntries[] = {
    {"Gemm", "gemm_tiled", prepare_gemm_of_any},
    {"com.microsoft::CDist", "gemm_tiled", prepare_distances}};

}  // namespace

std::span<const KernelEntry> gemm_tiled_kernels() {
  return kTiledGemmEntries;
}

}  // namespace sardonyx::cpu
