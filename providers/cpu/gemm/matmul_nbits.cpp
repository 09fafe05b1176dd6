// com.microsoft's MatMulNBits in float. For few rows the packed bits are multiplied directly, so
// that a product of one row is bound by loading them. For more rows a panel of weights at a time is
// dequantized into a near cache, and all rows are multiplied with it.
#include <algorithm>
#include <limits>

#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/quantization/nbits.h"
#include "providers/cpu/gemm/gemm_f32.h"
#include "providers/cpu/gemm/gemm_nbits.h"
#include "providers/cpu/kernel_list.h"

namespace sardonyx::cpu {
namespace {

using ops::NBitsInput;

enum class Zeros : uint8_t { kMiddle, kPacked, kFloat };

// The parameters of the weights, shared by both kernels.
struct NBitsWeights {
  int64_t k, n, rows;
  NBitsRow row;
  int64_t zero_bytes;
  Zeros zeros = Zeros::kMiddle;
  bool has_bias;

  NBitsWeights(const KernelRequest& request, const ops::NBitsAttrs& attrs)
      : k(attrs.K),
        n(attrs.N),
        rows(element_count(request.inputs[NBitsInput::kA].shape) / attrs.K),
        row{static_cast<int>(attrs.bits), static_cast<size_t>(attrs.blocks()),
            static_cast<size_t>(attrs.block_bytes())},
        zero_bytes(attrs.zero_point_bytes()),
        has_bias(request.has(NBitsInput::kBias)) {
    if (request.has(NBitsInput::kZeroPoints)) {
      zeros = request.inputs[NBitsInput::kZeroPoints].dtype == DType::kUInt8 ? Zeros::kPacked
                                                                             : Zeros::kFloat;
    }
  }

  int threads(const KernelRequest& request) const {
    const double work = static_cast<double>(rows) * static_cast<double>(k) * static_cast<double>(n);
    return work > 1e5 ? request.threads : 1;
  }

  // to[b * step] = the zero point of block b of a column.
  void read_zeros(const KernelArgs& args, int64_t column, float* to, size_t step) const {
    const void* given = zeros == Zeros::kMiddle ? nullptr : args.inputs[NBitsInput::kZeroPoints];
    const int mask = (1 << row.bits) - 1;
    for (size_t b = 0; b < row.blocks; ++b) {
      auto zero = static_cast<float>(1 << (row.bits - 1));
      if (zeros == Zeros::kFloat) {
        zero = static_cast<const float*>(given)[static_cast<size_t>(column) * row.blocks + b];
      } else if (zeros == Zeros::kPacked) {
        const auto* bytes = static_cast<const uint8_t*>(given) + column * zero_bytes;
        const size_t values = row.values_per_byte();
        const auto shift = static_cast<int>(b % values) * row.bits;
        zero = static_cast<float>(bytes[b / values] >> shift & mask);
      }
      to[b * step] = zero;
    }
  }
};

class NBitsKernel : public Kernel {
 public:
  NBitsKernel(const KernelRequest& request, const NBitsWeights& weights)
      : w_(weights), row_(w_.row), a_step_(row_.length() + kGap), threads_(w_.threads(request)) {}

  size_t scratch_bytes() const override {
    return (static_cast<size_t>(w_.rows) * a_step_ +
            static_cast<size_t>(threads_) * kColumnsAtOnce * row_.blocks + row_.block_size()) *
           sizeof(float);
  }

  // Scratch: A spread, zero points of some columns for each thread, one block.
  void run(const KernelArgs& args) const override {
    auto* spread = reinterpret_cast<float*>(args.scratch);
    float* zeros = spread + static_cast<size_t>(w_.rows) * a_step_;
    float* block = zeros + static_cast<size_t>(threads_) * kColumnsAtOnce * row_.blocks;
    for (int64_t row = 0; row < w_.rows; ++row)
      spread_row(args, row, block, spread + static_cast<size_t>(row) * a_step_);
    const int64_t groups = (w_.n + kColumnsAtOnce - 1) / kColumnsAtOnce;
    for_each_task(groups, threads_, w_.rows * w_.k * kColumnsAtOnce,
                  [&](int64_t group, size_t thread) {
                    multiply(args, group * kColumnsAtOnce, spread,
                             zeros + thread * kColumnsAtOnce * row_.blocks);
                  });
  }

 private:
  // A few rows of A and these columns of the weights stay in the caches together.
  static constexpr int64_t kColumnsAtOnce = 32;
  // Rows of A are processed in parts of this length, some of which fit an L1 cache; a gap between
  // rows avoids conflict misses there.
  static constexpr size_t kPart = 512;
  static constexpr size_t kGap = 64;

  void spread_row(const KernelArgs& args, int64_t row, float* block, float* spread) const {
    const float* from = static_cast<const float*>(args.inputs[NBitsInput::kA]) + row * w_.k;
    const auto size = static_cast<int64_t>(row_.block_size());
    for (int64_t first = 0; first < static_cast<int64_t>(row_.length()); first += size) {
      const int64_t count = std::min(size, w_.k - first);
      std::copy_n(from + first, count, block);
      std::fill(block + count, block + size, 0.0f);
      spread_block(row_, block, spread + first);
    }
  }

  // The results of the columns from `first` on.
  void multiply(const KernelArgs& args, int64_t first, const float* spread, float* zeros) const {
    const int64_t count = std::min(kColumnsAtOnce, w_.n - first);
    const auto blocks = static_cast<int64_t>(row_.blocks);
    for (int64_t i = 0; i < count; ++i)
      w_.read_zeros(args, first + i, zeros + i * blocks, 1);
    const auto* bias =
        w_.has_bias ? static_cast<const float*>(args.inputs[NBitsInput::kBias]) : nullptr;
    auto* out = static_cast<float*>(args.outputs[0]);
    for (int64_t row = 0; row < w_.rows; row += kNBitsRowsAtOnce) {
      const int64_t rows = std::min<int64_t>(kNBitsRowsAtOnce, w_.rows - row);
      float sums[kColumnsAtOnce][kNBitsRowsAtOnce] = {};
      const bool is_short = w_.rows < static_cast<int64_t>(kNBitsRowsAtOnce);
      const size_t step = is_short ? row_.blocks : std::max<size_t>(1, kPart / row_.block_size());
      for (size_t block = 0; block < row_.blocks; block += step) {
        const NBitsRow part{row_.bits, std::min(step, row_.blocks - block), row_.block_bytes};
        add_part(args, part, block, first, count, zeros,
                 spread + static_cast<size_t>(row) * a_step_, static_cast<size_t>(rows), sums);
      }
      for (int64_t i = 0; i < count; ++i) {
        for (int64_t r = 0; r < rows; ++r)
          out[(row + r) * w_.n + first + i] = sums[i][r] + (bias ? bias[first + i] : 0);
      }
    }
  }

  // Adds the products of the blocks of `part`, which begin at `block`.
  void add_part(const KernelArgs& args, const NBitsRow& part, size_t block, int64_t first,
                int64_t count, const float* zeros, const float* a, size_t rows,
                float (*sums)[kNBitsRowsAtOnce]) const {
    const auto* weights = static_cast<const uint8_t*>(args.inputs[NBitsInput::kB]);
    const auto* scales = static_cast<const float*>(args.inputs[NBitsInput::kScales]);
    for (int64_t i = 0; i < count; ++i) {
      const size_t at = static_cast<size_t>(first + i) * row_.blocks + block;
      float products[kNBitsRowsAtOnce];
      multiply_nbits(part, weights + at * row_.block_bytes, scales + at,
                     zeros + static_cast<size_t>(i) * row_.blocks + block,
                     a + block * row_.block_size(), a_step_, rows, products);
      for (size_t r = 0; r < rows; ++r)
        sums[i][r] += products[r];
    }
  }

  NBitsWeights w_;
  NBitsRow row_;
  size_t a_step_;
  int threads_;
};

class NBitsPanelKernel : public Kernel {
 public:
  NBitsPanelKernel(const KernelRequest& request, const NBitsWeights& weights)
      : w_(weights), threads_(w_.threads(request)) {}

  size_t scratch_bytes() const override {
    return static_cast<size_t>(threads_ * floats_per_thread()) * sizeof(float);
  }

  void run(const KernelArgs& args) const override {
    auto* scratch = reinterpret_cast<float*>(args.scratch);
    const int64_t groups = (w_.n + kGemmF32Unit - 1) / kGemmF32Unit;
    for_each_task(groups, threads_, w_.rows * w_.k * kGemmF32Unit,
                  [&](int64_t group, int64_t thread) {
                    multiply(args, group * kGemmF32Unit, scratch + thread * floats_per_thread());
                  });
  }

 private:
  // Depth of a dequantized panel: an L1 cache holds it beside some rows.
  static constexpr int64_t kPart = 256;

  int64_t blocks() const { return static_cast<int64_t>(w_.row.blocks); }
  int64_t block_size() const { return static_cast<int64_t>(w_.row.block_size()); }
  int64_t floats_per_thread() const {
    return kGemmF32Unit * (2 * blocks() + 2 + kPart) + kGemmF32Unit * kPart;
  }

  // The scratch of a thread.
  struct ThreadScratch {
    float *scales, *zeros, *bias, *none, *panel, *unpacked;
  };
  ThreadScratch work_in(float* scratch) const {
    ThreadScratch work{};
    work.scales = scratch;
    work.zeros = work.scales + blocks() * kGemmF32Unit;
    work.bias = work.zeros + blocks() * kGemmF32Unit;
    work.none = work.bias + kGemmF32Unit;
    work.panel = work.none + kGemmF32Unit;
    work.unpacked = work.panel + kPart * kGemmF32Unit;
    return work;
  }

  // The results of the columns from `first` on.
  void multiply(const KernelArgs& args, int64_t first, float* scratch) const {
    const int64_t count = std::min(kGemmF32Unit, w_.n - first);
    const ThreadScratch work = work_in(scratch);
    prepare_columns(args, first, count, work);
    GemmF32Args product{};
    product.weights = work.panel;
    product.in_step = w_.k;
    product.out = static_cast<float*>(args.outputs[0]) + first;
    product.out_step = w_.n;
    product.outputs = count;
    product.low = -std::numeric_limits<float>::infinity();
    product.high = -product.low;
    constexpr auto kUnit = static_cast<int64_t>(kNBitsInputsUnit);
    for (int64_t at = 0; at < w_.k; at += product.inputs) {
      product.inputs = std::min(kPart, w_.k - at);
      const bool is_whole = count == kGemmF32Unit && product.inputs >= kUnit;
      if (is_whole) product.inputs = product.inputs / kUnit * kUnit;
      unpack(args, first, count, at, product.inputs, is_whole, work);
      product.in = static_cast<const float*>(args.inputs[NBitsInput::kA]) + at;
      product.bias = at == 0 ? work.bias : work.none;
      product.residual = at == 0 ? nullptr : product.out;
      run_gemm_f32(product, 0, w_.rows, 0, count);
    }
  }

  void prepare_columns(const KernelArgs& args, int64_t first, int64_t count,
                       const ThreadScratch& work) const {
    const auto* scales = static_cast<const float*>(args.inputs[NBitsInput::kScales]);
    for (int64_t i = 0; i < count; ++i) {
      for (int64_t b = 0; b < blocks(); ++b)
        work.scales[b * kGemmF32Unit + i] = scales[(first + i) * blocks() + b];
      w_.read_zeros(args, first + i, work.zeros + i, kGemmF32Unit);
    }
    std::fill_n(work.bias, 2 * kGemmF32Unit, 0.0f);
    if (w_.has_bias) {
      const auto* bias = static_cast<const float*>(args.inputs[NBitsInput::kBias]);
      std::copy_n(bias + first, count, work.bias);
    }
  }

  void unpack(const KernelArgs& args, int64_t column, int64_t columns, int64_t first, int64_t count,
              bool is_whole, const ThreadScratch& work) const {
    const size_t column_bytes = w_.row.blocks * w_.row.block_bytes;
    const auto* weights = static_cast<const uint8_t*>(args.inputs[NBitsInput::kB]) +
                          static_cast<size_t>(column) * column_bytes;
    if (is_whole) {
      return unpack_nbits(
          {w_.row.bits, w_.row.block_size(), column_bytes, weights, work.scales, work.zeros},
          static_cast<size_t>(first), static_cast<size_t>(count), work.panel);
    }
    const auto values = static_cast<int64_t>(w_.row.values_per_byte());
    for (int64_t i = 0; i < columns; ++i, weights += column_bytes) {
      for (int64_t at = 0; at < count; ++at) {
        const int64_t input = first + at;
        const int shift = static_cast<int>(input % values) * w_.row.bits;
        const int number = weights[input / values] >> shift & ((1 << w_.row.bits) - 1);
        const int64_t block = input / block_size() * kGemmF32Unit + i;
        work.unpacked[i * count + at] =
            (static_cast<float>(number) - work.zeros[block]) * work.scales[block];
      }
    }
    pack_gemm_f32(work.unpacked, count, 1, count, columns, work.panel);
  }

  NBitsWeights w_;
  int threads_;
};

// From this many rows on dequantizing the weights first is faster.
constexpr int64_t kMinPanelRows = 6;

Prepared prepare_nbits(const KernelRequest& request) {
  for (const size_t slot : {NBitsInput::kA, NBitsInput::kScales, NBitsInput::kBias}) {
    if (request.has(slot) && request.inputs[slot].dtype != DType::kFloat) {
      return Prepared::refuse("only float is computed here");
    }
  }
  if (request.has(NBitsInput::kGroups)) return Prepared::refuse("groups in another order");
  if (element_count(request.outputs[0].shape) == 0) return Prepared::refuse("no elements");
  const auto& attrs = request.attrs<ops::NBitsAttrs>();
  const NBitsWeights weights(request, attrs);
  if (weights.rows >= kMinPanelRows)
    return Prepared::accept(std::make_unique<NBitsPanelKernel>(request, weights), "panels");
  return Prepared::accept(std::make_unique<NBitsKernel>(request, weights), "simd");
}

constexpr KernelEntry kNbitsEntries[] = {
    {"com.microsoft::MatMulNBits", "matmul_nbits", prepare_nbits}};

}  // namespace

std::span<const KernelEntry> matmul_nbits_kernels() {
  return kNbitsEntries;
}

}  // namespace sardonyx::cpu
