// com.microsoft's MatMulNBits in float: the weights are read as they lie, a few bits each, so that
// a product of one row takes as long as reading them does.
#include <omp.h>

#include <algorithm>

#include "ir/ops/nbits.h"
#include "providers/cpu/entries.h"
#include "providers/cpu/nbits_rows.h"
#include "providers/cpu/tasks.h"

namespace sardonyx::cpu {
namespace {

using ops::NBitsInput;

class NBitsKernel : public Kernel {
 public:
  NBitsKernel(const KernelRequest& request, const ops::NBitsAttrs& attrs)
      : k_(attrs.K),
        n_(attrs.N),
        row_{static_cast<int>(attrs.bits), static_cast<size_t>(attrs.blocks()),
             static_cast<size_t>(attrs.block_bytes())},
        zero_bytes_(attrs.zero_point_bytes()) {
    rows_ = element_count(request.inputs[NBitsInput::kA].shape) / k_;
    if (request.has(NBitsInput::kZeroPoints)) {
      zeros_ = request.inputs[NBitsInput::kZeroPoints].dtype == DType::kUInt8 ? Zeros::kPacked
                                                                              : Zeros::kFloat;
    }
    a_step_ = row_.length() + kGap;
    has_bias_ = request.has(NBitsInput::kBias);
    const double work =
        static_cast<double>(rows_) * static_cast<double>(k_) * static_cast<double>(n_);
    threads_ = work > 1e5 ? request.threads : 1;
  }

  size_t scratch_bytes() const override {
    return (static_cast<size_t>(rows_) * a_step_ +
            static_cast<size_t>(threads_) * kColumnsAtOnce * row_.blocks + row_.block_size()) *
           sizeof(float);
  }

  // Scratch: A spread, zero points of some columns for each thread, one block.
  void run(const KernelArgs& args) const override {
    auto* spread = reinterpret_cast<float*>(args.scratch);
    float* zeros = spread + static_cast<size_t>(rows_) * a_step_;
    float* block = zeros + static_cast<size_t>(threads_) * kColumnsAtOnce * row_.blocks;
    for (int64_t row = 0; row < rows_; ++row)
      spread_row(args, row, block, spread + static_cast<size_t>(row) * a_step_);
    const int64_t groups = (n_ + kColumnsAtOnce - 1) / kColumnsAtOnce;
    for_each_task(groups, threads_, rows_ * k_ * kColumnsAtOnce, [&](int64_t group) {
      const size_t thread = threads_ > 1 ? static_cast<size_t>(omp_get_thread_num()) : 0;
      multiply(args, group * kColumnsAtOnce, spread, zeros + thread * kColumnsAtOnce * row_.blocks);
    });
  }

 private:
  // A few rows of A and these columns of the weights stay in the caches together.
  static constexpr int64_t kColumnsAtOnce = 32;
  // Many rows of A come in parts of this length, which a level-1 cache holds some of; a gap between
  // rows keeps them out of each other's way there.
  static constexpr size_t kPart = 512;
  static constexpr size_t kGap = 64;
  enum class Zeros : uint8_t { kMiddle, kPacked, kFloat };

  void spread_row(const KernelArgs& args, int64_t row, float* block, float* spread) const {
    const float* from = static_cast<const float*>(args.inputs[NBitsInput::kA]) + row * k_;
    const auto size = static_cast<int64_t>(row_.block_size());
    for (int64_t first = 0; first < static_cast<int64_t>(row_.length()); first += size) {
      const int64_t count = std::min(size, k_ - first);
      std::copy_n(from + first, count, block);
      std::fill(block + count, block + size, 0.0f);
      spread_block(row_, block, spread + first);
    }
  }

  void read_zeros(const KernelArgs& args, int64_t column, float* zeros) const {
    const void* given = zeros_ == Zeros::kMiddle ? nullptr : args.inputs[NBitsInput::kZeroPoints];
    const int mask = (1 << row_.bits) - 1;
    for (size_t b = 0; b < row_.blocks; ++b) {
      auto zero = static_cast<float>(1 << (row_.bits - 1));
      if (zeros_ == Zeros::kFloat) {
        zero = static_cast<const float*>(given)[static_cast<size_t>(column) * row_.blocks + b];
      } else if (zeros_ == Zeros::kPacked) {
        const auto* bytes = static_cast<const uint8_t*>(given) + column * zero_bytes_;
        const size_t values = row_.values_per_byte();
        const auto shift = static_cast<int>(b % values) * row_.bits;
        zero = static_cast<float>(bytes[b / values] >> shift & mask);
      }
      zeros[b] = zero;
    }
  }

  // The results of the columns from `first` on.
  void multiply(const KernelArgs& args, int64_t first, const float* spread, float* zeros) const {
    const int64_t count = std::min(kColumnsAtOnce, n_ - first);
    const auto blocks = static_cast<int64_t>(row_.blocks);
    for (int64_t i = 0; i < count; ++i)
      read_zeros(args, first + i, zeros + i * blocks);
    const auto* bias =
        has_bias_ ? static_cast<const float*>(args.inputs[NBitsInput::kBias]) : nullptr;
    auto* out = static_cast<float*>(args.outputs[0]);
    for (int64_t row = 0; row < rows_; row += kNBitsRowsAtOnce) {
      const int64_t rows = std::min<int64_t>(kNBitsRowsAtOnce, rows_ - row);
      float sums[kColumnsAtOnce][kNBitsRowsAtOnce] = {};
      const bool is_short = rows_ < static_cast<int64_t>(kNBitsRowsAtOnce);
      const size_t step = is_short ? row_.blocks : std::max<size_t>(1, kPart / row_.block_size());
      for (size_t block = 0; block < row_.blocks; block += step) {
        const NBitsRow part{row_.bits, std::min(step, row_.blocks - block), row_.block_bytes};
        add_part(args, part, block, first, count, zeros,
                 spread + static_cast<size_t>(row) * a_step_, static_cast<size_t>(rows), sums);
      }
      for (int64_t i = 0; i < count; ++i) {
        for (int64_t r = 0; r < rows; ++r)
          out[(row + r) * n_ + first + i] = sums[i][r] + (bias ? bias[first + i] : 0);
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

  int64_t k_, n_, rows_;
  NBitsRow row_;
  size_t a_step_;
  int64_t zero_bytes_;
  Zeros zeros_ = Zeros::kMiddle;
  bool has_bias_;
  int threads_;
};

Prepared prepare(const KernelRequest& request) {
  for (const size_t slot : {NBitsInput::kA, NBitsInput::kScales, NBitsInput::kBias}) {
    if (request.has(slot) && request.inputs[slot].dtype != DType::kFloat) {
      return Prepared::refuse("only float is computed here");
    }
  }
  if (request.has(NBitsInput::kGroups)) return Prepared::refuse("groups in another order");
  if (element_count(request.outputs[0].shape) == 0) return Prepared::refuse("no elements");
  const auto& attrs = request.attrs<ops::NBitsAttrs>();
  return Prepared::accept(std::make_unique<NBitsKernel>(request, attrs), "simd");
}

constexpr KernelEntry kNbitsEntries[] = {{"com.microsoft::MatMulNBits", "rows", prepare}};

}  // namespace

std::span<const KernelEntry> nbits_entries() {
  return kNbitsEntries;
}

}  // namespace sardonyx::cpu
