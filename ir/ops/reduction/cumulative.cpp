// Ops that walk along an axis or a diagonal: CumSum, CumProd, Trilu.
#include <algorithm>
#include <span>
#include <vector>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/counted_strings.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/strides.h"
#include "ir/ops/gradient/gradient_rules.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reduction/cumulative_gradient.h"
#include "ir/ops/reduction/reduce.h"
#include "ir/ops/reference/accumulate.h"

namespace sardonyx::ops {
namespace {

void infer_cumulative(InferContext& c) {
  require_single(c, 1);
  const auto rank = rank_of(c, 0);
  const auto axis = c.int64s(1);
  if (rank == 0) c.fail_input(0, "expected rank 1 or more, got a scalar");
  if (rank && axis && axis->size() == 1) c.normalized_axis((*axis)[0], *rank);
  same_as_first(c);
}

// The axis, which need not be known before the run.
size_t checked_axis(const KernelCall& call) {
  const TensorView& view = call.inputs[1];
  const int64_t axis = view.dtype == DType::kInt32 ? *view.data<int32_t>() : *view.data<int64_t>();
  const auto rank = static_cast<int64_t>(call.inputs[0].rank());
  if (axis < -rank || axis >= rank) {
    fail(ErrorCode::kInvalidArgument, call.op.name, ": axis ", axis, " is out of range [", -rank,
         ", ", rank - 1, "]");
  }
  return axis_of(axis, call.inputs[0].rank());
}

// Takes x into a running total; gives that as it was before where `exclusive`.
template <bool is_product, typename T>
T take_in(Accumulator<T>& total, T x, bool exclusive) {
  const Accumulator<T> before = total;
  if constexpr (is_product)
    total *= widened(x);
  else
    total += widened(x);
  return narrowed<T>(exclusive ? before : total);
}

// Takes kCount elements that are adjacent into their totals; y may be x. The number is fixed
// and the copies are local, so that compilers make vectors of it.
template <bool is_product, bool is_exclusive, size_t kCount, typename T>
void take_in_piece(Accumulator<T>* totals, const T* x, T* y) {
  T in[kCount], out[kCount];
  std::copy_n(x, kCount, in);
  for (size_t i = 0; i < kCount; ++i)
    out[i] = take_in<is_product>(totals[i], in[i], is_exclusive);
  std::copy_n(out, kCount, y);
}

template <bool is_product, bool is_exclusive, typename T>
void take_in_row(std::span<Accumulator<T>> totals, const T* x, T* y) {
  constexpr size_t kPiece = 4;
  size_t i = 0;
  for (; i + kPiece <= totals.size(); i += kPiece)
    take_in_piece<is_product, is_exclusive, kPiece>(&totals[i], x + i, y + i);
  for (; i < totals.size(); ++i)
    y[i] = take_in<is_product>(totals[i], x[i], is_exclusive);
}

template <bool is_product>
void run_cumulative(const KernelCall& call) {
  const CumulativeAttrs& attrs = call.attrs<CumulativeAttrs>();
  const TensorView& in = call.inputs[0];
  const AxisSplit split = split_at(in.shape, checked_axis(call));
  const auto run = [&]<typename T>() {
    // Adjacent lines are processed in one pass, so that memory is walked in order.
    std::pmr::vector<Accumulator<T>> totals(static_cast<size_t>(split.inner), scratch());
    const auto take_row =
        attrs.exclusive ? take_in_row<is_product, true, T> : take_in_row<is_product, false, T>;
    const int64_t step = attrs.reverse ? -split.inner : split.inner;
    for (int64_t outer = 0; outer < split.outer; ++outer) {
      check_interrupted();
      const int64_t begin = outer * split.size + (attrs.reverse ? split.size - 1 : 0);
      const T* x = in.data<T>() + begin * split.inner;
      T* y = call.outputs[0].data<T>() + begin * split.inner;  // may be x
      if (split.inner == 1) {
        Accumulator<T> total{is_product};  // in a register
        for (int64_t i = 0; i < split.size; ++i)
          y[i * step] = take_in<is_product>(total, x[i * step], attrs.exclusive);
        continue;
      }
      std::ranges::fill(totals, Accumulator<T>{is_product});
      for (int64_t i = 0; i < split.size; ++i)
        take_row(totals, x + i * step, y + i * step);
    }
  };
  detail::dispatch_among<float, double, Float16, BFloat16, int64_t, int32_t, uint32_t, uint64_t>(
      in.dtype, run);
}

void infer_trilu(InferContext& c) {
  require_single(c, 1);
  if (rank_of(c, 0).value_or(2) < 2) c.fail_input(0, "expected rank 2 or more");
  same_as_first(c);
}

// Rows of up to this many bytes are taken through masks, longer ones in two pieces.
constexpr size_t kMaskedBytes = 512;

// Keeps one side of rows of one length: elements from `edge` on (`upper`), or those before it.
template <typename T>
class SideOfRows {
 public:
  SideOfRows(int64_t columns, bool upper) : columns_(columns), upper_(upper) {
    if constexpr (std::is_unsigned_v<T>) {
      if (static_cast<size_t>(columns) > kMasks) return;
      is_masked_ = true;
      // What is kept of a row begins `columns - edge` masks from the first one.
      std::fill_n(masks_, columns, upper ? T{} : static_cast<T>(~T{}));
      std::fill_n(masks_ + columns, columns, upper ? static_cast<T>(~T{}) : T{});
    }
  }

  void keep(const T* from, int64_t edge, T* to) const {
    if constexpr (std::is_unsigned_v<T>) {
      if (is_masked_) return keep_masked(from, masks_ + columns_ - edge, to);
    }
    if (upper_) {
      std::fill(to, to + edge, T{});
      copy_elements(from + edge, columns_ - edge, to + edge);
    } else {
      copy_elements(from, edge, to);
      std::fill(to + edge, to + columns_, T{});
    }
  }

 private:
  static constexpr size_t kMasks = std::is_unsigned_v<T> ? kMaskedBytes / sizeof(T) : 1;

  // `to` may be `from`.
  void keep_masked(const T* from, const T* masks, T* to) const {
    for (int64_t i = 0; i < columns_; ++i)
      to[i] = static_cast<T>(from[i] & masks[i]);
  }

  int64_t columns_;
  bool upper_, is_masked_ = false;
  T masks_[2 * kMasks];
};

void run_trilu(const KernelCall& call) {
  constexpr int64_t kElementsBetweenChecks = 1 << 16;
  const bool upper = call.attrs<TriluAttrs>().upper;
  const TensorView& in = call.inputs[0];
  const int64_t k = call.has(1) ? *call.inputs[1].data<int64_t>() : 0;
  const int64_t rows = in.shape[in.rank() - 2], columns = in.shape[in.rank() - 1];
  const int64_t matrices = rows == 0 || columns == 0 ? 0 : in.count() / (rows * columns);
  const int64_t first = std::clamp<int64_t>(k, -rows, columns) + (upper ? 0 : 1);
  dispatch_width(in.dtype, [&]<typename T>() {
    const T* from = in.data<T>();
    T* to = call.outputs[0].data<T>();
    const SideOfRows<T> side(columns, upper);
    const int64_t matrices_between_checks = kElementsBetweenChecks / (rows * columns + 1) + 1;
    for (int64_t matrix = 0; matrix < matrices; ++matrix) {
      if (matrix % matrices_between_checks == 0) check_interrupted();
      const int64_t rows_between_checks = kElementsBetweenChecks / columns + 1;
      for (int64_t row = 0; row < rows; ++row, from += columns, to += columns) {
        if (row > 0 && row % rows_between_checks == 0) check_interrupted();
        // Columns [0, edge) are below the diagonal k, or on it where the lower part is kept.
        side.keep(from, std::clamp<int64_t>(first + row, 0, columns), to);
      }
    }
  });
}

Vals trilu_gradient(Emitter& e, const GradCall& c) {
  Vals inputs(c.inputs.begin(), c.inputs.end());
  inputs[0] = c.d_outputs[0];
  return e.emit(c.op, inputs, c.raw_attrs, 1);
}

std::vector<Sample> cumulative_samples() {
  const auto axis = [](int64_t value) {
    return SampleInput{.shape = {}, .value = Tensor::scalar(value)};
  };
  return {
      {.inputs = {{.shape = {5}}, axis(0)}},
      {.inputs = {{.shape = {2, 3, 2}}, axis(-2)}, .attrs = {{"exclusive", int64_t{1}}}},
      {.inputs = {{.shape = {2, 3}}, axis(1)}, .attrs = {{"reverse", int64_t{1}}}},
      {.inputs = {{.shape = {2, 3}}, {.shape = {}, .value = Tensor::scalar<int32_t>(0)}},
       .attrs = {{"reverse", int64_t{1}}, {"exclusive", int64_t{1}}}},
      {.inputs = {{.shape = {0, 3}}, axis(0)}},
  };
}

std::vector<Sample> trilu_samples() {
  const auto k = [](int64_t value) {
    return SampleInput{.shape = {}, .value = Tensor::scalar(value)};
  };
  return {
      {.inputs = {{.shape = {3, 4}}}},
      {.inputs = {{.shape = {2, 4, 3}}, k(1)}, .attrs = {{"upper", int64_t{0}}}},
      {.inputs = {{.shape = {3, 3}}, k(-5)}},
      {.inputs = {{.shape = {0, 3}}, k(1)}},
  };
}

OpDef cumulative_row(std::string_view name, int since, void (*reference)(const KernelCall&),
                     Vals (*grad)(Emitter&, const GradCall&)) {
  constexpr DTypeSet kTypes =
      kFloats | DTypeSet{DType::kUInt32, DType::kUInt64, DType::kInt32, DType::kInt64};
  return {.name = name,
          .since = since,
          .signature = "(x: T, axis: T2) -> (y: T)",
          .types = {{"T", kTypes}, {"T2", DTypeSet{DType::kInt32, DType::kInt64}}},
          .attrs = attr_schema<CumulativeAttrs>(),
          .infer = infer_cumulative,
          .reference = reference,
          .grad = grad,
          .samples = cumulative_samples};
}

}  // namespace

std::span<const OpDef> cumulative_ops() {
  static const OpDef kOps[] = {
      cumulative_row("CumSum", 14, run_cumulative<false>, cumulative_sum_gradient)
          .documented("Running sums along an axis, which may leave out the element itself and go "
                      "backwards.")
          .with(kFloat32InMixed),
      cumulative_row("CumProd", 26, run_cumulative<true>, cumulative_product_gradient)
          .documented("Running products along an axis, which may leave out the element itself and "
                      "go backwards.")
          .with(kFloat32InMixed),
      {.name = "Trilu",
       .doc = "The upper or lower triangle of the last two axes from the k-th diagonal, zeros "
              "elsewhere.",
       .since = 14,
       .signature = "(input: T, k?: int64) -> (output: T)",
       .types = {{"T", kClassicTypes | DType::kBFloat16}},
       .attrs = attr_schema<TriluAttrs>(),
       .infer = infer_trilu,
       .reference = run_trilu,
       .grad = trilu_gradient,
       .samples = trilu_samples},
  };
  return kOps;
}

}  // namespace sardonyx::ops
