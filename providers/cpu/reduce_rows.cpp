#include "providers/cpu/reduce_rows.h"

#include <cmath>

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
struct AddSquare {
  static HWY_INLINE V join(V sum, V x) { return hn::MulAdd(x, x, sum); }
  static HWY_INLINE V merge(V a, V b) { return hn::Add(a, b); }
};
struct AddMagnitude {
  static HWY_INLINE V join(V sum, V x) { return hn::Add(sum, hn::Abs(x)); }
  static HWY_INLINE V merge(V a, V b) { return hn::Add(a, b); }
};
// A NaN anywhere is the result, as in numpy.
HWY_INLINE V propagate_nan(V x, V y, V result) {
  return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenElse(hn::IsNaN(y), y, result));
}
struct TakeMax {
  static HWY_INLINE V join(V a, V b) { return propagate_nan(a, b, hn::Max(a, b)); }
  static HWY_INLINE V merge(V a, V b) { return join(a, b); }
};
struct TakeMin {
  static HWY_INLINE V join(V a, V b) { return propagate_nan(a, b, hn::Min(a, b)); }
  static HWY_INLINE V merge(V a, V b) { return join(a, b); }
};

// `start` is neutral to join.
template <typename Op>
HWY_INLINE float row_of(const float* in, size_t count, float start) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sums[4] = {hn::Set(d, start), hn::Set(d, start), hn::Set(d, start), hn::Set(d, start)};
  size_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    for (size_t k = 0; k < 4; ++k)
      sums[k] = Op::join(sums[k], hn::LoadU(d, in + i + k * lanes));
  }
  for (; i + lanes <= count; i += lanes)
    sums[0] = Op::join(sums[0], hn::LoadU(d, in + i));
  V total = Op::merge(Op::merge(sums[0], sums[1]), Op::merge(sums[2], sums[3]));
  HWY_ALIGN float parts[hn::MaxLanes(d)];
  hn::Store(total, d, parts);
  V result = hn::Set(d, start);
  for (size_t k = 0; k < lanes; ++k)
    result = Op::merge(result, hn::Set(d, parts[k]));
  for (; i < count; ++i)
    result = Op::join(result, hn::Set(d, in[i]));
  return hn::GetLane(result);
}

template <typename Op>
HWY_INLINE void columns_of(const float* in, size_t rows, size_t width, float start, float* out) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= width; i += lanes) {
    V sum = hn::Set(d, start);
    for (size_t row = 0; row < rows; ++row)
      sum = Op::join(sum, hn::LoadU(d, in + row * width + i));
    hn::StoreU(sum, d, out + i);
  }
  for (; i < width; ++i) {
    V sum = hn::Set(d, start);
    for (size_t row = 0; row < rows; ++row)
      sum = Op::join(sum, hn::Set(d, in[row * width + i]));
    out[i] = hn::GetLane(sum);
  }
}

// Calls use(op, neutral element) for the joins of `op`.
template <typename Use>
HWY_INLINE void with_join(Reduction op, const Use& use) {
  switch (op) {
    case Reduction::kSum:
    case Reduction::kMean:
      return use(AddValue(), 0.0f);
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
  return op == Reduction::kL2 ? std::sqrt(joined) : joined;
}

}  // namespace

float reduce_row(Reduction op, const float* in, size_t count) {
  return finished(op, HWY_DYNAMIC_DISPATCH(ReduceRow)(op, in, count), count);
}

void reduce_columns(Reduction op, const float* in, size_t rows, size_t width, float* out) {
  HWY_DYNAMIC_DISPATCH(ReduceColumns)(op, in, rows, width, out);
  if (op != Reduction::kMean && op != Reduction::kL2) return;
  for (size_t i = 0; i < width; ++i)
    out[i] = finished(op, out[i], rows);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
