// ArgMax, ArgMin, TopK and Hardmax on float32.
#include <algorithm>
#include <limits>

#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_loops.h"
#include "ir/ops/normalization/softmax.h"
#include "ir/ops/reduction/arg_max_top_k.h"
#include "ir/ops/reduction/reduce.h"
#include "ir/ops/reference/arg_extreme.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/kernel_list.h"
#include "providers/cpu/reduction/radix_sort.h"
#include "providers/cpu/reduction/reduce_kernel.h"
#include "providers/cpu/reduction/top_k_kernel.h"

namespace sardonyx::cpu {
namespace {

// The threads for the lines of an axis; columns are split in blocks of kMaxColumns.
int threads_for_lines(const KernelRequest& request, const AxisSplit& split) {
  constexpr auto kMax = static_cast<int64_t>(kMaxColumns);
  const int64_t elements = split.outer * split.size * split.inner;
  return static_cast<int>(std::min<int64_t>({request.threads, elements / kElementsPerThread + 1,
                                             split.outer * ((split.inner + kMax - 1) / kMax)}));
}

class ExtremeKernel : public Kernel {
 public:
  ExtremeKernel(const KernelRequest& request, const AxisSplit& split, bool is_max)
      : s_(split),
        is_max_(is_max),
        last_(request.attrs<ops::ArgReduceAttrs>().select_last_index),
        threads_(threads_for_lines(request, split)) {}

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const float*>(args.inputs[0]);
    auto* out = static_cast<int64_t*>(args.outputs[0]);
    if (s_.inner == 1) {
      for_each_task(s_.outer, threads_, s_.size,
                    [&](int64_t row) { out[row] = of_row(in + row * s_.size); });
      return;
    }
    constexpr auto kMax = static_cast<int64_t>(kMaxColumns);
    const int64_t blocks = (s_.inner + kMax - 1) / kMax;
    for_each_task(s_.outer * blocks, threads_, s_.size * kMax, [&](int64_t task) {
      const int64_t image = task / blocks, first = task % blocks * kMax;
      find_in_columns(is_max_, in + image * s_.size * s_.inner + first,
                      static_cast<size_t>(s_.size), static_cast<size_t>(s_.inner),
                      static_cast<size_t>(std::min(kMax, s_.inner - first)), last_,
                      out + image * s_.inner + first);
    });
  }

 private:
  int64_t of_row(const float* row) const {
    // Rows up to this are scanned element by element, which costs less than two kernel calls.
    constexpr int64_t kFew = 16;
    if (s_.size < kFew) {
      return is_max_ ? ops::find_extreme<true>(row, s_.size, 1, last_)
                     : ops::find_extreme<false>(row, s_.size, 1, last_);
    }
    const auto count = static_cast<size_t>(s_.size);
    const float extreme = reduce_row(is_max_ ? ReduceOp::kMax : ReduceOp::kMin, row, count);
    return find_in_row(row, count, extreme, last_);
  }

  AxisSplit s_;
  bool is_max_, last_;
  int threads_;
};

// The first of the greatest elements of a row; a NaN counts as the greatest.
int64_t first_greatest(const float* row, int64_t size) {
  constexpr int64_t kFew = 16;  // two calls cost more than looking at each
  if (size < kFew) return ops::find_extreme<true>(row, size, 1, false);
  const auto count = static_cast<size_t>(size);
  return find_in_row(row, count, reduce_row(ReduceOp::kMax, row, count), false);
}

class HardmaxKernel : public Kernel {
 public:
  HardmaxKernel(const KernelRequest& request, const AxisSplit& split)
      : s_(split), threads_(threads_for_lines(request, split)) {}

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const float*>(args.inputs[0]);
    auto* out = static_cast<float*>(args.outputs[0]);
    for_each_task(s_.outer, threads_, s_.size, [&](int64_t row) {
      const int64_t winner = first_greatest(in + row * s_.size, s_.size);
      std::fill_n(out + row * s_.size, s_.size, 0.0f);
      out[row * s_.size + winner] = 1;
    });
  }
  // A row is read before it is written.
  bool may_alias(size_t, size_t) const override { return true; }

 private:
  AxisSplit s_;
  int threads_;
};

class TopKernel : public Kernel {
 public:
  TopKernel(const KernelRequest& request, const AxisSplit& split, int64_t wanted)
      : s_(split),
        wanted_(static_cast<size_t>(wanted)),
        largest_(request.attrs<ops::TopKAttrs>().largest),
        wants_values_(request.wants(0)),
        wants_positions_(request.wants(1)),
        threads_(threads_for_lines(request, split)) {}

  // Scratch of each thread: the memory of the sort, and positions if that output is unused.
  size_t scratch_bytes() const override {
    return wanted_ > kMaxAtTop ? static_cast<size_t>(threads_) * thread_bytes() : 0;
  }

  void run(const KernelArgs& args) const override {
    const auto* in = static_cast<const float*>(args.inputs[0]);
    auto* values = wants_values_ ? static_cast<float*>(args.outputs[0]) : nullptr;
    auto* positions = wants_positions_ ? static_cast<int64_t*>(args.outputs[1]) : nullptr;
    if (wanted_ > kMaxAtTop) return run_many(in, values, positions, args.scratch);
    for_each_task(s_.outer, threads_, s_.size, [&](int64_t row) {
      float spare_values[kMaxAtTop];
      int64_t spare_positions[kMaxAtTop];
      const auto at = static_cast<size_t>(row) * wanted_;
      of_row(in + row * s_.size, values ? values + at : spare_values,
             positions ? positions + at : spare_positions);
    });
  }

 private:
  void of_row(const float* row, float* values, int64_t* positions) const {
    if (take_top(row, static_cast<size_t>(s_.size), wanted_, largest_, values, positions)) return;
    ops::find_first(row, s_.size, 1, largest_, std::span(positions, wanted_));
    for (size_t i = 0; i < wanted_; ++i)
      values[i] = row[positions[i]];
  }

  size_t thread_bytes() const {
    return key_order_scratch(static_cast<size_t>(s_.size)) + (wanted_ + 7) / 8 * 64;
  }

  void run_many(const float* in, float* values, int64_t* positions, std::byte* scratch) const {
    const auto size = static_cast<size_t>(s_.size);
    for_each_task(s_.outer, threads_, 16 * s_.size, [&](int64_t task, size_t thread) {
      const auto row = static_cast<size_t>(task);
      std::byte* own = scratch + thread * thread_bytes();
      auto* found = positions ? positions + row * wanted_
                              : reinterpret_cast<int64_t*>(own + key_order_scratch(size));
      order_by_keys(in + row * size, size, wanted_, largest_, own, found);
      for (size_t i = 0; values && i < wanted_; ++i)
        values[row * wanted_ + i] = in[row * size + static_cast<size_t>(found[i])];
    });
  }

  AxisSplit s_;
  size_t wanted_;
  bool largest_, wants_values_, wants_positions_;
  int threads_;
};

Prepared prepare_extreme(const KernelRequest& request) {
  const Shape& x = request.inputs[0].shape;
  if (request.inputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  if (x.empty() || element_count(x) == 0) return Prepared::refuse("there are no elements");
  const AxisSplit split = split_at(x, axis_of(request.attrs<ops::ArgReduceAttrs>().axis, x.size()));
  if (split.size > std::numeric_limits<int32_t>::max())
    return Prepared::refuse("positions are counted in 32 bits here");
  return Prepared::accept(
      std::make_unique<ExtremeKernel>(request, split, request.op.name == "ArgMax"), "simd");
}

Prepared prepare_hardmax(const KernelRequest& request) {
  const Shape& x = request.inputs[0].shape;
  if (request.inputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  if (x.empty() || element_count(x) == 0) return Prepared::refuse("there are no elements");
  const AxisSplit split = split_at(x, axis_of(request.attrs<ops::SoftmaxAttrs>().axis, x.size()));
  if (split.inner != 1) return Prepared::refuse("not along the last axis");
  return Prepared::accept(std::make_unique<HardmaxKernel>(request, split), "simd");
}

Prepared prepare_top(const KernelRequest& request) {
  const Shape& x = request.inputs[0].shape;
  if (request.inputs[0].dtype != DType::kFloat)
    return Prepared::refuse("only float is computed here");
  if (x.empty() || element_count(x) == 0) return Prepared::refuse("there are no elements");
  const size_t axis = axis_of(request.attrs<ops::TopKAttrs>().axis, x.size());
  const AxisSplit split = split_at(x, axis);
  if (split.inner != 1) return Prepared::refuse("not along the last axis");
  const int64_t wanted = request.outputs[request.wants(0) ? 0 : 1].shape[axis];
  if (wanted < 1) return Prepared::refuse("nothing is wanted");
  if (wanted > static_cast<int64_t>(kMaxAtTop) && split.size > static_cast<int64_t>(kMaxKeys))
    return Prepared::refuse("long rows are left to a heap");
  return Prepared::accept(std::make_unique<TopKernel>(request, split, wanted), "simd");
}

constexpr KernelEntry kOrderEntries[] = {{"ArgMax", "arg_max_top_k", prepare_extreme},
                                         {"ArgMin", "arg_max_top_k", prepare_extreme},
                                         {"Hardmax", "arg_max_top_k", prepare_hardmax},
                                         {"TopK", "arg_max_top_k", prepare_top}};

}  // namespace

std::span<const KernelEntry> arg_max_top_k_kernels() {
  return kOrderEntries;
}

}  // namespace sardonyx::cpu
