#include "providers/cpu/softmax_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/softmax_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>

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

  // The sum of exp(in - shift), which are written as well where they are wanted. A NaN that the
  // maximum has lost comes back here.
  template <bool kWritten>
  HWY_INLINE V exponentials(V shift) const {
    const D d;
    const size_t lanes = hn::Lanes(d);
    const V end = last(in);
    V sum = hn::Zero(d);
    for (size_t i = 0; i < whole; i += lanes) {
      const V value = exp_of(hn::Sub(hn::LoadU(d, in + i), shift));
      sum = hn::Add(sum, value);
      if constexpr (kWritten) hn::StoreU(value, d, out + i);
    }
    if (whole < count) {
      const V value = exp_of(hn::Sub(end, shift));
      const auto is_done = hn::FirstN(d, lanes - (count - whole));
      sum = hn::Add(sum, hn::IfThenZeroElse(is_done, value));
      if constexpr (kWritten) store_last(value);
    }
    return hn::SumOfLanes(d, sum);
  }

  // out = f(from).
  template <typename F>
  HWY_INLINE void map(const float* from, const F& f) const {
    const D d;
    const V end = f(last(from));
    for (size_t i = 0; i < whole; i += hn::Lanes(d))
      hn::StoreU(f(hn::LoadU(d, from + i)), d, out + i);
    if (whole < count) store_last(end);
  }
};

// A row that does not fill a vector; behind it as much of its first element as makes no difference
// to the largest.
struct ShortRow {
  HWY_INLINE ShortRow(const float* in, size_t row_count) : count(row_count) {
    const D d;
    HWY_ALIGN float values[hn::MaxLanes(d)];
    for (size_t i = 0; i < hn::Lanes(d); ++i)
      values[i] = in[i < count ? i : 0];
    x = hn::Load(d, values);
    x = hn::Sub(x, hn::MaxOfLanes(d, x));
    exponentials = exp_of(x);
    sum = hn::SumOfLanes(d, hn::IfThenElseZero(hn::FirstN(d, count), exponentials));
  }
  HWY_INLINE void write(V results, float* out) const {
    const D d;
    HWY_ALIGN float values[hn::MaxLanes(d)];
    hn::Store(results, d, values);
    for (size_t i = 0; i < count; ++i)
      out[i] = values[i];
  }

  size_t count;
  V x, exponentials, sum;  // x: less the largest
};

// The logarithm of a number that all lanes hold.
HWY_INLINE V log_of_all(V x) {
  return set(std::log(hn::GetLane(x)));
}

void SoftmaxRow(const float* in, float* out, size_t count) {
  const size_t lanes = hn::Lanes(D());
  if (count < lanes) {
    const ShortRow row(in, count);
    return row.write(hn::Mul(row.exponentials, hn::Div(set(1), row.sum)), out);
  }
  const LongRow row{in, out, count, count - count % lanes};
  const V sum = row.exponentials<true>(row.largest());
  const V factor = hn::Div(set(1), sum);
  row.map(out, [&](V value) HWY_ATTR { return hn::Mul(value, factor); });
}

void LogSoftmaxRow(const float* in, float* out, size_t count) {
  const size_t lanes = hn::Lanes(D());
  if (count < lanes) {
    const ShortRow row(in, count);
    return row.write(hn::Sub(row.x, log_of_all(row.sum)), out);
  }
  const LongRow row{in, out, count, count - count % lanes};
  const V largest = row.largest();
  const V log_sum = log_of_all(row.exponentials<false>(largest));
  row.map(in, [&](V x) HWY_ATTR { return hn::Sub(hn::Sub(x, largest), log_sum); });
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(SoftmaxRow);
HWY_EXPORT(LogSoftmaxRow);

void softmax_row(const float* in, float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(SoftmaxRow)(in, out, count);
}
void log_softmax_row(const float* in, float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(LogSoftmaxRow)(in, out, count);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
