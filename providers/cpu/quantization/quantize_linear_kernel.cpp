#include "providers/cpu/quantization/quantize_linear_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/core/dtype_convert.h"
#include "ir/core/small_float.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/quantization/quantize_linear_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/simd/requantize-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using DInt = hn::RebindToSigned<D>;

// Far outside of every 8-bit result, and exact as float and as int32.
constexpr float kFar = 1 << 20;

void HalfToFloat(const uint16_t* in, float* out, size_t count) {
  size_t i = 0;
#if HWY_TARGET <= HWY_AVX2  // F16C converts; Highway's emulation before it would round differently
  const D d;
  const hn::Rebind<hwy::float16_t, D> half;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto bits = hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(in + i));
    hn::StoreU(hn::PromoteTo(d, bits), d, out + i);
  }
#endif
  for (; i < count; ++i)
    out[i] = half_to_float(in[i]);
}

void FloatToHalf(const float* in, uint16_t* out, size_t count) {
  size_t i = 0;
#if HWY_TARGET <= HWY_AVX2
  const D d;
  const hn::Rebind<hwy::float16_t, D> half;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hn::StoreU(hn::DemoteTo(half, hn::LoadU(d, in + i)), half,
               reinterpret_cast<hwy::float16_t*>(out + i));
  }
#endif
  for (; i < count; ++i)
    out[i] = float_to_half(in[i]);
}

template <typename T>
HWY_INLINE void quantize_by_division(const float* in, float scale, int32_t zero, T* out,
                                     size_t count) {
  const D d;
  const DInt d_int;
  const hn::Rebind<T, D> narrow;
  const auto divisor = hn::Set(d, scale);
  const size_t lanes = hn::Lanes(d);
  const auto vector = [&](size_t i) HWY_ATTR {
    auto x = hn::Div(hn::LoadU(d, in + i), divisor);
    x = hn::Min(hn::Max(x, hn::Set(d, -kFar)), hn::Set(d, kFar));
    const auto sum = hn::Add(integers_near(x), hn::Set(d_int, zero));
    hn::StoreU(hn::DemoteTo(narrow, sum), narrow, out + i);
  };
  size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    vector(i);
  if (i == count) return;
  if (count >= lanes) return vector(count - lanes);
  using Limits = std::numeric_limits<T>;
  for (; i < count; ++i) {
    const float x = clamped_number(in[i] / scale, -kFar, kFar);
    const auto sum = static_cast<int32_t>(std::nearbyint(x)) + zero;
    out[i] = static_cast<T>(std::clamp<int32_t>(sum, Limits::min(), Limits::max()));
  }
}

// The error bound of a quotient in units of 2^-16, where it counts, below 2^24 units: 1/2 for the
// exact quotient's own rounding, 1/2 for the conversion, 1 for the reciprocal, 1/2 for the product
// and 1 for the sum with half().
constexpr int32_t kQuotientMargin = 4;

// Divides by multiplication with the reciprocal, except next to a tie.
template <typename T>
HWY_INLINE void quantize(const float* in, float scale, int32_t zero, T* out, size_t count) {
  const float factor = kRoundingUnits / scale;
  const Int8Rounding<T> rounding(zero, kQuotientMargin);
  const size_t block = rounding.lanes();
  if (!std::isnormal(factor) || count < block)
    return quantize_by_division(in, scale, zero, out, count);
  const D d;
  const auto times = hn::Set(d, factor), half = hn::Set(d, rounding.half());
  const auto units = [&](const float* from, size_t vector) HWY_ATTR {
    const auto x = hn::LoadU(d, from + vector * hn::Lanes(d));
    return bounded_units(hn::MulAdd(x, times, half));
  };
  for (size_t next = 0; next < count; next += block) {
    const size_t i = std::min(next, count - block);  // the last block may begin in the one before
    const float* from = in + i;
    if (!rounding.try_store(units(from, 0), units(from, 1), units(from, 2), units(from, 3),
                            out + i)) {
      quantize_by_division(from, scale, zero, out + i, block);
    }
  }
}

template <typename T>
HWY_INLINE void dequantize(const T* in, float scale, int32_t zero, float* out, size_t count) {
  const D d;
  const DInt d_int;
  const hn::Rebind<T, D> narrow;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto x = hn::PromoteTo(d_int, hn::LoadU(narrow, in + i));
    const auto moved = hn::ConvertTo(d, hn::Sub(x, hn::Set(d_int, zero)));
    hn::StoreU(hn::Mul(moved, hn::Set(d, scale)), d, out + i);
  }
  for (; i < count; ++i)
    out[i] = static_cast<float>(in[i] - zero) * scale;
}

void QuantizeUnsigned(const float* in, float scale, int32_t zero, uint8_t* out, size_t count) {
  quantize(in, scale, zero, out, count);
}
void QuantizeSigned(const float* in, float scale, int32_t zero, int8_t* out, size_t count) {
  quantize(in, scale, zero, out, count);
}
void DequantizeUnsigned(const uint8_t* in, float scale, int32_t zero, float* out, size_t count) {
  dequantize(in, scale, zero, out, count);
}
void DequantizeSigned(const int8_t* in, float scale, int32_t zero, float* out, size_t count) {
  dequantize(in, scale, zero, out, count);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(HalfToFloat);
HWY_EXPORT(FloatToHalf);
HWY_EXPORT(QuantizeUnsigned);
HWY_EXPORT(QuantizeSigned);
HWY_EXPORT(DequantizeUnsigned);
HWY_EXPORT(DequantizeSigned);

void half_to_float_row(const uint16_t* in, float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(HalfToFloat)(in, out, count);
}
void float_to_half_row(const float* in, uint16_t* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(FloatToHalf)(in, out, count);
}
void quantize_row(const float* in, float scale, int32_t zero, uint8_t* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(QuantizeUnsigned)(in, scale, zero, out, count);
}
void quantize_row(const float* in, float scale, int32_t zero, int8_t* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(QuantizeSigned)(in, scale, zero, out, count);
}
void dequantize_row(const uint8_t* in, float scale, int32_t zero, float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(DequantizeUnsigned)(in, scale, zero, out, count);
}
void dequantize_row(const int8_t* in, float scale, int32_t zero, float* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(DequantizeSigned)(in, scale, zero, out, count);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
