#include "providers/cpu/quantized_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/quantized_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using DInt = hn::RebindToSigned<D>;
using V = hn::Vec<D>;

// Beyond every 8-bit result, and small enough for the product by the reciprocal to be right to
// 1e-4.
constexpr float kFar = 512;
// A quotient this far from the nearest integer may round to another one than x times 1/y does.
constexpr float kNearTie = 0.4999f;

template <typename T>
HWY_INLINE T quantized(float value, const ByteScale& to) {
  using Limits = std::numeric_limits<T>;
  const float quotient = clamped_number(value / to.scale, -kFar, kFar);
  const auto sum = static_cast<int32_t>(std::nearbyint(quotient)) + to.zero;
  return static_cast<T>(std::clamp<int32_t>(sum, Limits::min(), Limits::max()));
}

template <typename T, class Join>
HWY_INLINE void join_rows(const ByteScales& scales, const T* a, bool a_steps, const T* b,
                          bool b_steps, T* out, size_t count, const Join& join) {
  const D d;
  const DInt d_int;
  const hn::Rebind<T, D> narrow;
  const auto real = [&](const ByteScale& from, const T* source, size_t i, bool steps) HWY_ATTR {
    const auto bytes = steps ? hn::LoadU(narrow, source + i) : hn::Set(narrow, source[0]);
    const auto moved = hn::Sub(hn::PromoteTo(d_int, bytes), hn::Set(d_int, from.zero));
    return hn::Mul(hn::ConvertTo(d, moved), hn::Set(d, from.scale));
  };
  const auto divisor = hn::Set(d, scales.out.scale);
  const auto reciprocal = hn::Set(d, 1 / scales.out.scale);
  const auto far = hn::Set(d, kFar), tie = hn::Set(d, kNearTie);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const V x = join(real(scales.a, a, i, a_steps), real(scales.b, b, i, b_steps));
    V quotient = hn::Mul(x, reciprocal);
    const V off = hn::Abs(hn::Sub(quotient, hn::Round(quotient)));
    if (!hn::AllFalse(d, hn::Gt(off, tie))) quotient = hn::Div(x, divisor);
    quotient = hn::Min(hn::Max(quotient, hn::Neg(far)), far);
    const auto sum = hn::Add(hn::NearestInt(quotient), hn::Set(d_int, scales.out.zero));
    hn::StoreU(hn::DemoteTo(narrow, sum), narrow, out + i);
  }
  const hn::CappedTag<float, 1> one;
  for (; i < count; ++i) {
    const auto x = static_cast<float>(a[a_steps ? i : 0] - scales.a.zero) * scales.a.scale;
    const auto y = static_cast<float>(b[b_steps ? i : 0] - scales.b.zero) * scales.b.scale;
    out[i] = quantized<T>(hn::GetLane(join(hn::Set(one, x), hn::Set(one, y))), scales.out);
  }
}

const auto kPlus = [](auto x, auto y) HWY_ATTR { return hn::Add(x, y); };
const auto kTimes = [](auto x, auto y) HWY_ATTR { return hn::Mul(x, y); };

// Sums of scaled bytes in units of the result: approximately x = a * times_a + b * times_b +
// offset, right to kMargin.
struct QuickSum {
  float times_a, times_b, offset;
  bool is_right;
};
constexpr float kMargin = 5e-4f;

HWY_INLINE QuickSum quick_sum(const ByteScales& scales) {
  QuickSum sum{scales.a.scale / scales.out.scale, scales.b.scale / scales.out.scale, 0, false};
  const float from_a = static_cast<float>(scales.a.zero) * sum.times_a;
  const float from_b = static_cast<float>(scales.b.zero) * sum.times_b;
  sum.offset = -from_a - from_b;
  // Three roundings of numbers of up to this size are below kMargin together.
  constexpr float kLargest = 2048;
  sum.is_right =
      256 * std::fabs(sum.times_a) < kLargest / 2 && 256 * std::fabs(sum.times_b) < kLargest / 2;
  return sum;
}

// Where the approximate sum is no closer to a rounding tie than its error, it rounds as the exact
// one; the other rows of lanes are computed step by step.
template <typename T>
HWY_INLINE void add_rows(const ByteScales& scales, const T* a, bool a_steps, const T* b,
                         bool b_steps, T* out, size_t count) {
  const QuickSum quick = quick_sum(scales);
  if (!quick.is_right || !a_steps || !b_steps) {
    return join_rows(scales, a, a_steps, b, b_steps, out, count, kPlus);
  }
  const D d;
  const DInt d_int;
  const hn::Rebind<T, D> narrow;
  const auto real = [&](const T* source) HWY_ATTR {
    return hn::ConvertTo(d, hn::PromoteTo(d_int, hn::LoadU(narrow, source)));
  };
  const auto times_a = hn::Set(d, quick.times_a), times_b = hn::Set(d, quick.times_b);
  const auto offset = hn::Set(d, quick.offset), tie = hn::Set(d, 0.5f - kMargin);
  const auto zero = hn::Set(d_int, scales.out.zero);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const V sum = hn::MulAdd(real(a + i), times_a, hn::MulAdd(real(b + i), times_b, offset));
    const auto nearest = hn::NearestInt(sum);
    const V off = hn::Abs(hn::Sub(sum, hn::ConvertTo(d, nearest)));
    if (hn::AllFalse(d, hn::Gt(off, tie))) {
      hn::StoreU(hn::DemoteTo(narrow, hn::Add(nearest, zero)), narrow, out + i);
    } else {
      join_rows(scales, a + i, true, b + i, true, out + i, hn::Lanes(d), kPlus);
    }
  }
  join_rows(scales, a + i, true, b + i, true, out + i, count - i, kPlus);
}

void AddUnsigned(const ByteScales& scales, const uint8_t* a, bool a_steps, const uint8_t* b,
                 bool b_steps, uint8_t* out, size_t count) {
  add_rows(scales, a, a_steps, b, b_steps, out, count);
}
void AddSigned(const ByteScales& scales, const int8_t* a, bool a_steps, const int8_t* b,
               bool b_steps, int8_t* out, size_t count) {
  add_rows(scales, a, a_steps, b, b_steps, out, count);
}
void MultiplyUnsigned(const ByteScales& scales, const uint8_t* a, bool a_steps, const uint8_t* b,
                      bool b_steps, uint8_t* out, size_t count) {
  join_rows(scales, a, a_steps, b, b_steps, out, count, kTimes);
}
void MultiplySigned(const ByteScales& scales, const int8_t* a, bool a_steps, const int8_t* b,
                    bool b_steps, int8_t* out, size_t count) {
  join_rows(scales, a, a_steps, b, b_steps, out, count, kTimes);
}

void WidenRange(const float* in, size_t count, float& low, float& high) {
  const D d;
  V lows = hn::Set(d, low), highs = hn::Set(d, high);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const V x = hn::LoadU(d, in + i);
    lows = hn::IfThenElse(hn::Lt(x, lows), x, lows);
    highs = hn::IfThenElse(hn::Gt(x, highs), x, highs);
  }
  low = hn::GetLane(hn::MinOfLanes(d, lows));
  high = hn::GetLane(hn::MaxOfLanes(d, highs));
  for (; i < count; ++i) {
    low = in[i] < low ? in[i] : low;
    high = in[i] > high ? in[i] : high;
  }
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(AddUnsigned);
HWY_EXPORT(AddSigned);
HWY_EXPORT(MultiplyUnsigned);
HWY_EXPORT(MultiplySigned);
HWY_EXPORT(WidenRange);

template <>
void add_bytes_row(const ByteScales& scales, const uint8_t* a, bool a_steps, const uint8_t* b,
                   bool b_steps, uint8_t* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(AddUnsigned)(scales, a, a_steps, b, b_steps, out, count);
}
template <>
void add_bytes_row(const ByteScales& scales, const int8_t* a, bool a_steps, const int8_t* b,
                   bool b_steps, int8_t* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(AddSigned)(scales, a, a_steps, b, b_steps, out, count);
}
template <>
void multiply_bytes_row(const ByteScales& scales, const uint8_t* a, bool a_steps, const uint8_t* b,
                        bool b_steps, uint8_t* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(MultiplyUnsigned)(scales, a, a_steps, b, b_steps, out, count);
}
template <>
void multiply_bytes_row(const ByteScales& scales, const int8_t* a, bool a_steps, const int8_t* b,
                        bool b_steps, int8_t* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(MultiplySigned)(scales, a, a_steps, b, b_steps, out, count);
}

void byte_table_row(const uint8_t* table, const uint8_t* in, uint8_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i)
    out[i] = table[in[i]];
}

void widen_range(const float* in, size_t count, float& low, float& high) {
  HWY_DYNAMIC_DISPATCH(WidenRange)(in, count, low, high);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
