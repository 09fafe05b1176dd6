// Cuts a matrix product into blocks that stay in the caches, for threads to share.
#pragma once

#include <algorithm>

#include "ir/core/rounding.h"
#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/gemm/gemm_generic_kernel.h"

namespace sardonyx::cpu {

// out[m, n] = a[m, k] * b[k, n], or b[n, k] transposed, for each of some batches. No sum depends on
// how it is cut.
class ProductBlocks {
 public:
  // Packing is lost on few rows; fewer columns than lanes are summed up in another order.
  static bool pays(const ProductFunctions& functions, int64_t m, int64_t n, int64_t k) {
    return m >= kManyRows && n >= functions.lanes && k > 0;
  }

  // `width`: of an element, in bytes.
  ProductBlocks(const ProductFunctions& functions, int64_t width, int64_t m, int64_t n, int64_t k,
                bool b_transposed, int64_t batches, int threads)
      : functions_(functions),
        width_(width),
        m_(m),
        n_(n),
        k_(k),
        b_transposed_(b_transposed),
        batches_(batches),
        threads_(threads) {
    // What belongs to them of `a` and of the sums fits into the second cache.
    constexpr int64_t kRows = 192, kFewRows = 48, kPanels = 8;
    rows_ = kRows, columns_ = kPanels * functions.panel_columns;
    const int64_t wanted = threads == 1 ? 1 : 4 * threads;
    while (tasks() < wanted && (rows_ > kFewRows || columns_ > functions.panel_columns))
      (rows_ > kFewRows ? rows_ : columns_) /= 2;
  }

  size_t scratch_bytes() const { return functions_.packed_bytes * static_cast<size_t>(threads_); }

  // operands(batch) gives a block with the pointers of a batch's matrices. finish(out, row, column,
  // rows, columns) is called for each block of finished sums.
  template <typename Operands, typename Finish>
  void run(std::byte* scratch, const Operands& operands, const Finish& finish) const {
    const int64_t across = blocks_across(), down = blocks_down();
    for_each_task(tasks(), threads_, rows_ * columns_ * k_, [&](int64_t task, int seat) {
      const int64_t column = task % across * columns_, row = task / across % down * rows_;
      ProductBlock block = operands(task / across / down);
      block.k = k_, block.out_row = n_;
      block.b_row = b_transposed_ ? 1 : n_, block.b_column = b_transposed_ ? k_ : 1;
      block.rows = std::min(rows_, m_ - row), block.columns = std::min(columns_, n_ - column);
      block.a = static_cast<const std::byte*>(block.a) + row * k_ * width_;
      block.b = static_cast<const std::byte*>(block.b) + column * block.b_column * width_;
      block.out = static_cast<std::byte*>(block.out) + (row * n_ + column) * width_;
      functions_.block(block, scratch + functions_.packed_bytes * static_cast<size_t>(seat));
      finish(block.out, row, column, block.rows, block.columns);
    });
  }

 private:
  int64_t blocks_across() const { return ceil_div(n_, columns_); }
  int64_t blocks_down() const { return ceil_div(m_, rows_); }
  int64_t tasks() const { return batches_ * blocks_down() * blocks_across(); }

  static constexpr int64_t kManyRows = 32;

  ProductFunctions functions_;
  int64_t width_, m_, n_, k_;
  bool b_transposed_;
  int64_t batches_;
  int threads_;
  int64_t rows_, columns_;  // of a block
};

}  // namespace sardonyx::cpu
