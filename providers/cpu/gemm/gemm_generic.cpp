// MatMul of numbers that others leave: double, integers of 32 bits, and float where weights are not
// known ahead and no other provider takes them. Plain tiles in registers.
#include <algorithm>

#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/gemm/gemm_generic_kernel.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/lookup_table_limits.h"

namespace sardonyx::cpu {
namespace {

class ProductKernel : public Kernel {
 public:
  ProductKernel(ProductRows rows, const KernelRequest& request, std::vector<int64_t> a_batches,
                std::vector<int64_t> b_batches)
      : rows_(rows),
        width_(bits_of(request.inputs[0].dtype) / 8),
        a_batches_(std::move(a_batches)),
        b_batches_(std::move(b_batches)) {
    const Shape &a = request.inputs[0].shape, &b = request.inputs[1].shape;
    m_ = a[a.size() - 2];
    k_ = a.back();
    n_ = b.back();
    const int64_t work =
        static_cast<int64_t>(a_batches_.size()) * m_ * n_ * std::max<int64_t>(k_, 1);
    threads_ = static_cast<int>(std::min<int64_t>(request.threads, work / kElementsPerThread + 1));
  }

  void run(const KernelArgs& args) const override {
    const auto* a = static_cast<const std::byte*>(args.inputs[0]);
    const auto* b = static_cast<const std::byte*>(args.inputs[1]);
    auto* out = static_cast<std::byte*>(args.outputs[0]);
    const int64_t blocks = (m_ + kProductRows - 1) / kProductRows;
    const auto batches = static_cast<int64_t>(a_batches_.size());
    for_each_task(batches * blocks, threads_, kProductRows * n_ * k_, [&](int64_t i) {
      const auto batch = static_cast<size_t>(i / blocks);
      const int64_t first = i % blocks * kProductRows;
      rows_(a + (a_batches_[batch] + first) * k_ * width_, b + b_batches_[batch] * k_ * n_ * width_,
            out + (i / blocks * m_ + first) * n_ * width_, std::min(kProductRows, m_ - first), n_,
            k_);
    });
  }

 private:
  ProductRows rows_;
  int64_t width_, m_, n_, k_;
  std::vector<int64_t> a_batches_;  // the row that each begins with
  std::vector<int64_t> b_batches_;  // the matrix
  int threads_;
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
  const ProductRows rows = product_rows_of(request.inputs[0].dtype);
  if (!rows) return Prepared::refuse("numbers of this type are left to others");
  if (a.size() < 2 || b.size() < 2) return Prepared::refuse("vectors are left to the reference");
  const Shape& out = request.outputs[0].shape;
  const int64_t batches = element_count(Shape(out.begin(), out.end() - 2));
  if (const char* why = why_unsupported_tables({batches})) return Prepared::refuse(why);
  std::vector<int64_t> a_batches = matrices(a, out);
  for (int64_t& begin : a_batches)
    begin *= a[a.size() - 2];
  return Prepared::accept(
      std::make_unique<ProductKernel>(rows, request, std::move(a_batches), matrices(b, out)),
      "tiles");
}

constexpr KernelEntry kNumberProductEntries[] = {{"MatMul", "gemm_generic", prepare_product}};

}  // namespace

std::span<const KernelEntry> gemm_generic_kernels() {
  return kNumberProductEntries;
}

}  // namespace sardonyx::cpu
