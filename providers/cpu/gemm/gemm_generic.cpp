// MatMul of numbers that others leave: double, integers of 32 bits, and float where weights are not
// known ahead and no other provider takes them. Plain tiles in registers.
#include <algorithm>

#include "ir/core/rounding.h"
#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/gemm/product_blocks.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/lookup_table_limits.h"

namespace sardonyx::cpu {
namespace {

struct BatchedOperands {
  int64_t m, n, k, width;          // width: of an element, in bytes
  std::vector<int64_t> a_batches;  // the row that each begins with
  std::vector<int64_t> b_batches;  // the matrix
};

// Where each batch begins.
ProductBlock matrices_of(const BatchedOperands& o, const KernelArgs& args, int64_t batch) {
  const auto* a = static_cast<const std::byte*>(args.inputs[0]);
  const auto* b = static_cast<const std::byte*>(args.inputs[1]);
  ProductBlock product{};
  product.a = a + o.a_batches[static_cast<size_t>(batch)] * o.k * o.width;
  product.b = b + o.b_batches[static_cast<size_t>(batch)] * o.k * o.n * o.width;
  product.out = static_cast<std::byte*>(args.outputs[0]) + batch * o.m * o.n * o.width;
  return product;
}

// A few rows at a time.
class ProductRowsKernel : public Kernel {
 public:
  ProductRowsKernel(ProductRows rows, BatchedOperands operands, int threads)
      : rows_(rows), o_(std::move(operands)), threads_(threads) {}

  void run(const KernelArgs& args) const override {
    const int64_t blocks = ceil_div(o_.m, kProductRows);
    const auto batches = static_cast<int64_t>(o_.a_batches.size());
    for_each_task(batches * blocks, threads_, kProductRows * o_.n * o_.k, [&](int64_t i) {
      const ProductBlock product = matrices_of(o_, args, i / blocks);
      const int64_t first = i % blocks * kProductRows;
      rows_(static_cast<const std::byte*>(product.a) + first * o_.k * o_.width, product.b,
            static_cast<std::byte*>(product.out) + first * o_.n * o_.width,
            std::min(kProductRows, o_.m - first), o_.n, o_.k);
    });
  }

 private:
  ProductRows rows_;
  BatchedOperands o_;
  int threads_;
};

class BlockedProductKernel : public Kernel {
 public:
  BlockedProductKernel(const ProductFunctions& functions, BatchedOperands operands, int threads)
      : o_(std::move(operands)),
        blocks_(functions, o_.width, o_.m, o_.n, o_.k, false,
                static_cast<int64_t>(o_.a_batches.size()), threads) {}

  size_t scratch_bytes() const override { return blocks_.scratch_bytes(); }

  void run(const KernelArgs& args) const override {
    blocks_.run(
        args.scratch, [&](int64_t batch) { return matrices_of(o_, args, batch); },
        [](auto&&...) {});
  }

 private:
  BatchedOperands o_;
  ProductBlocks blocks_;
};

// For each matrix of the output, which matrix of an operand goes into it.
std::vector<int64_t> matrices(const Shape& operand, const Shape& output) {
  const Shape own(operand.begin(), operand.end() - 2), all(output.begin(), output.end() - 2);
  const Strides strides = broadcast_strides(own, all);
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < element_count(all); ++i) {
    int64_t rest = i, index = 0;
    for (size_t axis = all.size(); axis-- > 0; rest /= all[axis])
      index += rest % all[axis] * strides[axis];
    indices.push_back(index);
  }
  return indices;
}

Prepared prepare_product(const KernelRequest& request) {
  const Shape &a = request.inputs[0].shape, &b = request.inputs[1].shape;
  const ProductFunctions functions = products_of(request.inputs[0].dtype);
  if (!functions.rows) return Prepared::refuse("numbers of this type are left to others");
  if (a.size() < 2 || b.size() < 2) return Prepared::refuse("vectors are left to the reference");
  const Shape& out = request.outputs[0].shape;
  const int64_t batches = element_count(Shape(out.begin(), out.end() - 2));
  if (const char* why = why_unsupported_tables({batches})) return Prepared::refuse(why);
  const int64_t m = a[a.size() - 2], n = b.back(), k = a.back();
  BatchedOperands operands{
      m, n, k, bits_of(request.inputs[0].dtype) / 8, matrices(a, out), matrices(b, out)};
  for (int64_t& begin : operands.a_batches)
    begin *= m;
  const int64_t work = batches * m * n * std::max<int64_t>(k, 1);
  const auto threads =
      static_cast<int>(std::min<int64_t>(request.threads, work / kElementsPerThread + 1));
  if (ProductBlocks::pays(functions, m, n, k))
    return Prepared::accept(
        std::make_unique<BlockedProductKernel>(functions, std::move(operands), threads), "blocks");
  return Prepared::accept(
      std::make_unique<ProductRowsKernel>(functions.rows, std::move(operands), threads), "tiles");
}

constexpr KernelEntry kNumberProductEntries[] = {{"MatMul", "gemm_generic", prepare_product}};

}  // namespace

std::span<const KernelEntry> gemm_generic_kernels() {
  return kNumberProductEntries;
}

}  // namespace sardonyx::cpu
