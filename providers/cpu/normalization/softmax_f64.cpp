// Softmax and LogSoftmax of float64 along any axis.
#include <algorithm>
#include <cmath>

#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/normalization/softmax.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/normalization/softmax_f64_kernel.h"

namespace sardonyx::cpu {
namespace {

// Columns at a time: what an axis of some dozens has of them stays near.
constexpr int64_t kColumnsOfTile = 256;
// Exponentials between two looks at the clock: a fraction of a millisecond.
constexpr int64_t kExponentialsPerPoll = 1 << 16;

class SoftmaxF64 : public Kernel {
 public:
  SoftmaxF64(AxisSplit split, bool is_log, int threads)
      : s_(split),
        is_log_(is_log),
        tile_(std::min(split.inner, kColumnsOfTile)),
        tiles_((split.inner + tile_ - 1) / tile_) {
    const int64_t count = s_.outer * s_.size * s_.inner;
    threads_ = static_cast<int>(std::min<int64_t>(threads, count / kElementsPerThread + 1));
  }

  size_t scratch_bytes() const override {
    if (s_.inner == 1) return 0;
    return static_cast<size_t>(threads_) * 2 * kColumnsOfTile * sizeof(double);
  }

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const double*>(args.inputs[0]);
    auto* out = static_cast<double*>(args.outputs[0]);
    auto* scratch = reinterpret_cast<double*>(args.scratch);
    const CancelFlag sign;  // a line may be all that there is
    const int64_t tasks = s_.outer * tiles_, work = tile_ * s_.size;
    for_each_task(tasks, threads_, work, [&](int64_t task, int64_t seat) {
      const int64_t column = task % tiles_ * kColumnsOfTile;
      const int64_t at = task / tiles_ * s_.size * s_.inner + column;
      if (s_.inner == 1) return run_line(in + at, out + at, sign);
      run_tile(in + at, out + at, static_cast<size_t>(std::min(tile_, s_.inner - column)),
               scratch + seat * 2 * kColumnsOfTile, sign);
    });
    sign.check();
  }
  bool may_alias(size_t, size_t input) const override { return input == 0; }

 private:
  // Calls visit(first, count) for pieces of the axis, until `sign` is up.
  template <typename Visit>
  void in_pieces(int64_t piece, const CancelFlag& sign, const Visit& visit) const {
    for (int64_t first = 0; first < s_.size; first += piece) {
      if (first > 0 && sign.ask()) return;
      visit(first, std::min(piece, s_.size - first));
    }
  }

  void run_line(const double* in, double* out, const CancelFlag& sign) const {
    double greatest = in[0], sum = 0;
    const auto each = [&](const auto& visit) {
      in_pieces(kExponentialsPerPoll, sign, [&](int64_t first, int64_t count) {
        visit(in + first, out + first, static_cast<size_t>(count));
      });
    };
    each([&](const double* from, double*, size_t count) {
      greatest = std::max(greatest, greatest_f64(from, count));
    });
    each([&](const double* from, double* to, size_t count) {
      sum += exponentials_f64(from, greatest, is_log_ ? nullptr : to, count);
    });
    const double finish = is_log_ ? std::log(sum) : 1 / sum;
    each([&](const double* from, double* to, size_t count) {
      is_log_ ? log_shares_f64(from, greatest, finish, to, count) : scale_f64(to, finish, count);
    });
  }

  void run_tile(const double* in, double* out, size_t columns, double* scratch,
                const CancelFlag& sign) const {
    double *greatest = scratch, *sums = scratch + kColumnsOfTile;
    std::copy_n(in, columns, greatest);
    std::fill_n(sums, columns, 0.0);
    const auto each_row = [&](const auto& visit) {
      const int64_t rows = kExponentialsPerPoll / tile_;
      in_pieces(rows, sign, [&](int64_t first, int64_t count) {
        for (int64_t row = first; row < first + count; ++row)
          visit(in + row * s_.inner, out + row * s_.inner);
      });
    };
    each_row([&](const double* from, double*) { take_greatest_f64(from, greatest, columns); });
    each_row([&](const double* from, double* to) {
      add_exponentials_f64(from, greatest, sums, is_log_ ? nullptr : to, columns);
    });
    for (size_t i = 0; i < columns; ++i)
      sums[i] = is_log_ ? std::log(sums[i]) : 1 / sums[i];
    each_row([&](const double* from, double* to) {
      is_log_ ? log_shares_each_f64(from, greatest, sums, to, columns)
              : scale_each_f64(to, sums, columns);
    });
  }

  AxisSplit s_;
  bool is_log_;
  int64_t tile_, tiles_;
  int threads_ = 1;
};

template <bool is_log>
Prepared prepare_softmax_f64(const KernelRequest& request) {
  const Shape& x = request.inputs[0].shape;
  if (request.inputs[0].dtype != DType::kDouble)
    return Prepared::refuse("only double is computed here");
  if (x.empty() || element_count(x) == 0) return Prepared::refuse("there are no lines");
  const AxisSplit split = split_at(x, axis_of(request.attrs<ops::SoftmaxAttrs>().axis, x.size()));
  return Prepared::accept(std::make_unique<SoftmaxF64>(split, is_log, request.threads), "simd");
}

constexpr KernelEntry kSoftmaxF64Entries[] = {
    {"Softmax", "softmax_f64", prepare_softmax_f64<false>},
    {"LogSoftmax", "softmax_f64", prepare_softmax_f64<true>},
};

}  // namespace

std::span<const KernelEntry> softmax_f64_kernels() {
  return kSoftmaxF64Entries;
}

}  // namespace sardonyx::cpu
