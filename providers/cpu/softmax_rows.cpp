#include "providers/cpu/softmax_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/softmax_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Of rows that fill a vector. What is left beside whole vectors is done by a last one that
// overlaps them; it is read first, as the row may be worked on in place.
struct LongRow {
  const float* in;
  float* out;
  size_t count, whole;  // whole: in whole vectors

  HWY_INLINE V last(const float* row) const { return hn::LoadU(D(), row + count - hn::Lanes(D())); }
  HWY_INLINE void store_last(V values) const {
    hn::StoreU(values, D(), out + count - hn::Lanes(D()));
  }

  HWY_INLINE V largest() const {
    const D d;
    const size_t lanes = hn::Lanes(d);
    V most = last(in), other = most;
    size_t i = 0;
    for (; i + 2 * lanes <= whole; i += 2 * lanes) {
      most = hn::Max(most, hn::LoadU(d, in + i));
      other = hn::Max(other, hn::LoadU(d, in + i + lanes));
    }
    for (; i < whole; i += lanes)
      most = hn::Max(most, hn::LoadU(d, in + i));
    return hn::MaxOfLanes(d, hn::Max(most, other));
  }

  // out = exp(in - shift); the sum of these. A NaN that the maximum has lost comes back here.
  HWY_INLINE V exponentials(V shift) const {
    const D d;
    const size_t lanes = hn::Lanes(d);
    const V end = last(in);
    V sum = hn::Zero(d);
    for (size_t i = 0; i < whole; i += lanes) {
      const V value = exp_of(hn::Sub(hn::LoadU(d, in + i), shift));
      sum = hn::Add(sum, value);
      hn::StoreU(value, d, out + i);
    }
    if (whole < count) {
      const V value = exp_of(hn::Sub(end, shift));
      const auto is_done = hn::FirstN(d, lanes - (count - whole));
      sum = hn::Add(sum, hn::IfThenZeroElse(is_done, value));
      store_last(value);
    }
    return hn::SumOfLanes(d, sum);
  }

  HWY_INLINE void scale(V factor) const {
    const D d;
    const V end = hn::Mul(last(out), factor);
    for (size_t i = 0; i < whole; i += hn::Lanes(d))
      hn::StoreU(hn::Mul(hn::LoadU(d, out + i), factor), d, out + i);
    if (whole < count) store_last(end);
  }
};

void SoftmaxRow(const float* in, float* out, size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  if (count >= lanes) {
    const LongRow row{in, out, count, count - count % lanes};
    const V sum = row.exponentials(row.largest());
    return row.scale(hn::Div(set(1), sum));
  }
  // Behind the row as much of its first element as makes no difference to the largest.
  HWY_ALIGN float values[hn::MaxLanes(d)];
  for (size_t i = 0; i < lanes; ++i)
    values[i] = in[i < count ? i : 0];
  const V x = hn::Load(d, values);
  const V value = exp_of(hn::Sub(x, hn::MaxOfLanes(d, x)));
  const V sum = hn::SumOfLanes(d, hn::IfThenElseZero(hn::FirstN(d, count), value));
  hn::Store(hn::Mul(value, hn::Div(set(1), sum)), d, values);
  for (size_t i = 0; i < count; ++i)
    out[i] = values[i];
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(SoftmaxRow);

void softmax_row(const float* in, float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(SoftmaxRow)(in, out, count);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
