// com.microsoft's MatMulNBits in float: the weights are read as they lie, a few bits each, so that
// a product of one row takes as long as reading them does.
#include <omp.h>

#include <algorithm>

#include "ir/ops/nbits.h"
#include "providers/cpu/entries.h"
#include "providers/cpu/nbits_rows.h"

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
    has_bias_ = request.has(NBitsInput::kBias);
    const double work =
        static_cast<double>(rows_) * static_cast<double>(k_) * static_cast<double>(n_);
    threads_ = work > 1e5 ? request.threads : 1;
  }

  size_t scratch_bytes() const override {
    return (static_cast<size_t>(rows_) * row_.length() +
            static_cast<size_t>(threads_) * row_.blocks + row_.block_size()) *
           sizeof(float);
  }

  // Scratch: A spread, a row of zero points for each thread, one block.
  void run(const KernelArgs& args) const override {
    auto* spread = reinterpret_cast<float*>(args.scratch);
    float* zeros = spread + static_cast<size_t>(rows_) * row_.length();
    float* block = zeros + static_cast<size_t>(threads_) * row_.blocks;
    for (int64_t row = 0; row < rows_; ++row)
      spread_row(args, row, block, spread + static_cast<size_t>(row) * row_.length());
    if (threads_ == 1) {
      for (int64_t column = 0; column < n_; ++column)
        multiply(args, column, spread, zeros);
      return;
    }
#pragma omp parallel num_threads(threads_)
    {
      float* own = zeros + static_cast<size_t>(omp_get_thread_num()) * row_.blocks;
#pragma omp for
      for (int64_t column = 0; column < n_; ++column)
        multiply(args, column, spread, own);
    }
  }

 private:
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

  void multiply(const KernelArgs& args, int64_t column, const float* spread, float* zeros) const {
    const auto at = static_cast<size_t>(column);
    const auto* weights = static_cast<const uint8_t*>(args.inputs[NBitsInput::kB]) +
                          at * row_.blocks * row_.block_bytes;
    const float* scales =
        static_cast<const float*>(args.inputs[NBitsInput::kScales]) + at * row_.blocks;
    read_zeros(args, column, zeros);
    const float bias =
        has_bias_ ? static_cast<const float*>(args.inputs[NBitsInput::kBias])[column] : 0;
    auto* out = static_cast<float*>(args.outputs[0]);
    for (int64_t row = 0; row < rows_; row += kNBitsRowsAtOnce) {
      const int64_t rows = std::min<int64_t>(kNBitsRowsAtOnce, rows_ - row);
      float products[kNBitsRowsAtOnce];
      multiply_nbits(row_, weights, scales, zeros,
                     spread + static_cast<size_t>(row) * row_.length(), static_cast<size_t>(rows),
                     products);
      for (int64_t r = 0; r < rows; ++r)
        out[(row + r) * n_ + column] = products[r] + bias;
    }
  }

  int64_t k_, n_, rows_;
  NBitsRow row_;
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

constexpr KernelEntry kEntries[] = {{"com.microsoft::MatMulNBits", "rows", prepare}};

}  // namespace

std::span<const KernelEntry> nbits_entries() {
  return kEntries;
}

}  // namespace sardonyx::cpu
