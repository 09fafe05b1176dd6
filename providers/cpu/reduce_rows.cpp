#include "providers/cpu/reduce_rows.h"

#include <cmath>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/reduce_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

struct AddValue {
  static HWY_INLINE V join(V sum, V x) { return hn::Add(sum, x); }
  static HWY_INLINE V merge(V a, V b) { return hn::Add(a, b); }
};
struct TakeProduct {
  static HWY_INLINE V join(V product, V x) { return hn::Mul(product, x); }
  static HWY_INLINE V merge(V a, V b) { return hn::Mul(a, b); }
};
struct AddSquare {
  static HWY_INLINE V join(V sum, V x) { return hn::MulAdd(x, x, sum); }
  static HWY_INLINE V merge(V a, V b) { return hn::Add(a, b); }
};
struct AddMagnitude {
  static HWY_INLINE V join(V sum, V x) { return hn::Add(sum, hn::Abs(x)); }
  static HWY_INLINE V merge(V a, V b) { return hn::Add(a, b); }
};
// The instructions for these lose NaNs: `NanWatch` sees to them.
struct TakeMax {
  static HWY_INLINE V join(V a, V b) { return hn::Max(a, b); }
  static HWY_INLINE V merge(V a, V b) { return hn::Max(a, b); }
};
struct TakeMin {
  static HWY_INLINE V join(V a, V b) { return hn::Min(a, b); }
  static HWY_INLINE V merge(V a, V b) { return hn::Min(a, b); }
};
template <typename Op>
constexpr bool kLosesNan = std::is_same_v<Op, TakeMax> || std::is_same_v<Op, TakeMin>;

// Notes whether a NaN went by: then that is the result, as in numpy. The bits of a NaN, without the
// sign, are larger as an integer than those of any number.
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
  V total = Op::merge(Op::merge(sums[0], sums[1]), Op::merge(sums[2], sums[3]));
  for (size_t k = 0; k < 4; ++k)
    total = watches[k].checked(total);
  HWY_ALIGN float parts[hn::MaxLanes(d)];
  hn::Store(total, d, parts);
  V result = hn::Set(d, start);
  NanWatch<kLosesNan<Op>> watch;
  for (size_t k = 0; k < lanes; ++k) {
    watch.see(hn::Set(d, parts[k]));
    result = Op::merge(result, hn::Set(d, parts[k]));
  }
  for (; i < count; ++i) {
    watch.see(hn::Set(d, in[i]));
    result = Op::join(result, hn::Set(d, in[i]));
  }
  return hn::GetLane(watch.checked(result));
}

// kCount vectors of neighbouring columns.
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
HWY_INLINE void with_join(Reduction op, const Use& use) {
  switch (op) {
    case Reduction::kSum:
    case Reduction::kMean:
    case Reduction::kLogSum:
      return use(AddValue(), 0.0f);
    case Reduction::kProduct:
      return use(TakeProduct(), 1.0f);
    case Reduction::kMax:
      return use(TakeMax(), -HUGE_VALF);
    case Reduction::kMin:
      return use(TakeMin(), HUGE_VALF);
    case Reduction::kSumSquare:
    case Reduction::kL2:
      return use(AddSquare(), 0.0f);
    case Reduction::kL1:
      return use(AddMagnitude(), 0.0f);
  }
}

float ReduceRow(Reduction op, const float* in, size_t count) {
  float result = 0;
  with_join(op, [&](auto join, float start)
                    HWY_ATTR { result = row_of<decltype(join)>(in, count, start); });
  return result;
}

void ReduceColumns(Reduction op, const float* in, size_t rows, size_t width, float* out) {
  with_join(op, [&](auto join, float start)
                    HWY_ATTR { columns_of<decltype(join)>(in, rows, width, start, out); });
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(ReduceRow);
HWY_EXPORT(ReduceColumns);

namespace {

float finished(Reduction op, float joined, size_t count) {
  if (op == Reduction::kMean) return joined / static_cast<float>(count);
  if (op == Reduction::kLogSum) return std::log(joined);
  return op == Reduction::kL2 ? std::sqrt(joined) : joined;
}

}  // namespace

float reduce_row(Reduction op, const float* in, size_t count) {
  return finished(op, HWY_DYNAMIC_DISPATCH(ReduceRow)(op, in, count), count);
}

void reduce_columns(Reduction op, const float* in, size_t rows, size_t width, float* out) {
  HWY_DYNAMIC_DISPATCH(ReduceColumns)(op, in, rows, width, out);
  if (op != Reduction::kMean && op != Reduction::kL2 && op != Reduction::kLogSum) return;
  for (size_t i = 0; i < width; ++i)
    out[i] = finished(op, out[i], rows);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
