// Quantization: rounds floats to 8 bits with saturation, four vectors at a time. Included once for
// each target, inside the scheme of hwy/foreach_target.h.
#if defined(SARDONYX_REQUANTIZE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_REQUANTIZE_INL
#undef SARDONYX_REQUANTIZE_INL
#else
#define SARDONYX_REQUANTIZE_INL
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Numbers are rounded as multiples of 2^-16: the upper half of such an integer is the one below it,
// the lower half says how far below.
constexpr float kRoundingUnits = 65536;
// The bound on the magnitude of multiples.
constexpr float kMaxUnits = 1 << 30;

// Rounds floats below 2^31 to the nearest integer. On x86, NaN and values below -2^31 become the
// least integer.
template <class V>
HWY_INLINE auto integers_near(V v) {
  using Integers = hn::Vec<hn::RebindToSigned<hn::DFromV<V>>>;
  // Highway's op takes four instructions more to saturate.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  return Integers{_mm512_cvtps_epi32(v.raw)};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  return Integers{_mm256_cvtps_epi32(v.raw)};
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
  return Integers{_mm_cvtps_epi32(v.raw)};
#else
  return Integers{hn::NearestInt(v)};
#endif
}

// `units`, or the largest or least multiple; the least one for NaN. For integers_near().
template <class V>
HWY_INLINE V bounded_units(V units) {
  const V most = hn::Set(hn::DFromV<V>(), kMaxUnits);
#if HWY_ARCH_X86
  return hn::Min(most, units);  // NaN where that is; integers_near() does the rest
#else
  return hn::Min(hn::Max(units, hn::Neg(most)), most);
#endif
}

// out[i] = saturate(round half to even(exact number) + zero), of numbers known to within `margin`
// units.
template <typename T>  // uint8_t or int8_t
class Int8Rounding {
 public:
  using D = hn::ScalableTag<float>;
  using V = hn::Vec<D>;

  static constexpr size_t kMaxLanes = 4 * hn::MaxLanes(D());
  static size_t lanes() { return 4 * hn::Lanes(D()); }

  HWY_INLINE Int8Rounding(int32_t zero, int32_t margin)
      : margin_(margin),
        zero_(hn::Set(DShort(), static_cast<int16_t>(zero))),
        near_(hn::Set(DFraction(), static_cast<uint16_t>(2 * margin))) {}

  // The offset to add to a number, in multiples of 2^-16: one half plus the margin. The upper half
  // of the sum is the rounded number; its lower half is below 2 * margin only near a tie.
  float half() const { return kRoundingUnits / 2 + static_cast<float>(margin_); }

  // Stores lanes() bytes. Or returns false, having stored nothing: some number is as close to a tie
  // as to be rounded to this side or that.
  HWY_INLINE bool try_store([[maybe_unused]] V a, [[maybe_unused]] V b, [[maybe_unused]] V c,
                            [[maybe_unused]] V d, [[maybe_unused]] T* out) const {
#if HWY_TARGET == HWY_SCALAR
    return false;
#else
    const DShort d_short;
    const DFraction d_fraction;
    const hn::Rebind<T, DShort> narrow;
    const auto first = integers_near(a), second = integers_near(b);
    const auto third = integers_near(c), fourth = integers_near(d);
    const auto fractions = [&](auto low, auto high) HWY_ATTR {
      return hn::ConcatEven(d_fraction, hn::BitCast(d_fraction, high),
                            hn::BitCast(d_fraction, low));
    };
    const auto least = hn::Min(fractions(first, second), fractions(third, fourth));
    if (HWY_UNLIKELY(!hn::AllFalse(d_fraction, hn::Lt(least, near_)))) return false;
    const auto store = [&](auto low, auto high, T* to) HWY_ATTR {
      const auto integers =
          hn::ConcatOdd(d_short, hn::BitCast(d_short, high), hn::BitCast(d_short, low));
      hn::StoreU(hn::DemoteTo(narrow, hn::SaturatedAdd(integers, zero_)), narrow, to);
    };
    store(first, second, out);
    store(third, fourth, out + lanes() / 2);
    return true;
#endif
  }

 private:
  using DShort = hn::ScalableTag<int16_t>;
  using DFraction = hn::ScalableTag<uint16_t>;

  int32_t margin_;
  hn::Vec<DShort> zero_;
  hn::Vec<DFraction> near_;
};

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
