#include "providers/cpu/reduction/reduce_kernel.h"

#include <cmath>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/reduction/reduce_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/simd/partial_vector-inl.h"
#include "providers/cpu/simd/transpose_4x4-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// How an element is accumulated into a result; `Merged` combines partial results.
struct AddValue {
  using Merged = AddValue;
  template <class T>
  static HWY_INLINE T join(T sum, T x) {
    return hn::Add(sum, x);
  }
};
struct TakeProduct {
  using Merged = TakeProduct;
  template <class T>
  static HWY_INLINE T join(T product, T x) {
    return hn::Mul(product, x);
  }
};
struct AddSquare {
  using Merged = AddValue;
  template <class T>
  static HWY_INLINE T join(T sum, T x) {
    return hn::MulAdd(x, x, sum);
  }
};
struct AddMagnitude {
  using Merged = AddValue;
  template <class T>
  static HWY_INLINE T join(T sum, T x) {
    return hn::Add(sum, hn::Abs(x));
  }
};
// Min and Max by instructions that drop NaNs, which NanWatch restores.
struct TakeMax {
  using Merged = TakeMax;
  template <class T>
  static HWY_INLINE T join(T a, T b) {
    return hn::Max(a, b);
  }
};
struct TakeMin {
  using Merged = TakeMin;
  template <class T>
  static HWY_INLINE T join(T a, T b) {
    return hn::Min(a, b);
  }
};
template <typename Op>
constexpr bool kLosesNan = std::is_same_v<Op, TakeMax> || std::is_same_v<Op, TakeMin>;

// Records whether any element was NaN: the result is NaN then, as in numpy. The bits of a NaN,
// without the sign, are larger as an integer than those of any number.
template <bool kWatches>
class NanWatch {
 public:
  HWY_INLINE NanWatch() : largest_(hn::Zero(hn::RebindToSigned<D>())) {}
  HWY_INLINE void see(V x) {
    if constexpr (kWatches) {
      const hn::RebindToSigned<D> di;
      largest_ = hn::Max(largest_, hn::BitCast(di, hn::Abs(x)));
    }
  }
  HWY_INLINE V checked(V result) const {
    if constexpr (!kWatches) return result;
    const hn::RebindToSigned<D> di;
    const V nan = hn::BitCast(D(), hn::Max(largest_, hn::Set(di, 0x7f800000)));
    return hn::IfThenElse(hn::IsNaN(nan), nan, result);
  }

 private:
  hn::Vec<hn::RebindToSigned<D>> largest_;
};

// The reduction of the lanes of a vector.
template <typename Op, class Some>
HWY_INLINE float merged_lanes(Some d, hn::Vec<Some> x) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(Some()) > 1) {
    const hn::Half<Some> half;
    return merged_lanes<Op>(half, Op::Merged::join(hn::LowerHalf(half, x), hn::UpperHalf(half, x)));
  }
#endif
  (void)d;
  return hn::GetLane(x);
}

// `start` is neutral to join.
template <typename Op>
HWY_INLINE float row_of(const float* in, size_t count, float start) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sums[4] = {hn::Set(d, start), hn::Set(d, start), hn::Set(d, start), hn::Set(d, start)};
  NanWatch<kLosesNan<Op>> watches[4];
  const auto join = [&](size_t k, V x) HWY_ATTR {
    watches[k].see(x);
    sums[k] = Op::join(sums[k], x);
  };
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    for (size_t k = 0; k < 4; ++k)
      join(k, hn::LoadU(d, in + i + k * lanes));
  }
  for (; i + lanes <= count; i += lanes)
    join(0, hn::LoadU(d, in + i));
  if (i < count) {
    const V rest = load_part(d, in + i, count - i);
    join(1, hn::IfThenElse(hn::FirstN(d, count - i), rest, hn::Set(d, start)));
  }
  V total =
      Op::Merged::join(Op::Merged::join(sums[0], sums[1]), Op::Merged::join(sums[2], sums[3]));
  for (size_t k = 0; k < 4; ++k)
    total = watches[k].checked(total);
  if (kLosesNan<Op> && !hn::AllFalse(d, hn::IsNaN(total))) return NAN;
  return merged_lanes<Op>(d, total);
}

// Rows up to this length are reduced in parallel, one in each lane.
constexpr size_t kShortRow = 64;

// Reduces as many short rows as a vector has lanes, one row per lane.
template <typename Op>
HWY_INLINE void short_rows_of(const float* in, size_t count, float start, float* out) {
#if HWY_TARGET != HWY_SCALAR
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sums[2] = {hn::Set(d, start), hn::Set(d, start)};
  NanWatch<kLosesNan<Op>> watch;
  const auto join = [&](size_t k, V x) HWY_ATTR {
    watch.see(x);
    sums[k] = Op::join(sums[k], x);
  };
  size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const auto transposed = transpose_4(d, in + i, static_cast<int64_t>(count));
    join(0, transposed.a);
    join(1, transposed.b);
    join(0, transposed.c);
    join(1, transposed.d);
  }
  HWY_ALIGN float rest[hn::MaxLanes(d)];
  for (; i < count; ++i) {
    for (size_t row = 0; row < lanes; ++row)
      rest[row] = in[row * count + i];
    join(0, hn::Load(d, rest));
  }
  hn::StoreU(watch.checked(Op::Merged::join(sums[0], sums[1])), d, out);
#else
  (void)in, (void)count, (void)start, (void)out;
#endif
}

template <typename Op>
HWY_INLINE void rows_of(const float* in, size_t rows, size_t count, float start, float* out) {
  const size_t lanes = hn::Lanes(D());
  size_t row = 0;
  if (count <= kShortRow && hn::MaxLanes(D()) >= 4) {
    for (; row + lanes <= rows; row += lanes)
      short_rows_of<Op>(in + row * count, count, start, out + row);
  }
  for (; row < rows; ++row)
    out[row] = row_of<Op>(in + row * count, count, start);
}

// Reduces kCount vectors of adjacent columns.
template <typename Op, size_t kCount>
HWY_INLINE void columns_at(const float* in, size_t rows, size_t width, float start, float* out) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sums[kCount];
  NanWatch<kLosesNan<Op>> watches[kCount];
  for (size_t k = 0; k < kCount; ++k)
    sums[k] = hn::Set(d, start);
  for (size_t row = 0; row < rows; ++row) {
    for (size_t k = 0; k < kCount; ++k) {
      const V x = hn::LoadU(d, in + row * width + k * lanes);
      watches[k].see(x);
      sums[k] = Op::join(sums[k], x);
    }
  }
  for (size_t k = 0; k < kCount; ++k)
    hn::StoreU(watches[k].checked(sums[k]), d, out + k * lanes);
}

template <typename Op>
HWY_INLINE void columns_of(const float* in, size_t rows, size_t width, float start, float* out) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + 4 * lanes <= width; i += 4 * lanes)
    columns_at<Op, 4>(in + i, rows, width, start, out + i);
  for (; i + lanes <= width; i += lanes)
    columns_at<Op, 1>(in + i, rows, width, start, out + i);
  for (; i < width; ++i) {
    V sum = hn::Set(d, start);
    NanWatch<kLosesNan<Op>> watch;
    for (size_t row = 0; row < rows; ++row) {
      const V x = hn::Set(d, in[row * width + i]);
      watch.see(x);
      sum = Op::join(sum, x);
    }
    out[i] = hn::GetLane(watch.checked(sum));
  }
}

// Calls use(op, neutral element) for the joins of `op`.
template <typename Use>
HWY_INLINE void with_join(ReduceOp op, const Use& use) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kMean:
    case ReduceOp::kLogSum:
      return use(AddValue(), 0.0f);
    case ReduceOp::kProduct:
      return use(TakeProduct(), 1.0f);
    case ReduceOp::kMax:
      return use(TakeMax(), -HUGE_VALF);
    case ReduceOp::kMin:
      return use(TakeMin(), HUGE_VALF);
    case ReduceOp::kSumSquare:
    case ReduceOp::kL2:
      return use(AddSquare(), 0.0f);
    case ReduceOp::kL1:
      return use(AddMagnitude(), 0.0f);
  }
}

void ReduceRows(ReduceOp op, const float* in, size_t rows, size_t count, float* out) {
  with_join(op, [&](auto join, float start)
                    HWY_ATTR { rows_of<decltype(join)>(in, rows, count, start, out); });
}

void ReduceColumns(ReduceOp op, const float* in, size_t rows, size_t width, float* out) {
  with_join(op, [&](auto join, float start)
                    HWY_ATTR { columns_of<decltype(join)>(in, rows, width, start, out); });
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(ReduceRows);
HWY_EXPORT(ReduceColumns);

namespace {

// Turns accumulated values of `count` elements each into results, such as means.
void finish(ReduceOp op, float* results, size_t results_count, size_t count) {
  const auto number = static_cast<float>(count);
  for (size_t i = 0; i < results_count; ++i) {
    float& result = results[i];
    if (op == ReduceOp::kMean) result /= number;
    if (op == ReduceOp::kLogSum) result = std::log(result);
    if (op == ReduceOp::kL2) result = std::sqrt(result);
  }
}

bool is_finished_after(ReduceOp op) {
  return op == ReduceOp::kMean || op == ReduceOp::kL2 || op == ReduceOp::kLogSum;
}

}  // namespace

void reduce_rows(ReduceOp op, const float* in, size_t rows, size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(ReduceRows)(op, in, rows, count, out);
  if (is_finished_after(op)) finish(op, out, rows, count);
}

float reduce_row(ReduceOp op, const float* in, size_t count) {
  float result = 0;
  reduce_rows(op, in, 1, count, &result);
  return result;
}

void reduce_columns(ReduceOp op, const float* in, size_t rows, size_t width, float* out) {
  HWY_DYNAMIC_DISPATCH(ReduceColumns)(op, in, rows, width, out);
  if (is_finished_after(op)) finish(op, out, width, rows);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
