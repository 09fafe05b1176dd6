// Sums of products of bytes by VNNI, and how they become bytes.
// Included once for each target, inside the scheme of hwy/foreach_target.h; what is here is for
// those that have the instructions (SARDONYX_HAS_BYTE_SUMS).
#if defined(SARDONYX_BYTE_SUMS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_BYTE_SUMS_INL
#undef SARDONYX_BYTE_SUMS_INL
#else
#define SARDONYX_BYTE_SUMS_INL
#endif

#include <hwy/highway.h>

#undef SARDONYX_HAS_BYTE_SUMS
#if HWY_TARGET <= HWY_AVX3_DL
#define SARDONYX_HAS_BYTE_SUMS 1
#else
#define SARDONYX_HAS_BYTE_SUMS 0
#endif

#if SARDONYX_HAS_BYTE_SUMS
HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Sums = hn::ScalableTag<int32_t>;
using SumScales = hn::RebindToFloat<Sums>;
using SumPairs = hn::Repartition<int16_t, Sums>;
using Bytes = hn::Repartition<uint8_t, Sums>;

// Each lane of `sum` and the products of its four bytes of `x`, unsigned, and `w`, signed. The
// compiler is not told of VNNI by Highway's name for these instructions, so it knows no intrinsic.
template <class V>
HWY_INLINE V dot4_accumulate(V sum, V x, V w) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(x.raw), "v"(w.raw));
  return sum;
}

// `sums` times `scale`, between -1 and 1, rounded half to even.
HWY_INLINE hn::Vec<Sums> rounded(hn::Vec<Sums> sums, hn::Vec<SumScales> scale) {
  const auto real = hn::Mul(hn::ConvertTo(SumScales(), sums), scale);
  return hn::Vec<Sums>{_mm512_cvtps_epi32(real.raw)};  // far from what would overflow
}

// int32 to int16, moved by `zero`, all saturated: in each block of 128 bits four of `a` and of `b`.
HWY_INLINE hn::Vec<SumPairs> moved_pair(hn::Vec<Sums> a, hn::Vec<Sums> b, hn::Vec<SumPairs> zero) {
  return hn::SaturatedAdd(hn::Vec<SumPairs>{_mm512_packs_epi32(a.raw, b.raw)}, zero);
}

// The same of two such pairs to bytes: four of each of the four vectors in a block.
template <bool kSigned>
HWY_INLINE hn::Vec<Bytes> narrowed_in_blocks(hn::Vec<SumPairs> first, hn::Vec<SumPairs> second) {
  return hn::Vec<Bytes>{kSigned ? _mm512_packs_epi16(first.raw, second.raw)
                                : _mm512_packus_epi16(first.raw, second.raw)};
}

// In order: the first pair's a, its b, the second one's.
template <bool kSigned>
HWY_INLINE hn::Vec<Bytes> narrowed(hn::Vec<SumPairs> first, hn::Vec<SumPairs> second) {
  const auto order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return hn::Vec<Bytes>{
      _mm512_permutexvar_epi32(order, narrowed_in_blocks<kSigned>(first, second).raw)};
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // SARDONYX_HAS_BYTE_SUMS

#endif  // per-target include guard
