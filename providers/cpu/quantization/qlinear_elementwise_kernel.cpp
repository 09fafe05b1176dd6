#include "providers/cpu/quantization/qlinear_elementwise_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/quantization/qlinear_elementwise_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/simd/requantize-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using DInt = hn::RebindToSigned<D>;
using V = hn::Vec<D>;

// A bound beyond every 8-bit result.
constexpr float kFar = 512;

const auto kPlus = [](V x, V y) HWY_ATTR { return hn::Add(x, y); };
const auto kTimes = [](V x, V y) HWY_ATTR { return hn::Mul(x, y); };

// The operands and the result of a row.
template <typename T>
struct QuantizedOperands {
  const T *a, *b;
  T* out;

  HWY_INLINE QuantizedOperands from(size_t i) const { return {a + i, b + i, out + i}; }
};

// A vector with one byte for each float lane.
template <typename T>
using Bytes = hn::Vec<hn::Rebind<T, D>>;

template <typename T>
HWY_INLINE hn::Vec<DInt> integers(const T* bytes) {
  return hn::PromoteTo(DInt(), hn::LoadU(hn::Rebind<T, D>(), bytes));
}

// The exact computation, step by step as the reference does it.
template <typename T, class Join>
HWY_INLINE Bytes<T> join_vector(const QLinearScales& scales, const QuantizedOperands<T>& at,
                                const Join& join) {
  const D d;
  const DInt d_int;
  const auto real = [&](const ByteScale& from, const T* bytes) HWY_ATTR {
    const auto moved = hn::Sub(integers(bytes), hn::Set(d_int, from.zero));
    return hn::Mul(hn::ConvertTo(d, moved), hn::Set(d, from.scale));
  };
  const V x = join(real(scales.a, at.a), real(scales.b, at.b));
  const V far = hn::Set(d, kFar);
  const V quotient = hn::Min(hn::Max(hn::Div(x, hn::Set(d, scales.out.scale)), hn::Neg(far)), far);
  const auto sum = hn::Add(integers_near(quotient), hn::Set(d_int, scales.out.zero));
  return hn::DemoteTo(hn::Rebind<T, D>(), sum);
}

// Computes fewer elements than a vector, on a padded copy.
template <typename T, class Join>
HWY_INLINE void join_few(const QLinearScales& scales, const QuantizedOperands<T>& few, size_t count,
                         const Join& join) {
  constexpr size_t kLanes = hn::MaxLanes(D());
  T a[kLanes] = {}, b[kLanes] = {}, out[kLanes];
  std::copy_n(few.a, count, a);
  std::copy_n(few.b, count, b);
  hn::StoreU(join_vector(scales, QuantizedOperands<T>{a, b, out}, join), hn::Rebind<T, D>(), out);
  std::copy_n(out, count, few.out);
}

// A function of two vectors of bytes as floats that gives the result in the rounding's units.
template <typename T, class F>
struct Quick {
  Int8Rounding<T> rounding;
  bool is_right;  // for these scales
  F of;
};

template <typename T, class F, class Join>
HWY_INLINE void join_block(const QLinearScales& scales, const QuantizedOperands<T>& block,
                           const Quick<T, F>& quick, const Join& join) {
  const D d;
  const auto joined = [&](size_t vector) HWY_ATTR {
    const QuantizedOperands<T> at = block.from(vector * hn::Lanes(d));
    return quick.of(hn::ConvertTo(d, integers(at.a)), hn::ConvertTo(d, integers(at.b)));
  };
  const bool is_done = quick.is_right && quick.rounding.try_store(joined(0), joined(1), joined(2),
                                                                  joined(3), block.out);
  if (HWY_LIKELY(is_done)) return;
  for (size_t vector = 0; vector < 4; ++vector) {
    const QuantizedOperands<T> at = block.from(vector * hn::Lanes(d));
    hn::StoreU(join_vector(scales, at, join), hn::Rebind<T, D>(), at.out);
  }
}

// A row of bytes, or a broadcast byte: a block of copies that is loaded again and again.
template <typename T>
class OperandRow {
 public:
  HWY_INLINE OperandRow(const T* bytes, bool steps)
      : bytes_(steps ? bytes : copies_), step_(steps) {
    if (!steps) std::fill_n(copies_, Int8Rounding<T>::kMaxLanes, bytes[0]);
  }
  OperandRow(const OperandRow&) = delete;
  OperandRow& operator=(const OperandRow&) = delete;
  HWY_INLINE const T* from(size_t i) const { return bytes_ + step_ * i; }

 private:
  const T* bytes_;
  size_t step_;
  T copies_[Int8Rounding<T>::kMaxLanes];
};

template <typename T, class F, class Join>
HWY_INLINE void join_row(const QLinearScales& scales, const OperandRow<T>& a,
                         const OperandRow<T>& b, T* out, size_t count, const Quick<T, F>& quick,
                         const Join& join) {
  const auto at = [&](size_t i) HWY_ATTR {
    return QuantizedOperands<T>{a.from(i), b.from(i), out + i};
  };
  const hn::Rebind<T, D> narrow;
  const size_t block = Int8Rounding<T>::lanes(), lanes = hn::Lanes(D());
  if (count < lanes) return join_few(scales, at(0), count, join);
  // The last vector may overlap the one before; it is computed first, since the output may
  // overwrite an operand.
  const auto last = join_vector(scales, at(count - lanes), join);
  size_t i = 0;
  for (; i + block <= count; i += block)
    join_block(scales, at(i), quick, join);
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(join_vector(scales, at(i), join), narrow, out + i);
  hn::StoreU(last, narrow, out + count - lanes);
}

// The largest distance of a byte from its zero point.
constexpr double kMaxByte = 255;

// Approximately a * times_a + b * times_b + offset.
template <typename T>
HWY_INLINE void add_row(const QLinearScales& scales, const OperandRow<T>& a, const OperandRow<T>& b,
                        T* out, size_t count) {
  const double unit = static_cast<double>(kRoundingUnits) / static_cast<double>(scales.out.scale);
  const auto times_a = static_cast<float>(static_cast<double>(scales.a.scale) * unit);
  const auto times_b = static_cast<float>(static_cast<double>(scales.b.scale) * unit);
  const double to_a = static_cast<double>(times_a), to_b = static_cast<double>(times_b);
  // The greatest magnitude of a sum, in steps of the result. Beyond kMaxSteps it would overflow in
  // units.
  constexpr double kMaxSteps = 4096;
  const double steps = kMaxByte * (std::fabs(to_a) + std::fabs(to_b)) / kRoundingUnits;
  const bool is_right = steps < kMaxSteps;  // no NaN is
  // A number below n is rounded by at most n / 256 units. Rounded are: in the exact sum, both
  // terms, the sum and the quotient; here, the factors, the offset, both products and both sums.
  // Final sums matter below 258 only, all else is below `steps`, products and terms together.
  const auto margin = static_cast<int32_t>((5 * (is_right ? steps : 0) + 3 * 258) / 256 + 2);
  const Int8Rounding<T> rounding(scales.out.zero, margin);
  const double offset =
      static_cast<double>(rounding.half()) - scales.a.zero * to_a - scales.b.zero * to_b;
  const D d;
  const V for_a = hn::Set(d, times_a), for_b = hn::Set(d, times_b);
  const V added = hn::Set(d, static_cast<float>(offset));
  const auto sum = [&](V x, V y)
                       HWY_ATTR { return hn::MulAdd(x, for_a, hn::MulAdd(y, for_b, added)); };
  join_row(scales, a, b, out, count, Quick<T, decltype(sum)>{rounding, is_right, sum}, kPlus);
}

// Approximately (a - zero) * (b - zero) * times.
template <typename T>
HWY_INLINE void multiply_row(const QLinearScales& scales, const OperandRow<T>& a,
                             const OperandRow<T>& b, T* out, size_t count) {
  const double times = static_cast<double>(scales.a.scale) * static_cast<double>(scales.b.scale) /
                       static_cast<double>(scales.out.scale) * kRoundingUnits;
  const bool is_right =
      kMaxByte * kMaxByte * std::fabs(times) < static_cast<double>(kMaxUnits);  // no NaN is
  // Where it matters, a product is below 2^24 units and rounded by at most one. The exact one takes
  // four roundings; here there are those of the factor, two products, the sum and the integer.
  constexpr int32_t kMargin = 10;
  const Int8Rounding<T> rounding(scales.out.zero, kMargin);
  const D d;
  const V zero_a = hn::Set(d, static_cast<float>(scales.a.zero));
  const V zero_b = hn::Set(d, static_cast<float>(scales.b.zero));
  const V factor = hn::Set(d, static_cast<float>(times)), half = hn::Set(d, rounding.half());
  const auto product = [&](V x, V y) HWY_ATTR {
    return hn::MulAdd(hn::Sub(x, zero_a), hn::Mul(hn::Sub(y, zero_b), factor), half);
  };
  join_row(scales, a, b, out, count, Quick<T, decltype(product)>{rounding, is_right, product},
           kTimes);
}

// Products of integers: exact, as they are below 2^24.
template <typename T>
class IntegerProduct {
 public:
  HWY_INLINE explicit IntegerProduct(const QLinearScales& scales)
      : zero_a_(hn::Set(DInt(), scales.a.zero)),
        zero_b_(hn::Set(DInt(), scales.b.zero)),
        factor_(hn::Set(D(), scales.a.scale * scales.b.scale / scales.out.scale)),
        zero_(hn::Set(D(), static_cast<float>(scales.out.zero))) {}

  HWY_INLINE Bytes<T> operator()(const T* a, const T* b) const {
    const D d;
    const V x = hn::ConvertTo(d, hn::Sub(integers(a), zero_a_));
    const V y = hn::ConvertTo(d, hn::Sub(integers(b), zero_b_));
    const V sum = hn::Add(hn::Mul(hn::Mul(x, y), factor_), zero_);
    const V low = hn::Set(d, std::numeric_limits<T>::min());
    const V high = hn::Set(d, std::numeric_limits<T>::max());
    const auto nearest = integers_near(hn::Min(hn::Max(sum, low), high));
    const hn::Rebind<uint8_t, D> narrow;
    const auto bytes = hn::TruncateTo(narrow, hn::BitCast(hn::RebindToUnsigned<D>(), nearest));
    return hn::BitCast(hn::Rebind<T, D>(), bytes);
  }

 private:
  hn::Vec<DInt> zero_a_, zero_b_;
  V factor_, zero_;
};

template <typename T>
HWY_INLINE void product_row(const QLinearScales& scales, const OperandRow<T>& a,
                            const OperandRow<T>& b, T* out, size_t count) {
  constexpr size_t kLanes = hn::MaxLanes(D());
  const hn::Rebind<T, D> narrow;
  const size_t lanes = hn::Lanes(D());
  const IntegerProduct<T> product(scales);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(product(a.from(i), b.from(i)), narrow, out + i);
  if (i == count) return;
  T last_a[kLanes] = {}, last_b[kLanes] = {}, last[kLanes];
  std::copy_n(a.from(i), count - i, last_a);
  std::copy_n(b.from(i), count - i, last_b);
  hn::StoreU(product(last_a, last_b), narrow, last);
  std::copy_n(last, count - i, out + i);
}

void AddUnsigned(const QLinearScales& scales, const uint8_t* a, bool a_steps, const uint8_t* b,
                 bool b_steps, uint8_t* out, size_t count) {
  add_row(scales, OperandRow(a, a_steps), OperandRow(b, b_steps), out, count);
}
void AddSigned(const QLinearScales& scales, const int8_t* a, bool a_steps, const int8_t* b,
               bool b_steps, int8_t* out, size_t count) {
  add_row(scales, OperandRow(a, a_steps), OperandRow(b, b_steps), out, count);
}
void QdqMulUnsigned(const QLinearScales& scales, const uint8_t* a, bool a_steps, const uint8_t* b,
                    bool b_steps, uint8_t* out, size_t count) {
  multiply_row(scales, OperandRow(a, a_steps), OperandRow(b, b_steps), out, count);
}
void QdqMulSigned(const QLinearScales& scales, const int8_t* a, bool a_steps, const int8_t* b,
                  bool b_steps, int8_t* out, size_t count) {
  multiply_row(scales, OperandRow(a, a_steps), OperandRow(b, b_steps), out, count);
}

void MultiplyUnsigned(const QLinearScales& scales, const uint8_t* a, bool a_steps, const uint8_t* b,
                      bool b_steps, uint8_t* out, size_t count) {
  product_row(scales, OperandRow(a, a_steps), OperandRow(b, b_steps), out, count);
}
void MultiplySigned(const QLinearScales& scales, const int8_t* a, bool a_steps, const int8_t* b,
                    bool b_steps, int8_t* out, size_t count) {
  product_row(scales, OperandRow(a, a_steps), OperandRow(b, b_steps), out, count);
}

// The lesser and the greater one; `best` where x is NaN.
HWY_INLINE V lesser(V x, V best) {
#if HWY_ARCH_X86
  return hn::Min(x, best);
#else
  return hn::IfThenElse(hn::Lt(x, best), x, best);
#endif
}
HWY_INLINE V greater(V x, V best) {
#if HWY_ARCH_X86
  return hn::Max(x, best);
#else
  return hn::IfThenElse(hn::Gt(x, best), x, best);
#endif
}

void WidenRange(const float* in, size_t count, float& low, float& high) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  // Independent ranges, so that comparisons do not form one dependency chain.
  constexpr size_t kRanges = 4;
  V lows[kRanges], highs[kRanges];
  std::fill_n(lows, kRanges, hn::Set(d, low));
  std::fill_n(highs, kRanges, hn::Set(d, high));
  const auto widen = [&](V x, size_t k) HWY_ATTR {
    lows[k] = lesser(x, lows[k]);
    highs[k] = greater(x, highs[k]);
  };
  size_t i = 0;
  for (; i + kRanges * lanes <= count; i += kRanges * lanes) {
    for (size_t k = 0; k < kRanges; ++k)
      widen(hn::LoadU(d, in + i + k * lanes), k);
  }
  for (; i + lanes <= count; i += lanes)
    widen(hn::LoadU(d, in + i), 0);
  if (i < count && count >= lanes) {
    widen(hn::LoadU(d, in + count - lanes), 1);
    i = count;
  }
  for (size_t k = 1; k < kRanges; ++k) {
    lows[0] = hn::Min(lows[0], lows[k]);
    highs[0] = hn::Max(highs[0], highs[k]);
  }
  low = hn::GetLane(hn::MinOfLanes(d, lows[0]));
  high = hn::GetLane(hn::MaxOfLanes(d, highs[0]));
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
HWY_EXPORT(QdqMulUnsigned);
HWY_EXPORT(QdqMulSigned);
HWY_EXPORT(MultiplyUnsigned);
HWY_EXPORT(MultiplySigned);
HWY_EXPORT(WidenRange);

template <>
void qadd_row(const QLinearScales& scales, const uint8_t* a, bool a_steps, const uint8_t* b,
              bool b_steps, uint8_t* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(AddUnsigned)(scales, a, a_steps, b, b_steps, out, count);
}
template <>
void qadd_row(const QLinearScales& scales, const int8_t* a, bool a_steps, const int8_t* b,
              bool b_steps, int8_t* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(AddSigned)(scales, a, a_steps, b, b_steps, out, count);
}
template <>
void qdq_mul_row(const QLinearScales& scales, const uint8_t* a, bool a_steps, const uint8_t* b,
                 bool b_steps, uint8_t* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(QdqMulUnsigned)(scales, a, a_steps, b, b_steps, out, count);
}
template <>
void qdq_mul_row(const QLinearScales& scales, const int8_t* a, bool a_steps, const int8_t* b,
                 bool b_steps, int8_t* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(QdqMulSigned)(scales, a, a_steps, b, b_steps, out, count);
}

template <>
void qmul_row(const QLinearScales& scales, const uint8_t* a, bool a_steps, const uint8_t* b,
              bool b_steps, uint8_t* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(MultiplyUnsigned)(scales, a, a_steps, b, b_steps, out, count);
}
template <>
void qmul_row(const QLinearScales& scales, const int8_t* a, bool a_steps, const int8_t* b,
              bool b_steps, int8_t* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(MultiplySigned)(scales, a, a_steps, b, b_steps, out, count);
}

void widen_range(const float* in, size_t count, float& low, float& high) {
  HWY_DYNAMIC_DISPATCH(WidenRange)(in, count, low, high);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
