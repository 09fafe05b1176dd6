#include "providers/cpu/pooling/avg_pool_u8_kernel.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/pooling/avg_pool_u8_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/simd/requantize-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using DInt = hn::RebindToSigned<D>;

template <typename T>
HWY_INLINE int32_t sum_of(const T* in, size_t count) {
  int32_t sum = 0;
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<uint8_t> d;
  const hn::RepartitionToWide<hn::RepartitionToWide<hn::RepartitionToWide<decltype(d)>>> d_sum;
  // The offset by which signed bytes are made unsigned before they are summed.
  constexpr int kMore = std::is_signed_v<T> ? 128 : 0;
  const auto more = hn::Set(d, kMore);
  auto sums = hn::Zero(d_sum);
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto bytes = hn::LoadU(d, reinterpret_cast<const uint8_t*>(in + i));
    sums = hn::Add(sums, hn::SumsOf8(hn::Xor(bytes, more)));
  }
  sum = static_cast<int32_t>(hn::GetLane(hn::SumOfLanes(d_sum, sums))) -
        kMore * static_cast<int32_t>(i);
#endif
  for (; i < count; ++i)
    sum += in[i];
  return sum;
}

// Adds whole vectors, and returns the number of elements done.
template <class D, typename T>
HWY_INLINE size_t add_vectors(D d, const T* in, int32_t* sums, size_t count) {
  const hn::Rebind<T, D> narrow;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto more = hn::PromoteTo(d, hn::LoadU(narrow, in + i));
    hn::StoreU(hn::Add(hn::LoadU(d, sums + i), more), d, sums + i);
  }
  return i;
}

template <typename T>
HWY_INLINE void add_to(const T* in, int32_t* sums, size_t count) {
  size_t i = add_vectors(DInt(), in, sums, count);
  i += add_vectors(hn::CappedTag<int32_t, 4>(), in + i, sums + i, count - i);
  for (; i < count; ++i)
    sums[i] += in[i];
}

// The exact computation, step by step in vectors of doubles.
template <typename T>
HWY_INLINE void quantize_exactly(const int32_t* sums, const MeanScale& to, T* out) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> d_float;
  const hn::Rebind<int32_t, decltype(d)> d_int;
  const hn::Rebind<T, decltype(d)> narrow;
  const auto far = hn::Set(d_float, 512.0f);  // beyond every byte
  for (size_t i = 0; i < Int8Rounding<T>::lanes(); i += hn::Lanes(d)) {
    const auto sum = hn::Sub(hn::LoadU(d_int, sums + i), hn::Set(d_int, to.zeros));
    const auto mean = hn::Mul(hn::PromoteTo(d, sum), hn::Set(d, to.factor));
    const auto quotient = hn::Div(hn::DemoteTo(d_float, mean), hn::Set(d_float, to.scale));
    const auto bounded = hn::Min(hn::Max(quotient, hn::Neg(far)), far);
    const auto code = hn::Add(hn::NearestInt(bounded), hn::Set(d_int, to.zero));
    hn::StoreU(hn::DemoteTo(narrow, code), narrow, out + i);
  }
}

// A mean that counts is below 2^24 units. Of these, 1/2 is what each of its two roundings may make;
// here, the conversion of the sum, the factor and the sum with half() take 1 each, the product and
// the integer 1/2.
constexpr int32_t kMeanMargin = 5;

template <typename T>
HWY_INLINE void quantize(const int32_t* sums, const MeanScale& to, T* out, size_t count) {
  const D d;
  const DInt d_int;
  const Int8Rounding<T> rounding(to.zero, kMeanMargin);
  const auto factor = static_cast<float>(to.factor / static_cast<double>(to.scale) *
                                         static_cast<double>(kRoundingUnits));
  const bool is_right = std::isnormal(factor);
  const auto times = hn::Set(d, factor), half = hn::Set(d, rounding.half());
  const auto zeros = hn::Set(d_int, to.zeros);
  const size_t block = rounding.lanes();
  T rest[kMeansAtOnce];
  for (size_t i = 0; i < count; i += block) {
    const auto units = [&](size_t vector) HWY_ATTR {
      const auto sum = hn::LoadU(d_int, sums + i + vector * hn::Lanes(d));
      return bounded_units(hn::MulAdd(hn::ConvertTo(d, hn::Sub(sum, zeros)), times, half));
    };
    T* to_bytes = i + block <= count ? out + i : rest;
    const bool is_done =
        is_right && rounding.try_store(units(0), units(1), units(2), units(3), to_bytes);
    if (HWY_UNLIKELY(!is_done)) quantize_exactly(sums + i, to, to_bytes);
    if (to_bytes == rest) std::copy_n(rest, count - i, out + i);
  }
}

int32_t SumUnsigned(const uint8_t* in, size_t count) {
  return sum_of(in, count);
}
int32_t SumSigned(const int8_t* in, size_t count) {
  return sum_of(in, count);
}
void AddUnsignedTo(const uint8_t* in, int32_t* sums, size_t count) {
  add_to(in, sums, count);
}
void AddSignedTo(const int8_t* in, int32_t* sums, size_t count) {
  add_to(in, sums, count);
}
void MeansToUnsigned(const int32_t* sums, const MeanScale& to, uint8_t* out, size_t count) {
  quantize(sums, to, out, count);
}
void MeansToSigned(const int32_t* sums, const MeanScale& to, int8_t* out, size_t count) {
  quantize(sums, to, out, count);
}

// Compacts every `stride`-th element to the front.
HWY_INLINE void gather_front(int32_t* values, size_t stride, size_t count) {
  size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const DInt d;
  for (; stride == 2 && i + hn::Lanes(d) < count; i += hn::Lanes(d)) {
    const auto low = hn::LoadU(d, values + 2 * i);
    const auto high = hn::LoadU(d, values + 2 * i + hn::Lanes(d));
    hn::StoreU(hn::ConcatEven(d, high, low), d, values + i);
  }
#endif
  for (; i < count; ++i)
    values[i] = values[i * stride];
}

void SumWindows(const int32_t* line, size_t kernel, size_t stride, size_t outputs, int32_t* sums) {
  const DInt d;
  const size_t starts = (outputs - 1) * stride + 1, lanes = hn::Lanes(d);
  const auto sum_vector = [&](size_t i) HWY_ATTR {
    auto sum = hn::LoadU(d, line + i);
    for (size_t k = 1; k < kernel; ++k)
      sum = hn::Add(sum, hn::LoadU(d, line + i + k));
    hn::StoreU(sum, d, sums + i);
  };
  for (size_t i = 0; i + lanes <= starts; i += lanes)
    sum_vector(i);
  if (starts >= lanes) sum_vector(starts - lanes);
  for (size_t i = 0; starts < lanes && i < starts; ++i)
    sums[i] = std::accumulate(line + i, line + i + kernel, 0);
  if (stride > 1) gather_front(sums, stride, outputs);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(SumUnsigned);
HWY_EXPORT(SumSigned);
HWY_EXPORT(AddUnsignedTo);
HWY_EXPORT(AddSignedTo);
HWY_EXPORT(SumWindows);
HWY_EXPORT(MeansToUnsigned);
HWY_EXPORT(MeansToSigned);

template <>
int32_t sum_of_bytes(const uint8_t* in, size_t count) {
  return HWY_DYNAMIC_DISPATCH(SumUnsigned)(in, count);
}
template <>
int32_t sum_of_bytes(const int8_t* in, size_t count) {
  return HWY_DYNAMIC_DISPATCH(SumSigned)(in, count);
}
template <>
void add_bytes_to_sums(const uint8_t* in, int32_t* sums, size_t count) {
  HWY_DYNAMIC_DISPATCH(AddUnsignedTo)(in, sums, count);
}
template <>
void add_bytes_to_sums(const int8_t* in, int32_t* sums, size_t count) {
  HWY_DYNAMIC_DISPATCH(AddSignedTo)(in, sums, count);
}
template <>
void quantize_means(const int32_t* sums, const MeanScale& to, uint8_t* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(MeansToUnsigned)(sums, to, out, count);
}
template <>
void quantize_means(const int32_t* sums, const MeanScale& to, int8_t* out, size_t count) {
  HWY_DYNAMIC_DISPATCH(MeansToSigned)(sums, to, out, count);
}

void sum_windows(const int32_t* line, size_t kernel, size_t stride, size_t outputs, int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(SumWindows)(line, kernel, stride, outputs, sums);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
