// Gemm of doubles, and of floats that other kernels refuse; distances of all rows of one matrix to
// all rows of another. Register tiles over operands that are packed into row-major order first.
#include <algorithm>
#include <cmath>
#include <optional>

#include "ir/core/rounding.h"
#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/gemm/matmul.h"
#include "ir/ops/signal/cdist.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/gemm/product_blocks.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

// to[columns, rows] = from[rows, columns] transposed, in squares that stay in the nearest cache.
template <typename T>
void transpose(const T* from, T* to, int64_t rows, int64_t columns, int threads) {
  constexpr int64_t kSquare = 16;
  for_each_task(ceil_div(columns, kSquare), threads, rows * kSquare, [&](int64_t square) {
    const int64_t column = square * kSquare;
    for (int64_t row = 0; row < rows; row += kSquare) {
      for (int64_t x = column; x < std::min(columns, column + kSquare); ++x) {
        for (int64_t y = row; y < std::min(rows, row + kSquare); ++y)
          to[x * rows + y] = from[y * columns + x];
      }
    }
  });
}

struct Operands {
  ProductFunctions functions;
  int64_t m, n, k;
  bool a_transposed, b_transposed;
};

// finish(args, out, row, column, rows, columns) is given each block of finished sums.
template <typename T, typename Epilogue>
class TileKernel : public Kernel {
 public:
  TileKernel(const Operands& operands, Epilogue finish, int threads)
      : o_(operands), finish_(std::move(finish)) {
    const int64_t work = o_.m * o_.n * std::max<int64_t>(o_.k, 1);
    threads_ = static_cast<int>(std::min<int64_t>(threads, work / kElementsPerThread + 1));
    if (ProductBlocks::pays(o_.functions, o_.m, o_.n, o_.k))
      blocks_.emplace(o_.functions, sizeof(T), o_.m, o_.n, o_.k, o_.b_transposed, 1, threads_);
  }

  size_t scratch_bytes() const override {
    const int64_t transposed =
        (o_.a_transposed ? o_.m * o_.k : 0) + (o_.b_transposed && !blocks_ ? o_.k * o_.n : 0);
    return packed_bytes() + static_cast<size_t>(transposed) * sizeof(T);
  }

  void run(const KernelArgs& args) const override {
    const T* a = static_cast<const T*>(args.inputs[0]);
    const T* b = static_cast<const T*>(args.inputs[1]);
    T* out = static_cast<T*>(args.outputs[0]);
    T* scratch = reinterpret_cast<T*>(args.scratch + packed_bytes());
    if (o_.a_transposed) {
      transpose(a, scratch, o_.k, o_.m, threads_);
      a = scratch;
      scratch += o_.m * o_.k;
    }
    const auto finish = [&](void* sums, auto... part) {
      finish_(args, static_cast<T*>(sums), part...);
    };
    if (blocks_) {
      const ProductBlock product{.a = a, .b = b, .out = out};
      return blocks_->run(
          args.scratch, [&](int64_t) { return product; }, finish);
    }
    if (o_.b_transposed) {
      transpose(b, scratch, o_.n, o_.k, threads_);
      b = scratch;
    }
    const int64_t tasks = ceil_div(o_.m, kProductRows);
    for_each_task(tasks, threads_, kProductRows * o_.n * o_.k, [&](int64_t task) {
      const int64_t row = task * kProductRows, count = std::min(kProductRows, o_.m - row);
      o_.functions.rows(a + row * o_.k, b, out + row * o_.n, count, o_.n, o_.k);
      finish(out + row * o_.n, row, int64_t{0}, count, o_.n);
    });
  }

 private:
  size_t packed_bytes() const { return blocks_ ? blocks_->scratch_bytes() : 0; }

  Operands o_;
  Epilogue finish_;
  int threads_;
  std::optional<ProductBlocks> blocks_;  // none where rows are computed one after the other
};

template <typename T, typename Epilogue>
Prepared tiles(const Operands& operands, Epilogue finish, int threads) {
  return Prepared::accept(
      std::make_unique<TileKernel<T, Epilogue>>(operands, std::move(finish), threads), "tiles");
}

template <typename T>
Prepared prepare_gemm(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::GemmAttrs>();
  const Shape &a = request.inputs[0].shape, &out = request.outputs[0].shape;
  const Operands operands{products_of(request.inputs[0].dtype),
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
                          const KernelArgs& args, T* sums, int64_t row, int64_t column,
                          int64_t rows, int64_t columns) {
    for (int64_t y = 0; y < rows && (alpha != 1 || adds); ++y, sums += n) {
      for (int64_t x = 0; x < columns && alpha != 1; ++x)
        sums[x] *= alpha;
      if (!adds) continue;
      const T* c = static_cast<const T*>(args.inputs[2]) + (row + y) * row_step + column * step;
      for (int64_t x = 0; x < columns; ++x)
        sums[x] += beta * c[x * step];
    }
  };
  return tiles<T>(operands, finish, request.threads);
}

Prepared prepare_gemm_of_any(const KernelRequest& request) {
  if (request.inputs[0].dtype == DType::kDouble) return prepare_gemm<double>(request);
  if (request.inputs[0].dtype == DType::kFloat) return prepare_gemm<float>(request);
  return Prepared::refuse("only float and double are computed here");
}

template <typename T>
Prepared prepare_cdist(const KernelRequest& request) {
  const Shape &a = request.inputs[0].shape, &out = request.outputs[0].shape;
  const Operands operands{distances_of(request.inputs[0].dtype), out[0], out[1], a[1], false, true};
  const bool rooted = request.attrs<ops::CDistAttrs>().metric == "euclidean";
  const auto finish = [rooted, n = out[1]](const KernelArgs&, T* sums, int64_t, int64_t,
                                           int64_t rows, int64_t columns) {
    for (int64_t y = 0; y < rows && rooted; ++y, sums += n) {
      for (int64_t x = 0; x < columns; ++x)
        sums[x] = std::sqrt(sums[x]);
    }
  };
  return tiles<T>(operands, finish, request.threads);
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
