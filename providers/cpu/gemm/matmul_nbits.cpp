// com.microsoft's MatMulNBits in float.
#include <algorithm>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/quantization/nbits.h"
#include "providers/cpu/gemm/nbits_product.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

using ops::NBitsInput;

// The parameters of the product, shared by both kernels.
struct MatMulNBitsSizes {
  int64_t k, n, rows;
  NBitsRow row;
  NBitsZeros zeros = NBitsZeros::kMiddle;
  bool has_bias;

  MatMulNBitsSizes(const KernelRequest& request, const ops::NBitsAttrs& attrs)
      : k(attrs.K),
        n(attrs.N),
        rows(element_count(request.inputs[NBitsInput::kA].shape) / attrs.K),
        row{static_cast<int>(attrs.bits), static_cast<size_t>(attrs.blocks()),
            static_cast<size_t>(attrs.block_bytes())},
        has_bias(request.has(NBitsInput::kBias)) {
    if (request.has(NBitsInput::kZeroPoints)) {
      const bool packed = request.inputs[NBitsInput::kZeroPoints].dtype == DType::kUInt8;
      zeros = packed ? NBitsZeros::kPacked : NBitsZeros::kFloat;
    }
  }

  int threads(const KernelRequest& request) const {
    const double work = static_cast<double>(rows) * static_cast<double>(k) * static_cast<double>(n);
    return work > 1e5 ? request.threads : 1;
  }

  NBitsMatrix matrix(const KernelArgs& args) const {
    return {k,
            row,
            static_cast<const uint8_t*>(args.inputs[NBitsInput::kB]),
            static_cast<const float*>(args.inputs[NBitsInput::kScales]),
            zeros,
            zeros == NBitsZeros::kMiddle ? nullptr : args.inputs[NBitsInput::kZeroPoints],
            has_bias ? static_cast<const float*>(args.inputs[NBitsInput::kBias]) : nullptr};
  }

  // Calls multiply(first column, columns, thread) for all columns, some at once.
  template <typename Multiply>
  void for_columns(int threads, const Multiply& multiply) const {
    const int64_t groups = (n + kNBitsColumns - 1) / kNBitsColumns;
    for_each_task(groups, threads, rows * k * kNBitsColumns, [&](int64_t group, int64_t thread) {
      const int64_t first = group * kNBitsColumns;
      multiply(first, std::min(kNBitsColumns, n - first), thread);
    });
  }
};

class NBitsKernel : public Kernel {
 public:
  NBitsKernel(const KernelRequest& request, const MatMulNBitsSizes& sizes)
      : s_(sizes), step_(spread_step(s_.row)), threads_(s_.threads(request)) {}

  size_t scratch_bytes() const override {
    return (static_cast<size_t>(s_.rows * step_) +
            static_cast<size_t>(threads_ * kNBitsColumns) * s_.row.blocks + s_.row.block_size()) *
           sizeof(float);
  }

  // Scratch: A spread, zero points of some columns for each thread, one block.
  void run(const KernelArgs& args) const override {
    const NBitsMatrix matrix = s_.matrix(args);
    const int64_t of_zeros = kNBitsColumns * static_cast<int64_t>(s_.row.blocks);
    auto* spread = reinterpret_cast<float*>(args.scratch);
    float* zeros = spread + s_.rows * step_;
    float* block = zeros + threads_ * of_zeros;
    const auto* a = static_cast<const float*>(args.inputs[NBitsInput::kA]);
    for (int64_t row = 0; row < s_.rows; ++row)
      spread_nbits_row(matrix, a + row * s_.k, block, spread + row * step_);
    const NBitsProduct product{spread, step_, s_.rows, static_cast<float*>(args.outputs[0]), s_.n};
    s_.for_columns(threads_, [&](int64_t first, int64_t count, int64_t thread) {
      multiply_nbits_directly(matrix, product, first, count, zeros + thread * of_zeros);
    });
  }

 private:
  MatMulNBitsSizes s_;
  int64_t step_;
  int threads_;
};

class NBitsPanelKernel : public Kernel {
 public:
  NBitsPanelKernel(const KernelRequest& request, const MatMulNBitsSizes& sizes)
      : s_(sizes), threads_(s_.threads(request)) {}

  size_t scratch_bytes() const override {
    return static_cast<size_t>(threads_ * nbits_panel_floats(s_.row)) * sizeof(float);
  }

  void run(const KernelArgs& args) const override {
    const NBitsMatrix matrix = s_.matrix(args);
    auto* scratch = reinterpret_cast<float*>(args.scratch);
    const NBitsProduct product{static_cast<const float*>(args.inputs[NBitsInput::kA]), s_.k,
                               s_.rows, static_cast<float*>(args.outputs[0]), s_.n};
    s_.for_columns(threads_, [&](int64_t first, int64_t count, int64_t thread) {
      multiply_nbits_by_panels(matrix, product, first, count,
                               scratch + thread * nbits_panel_floats(s_.row));
    });
  }

 private:
  MatMulNBitsSizes s_;
  int threads_;
};

Prepared prepare_nbits(const KernelRequest& request) {
  for (const size_t slot : {NBitsInput::kA, NBitsInput::kScales, NBitsInput::kBias}) {
    if (request.has(slot) && request.inputs[slot].dtype != DType::kFloat) {
      return Prepared::refuse("only float is computed here");
    }
  }
  if (request.has(NBitsInput::kGroups)) return Prepared::refuse("groups in another order");
  if (element_count(request.outputs[0].shape) == 0) return Prepared::refuse("no elements");
  const MatMulNBitsSizes sizes(request, request.attrs<ops::NBitsAttrs>());
  if (sizes.rows >= kMinPanelRows)
    return Prepared::accept(std::make_unique<NBitsPanelKernel>(request, sizes), "panels");
  return Prepared::accept(std::make_unique<NBitsKernel>(request, sizes), "simd");
}

constexpr KernelEntry kNbitsEntries[] = {
    {"com.microsoft::MatMulNBits", "matmul_nbits", prepare_nbits}};

}  // namespace

std::span<const KernelEntry> matmul_nbits_kernels() {
  return kNbitsEntries;
}

}  // namespace sardonyx::cpu
