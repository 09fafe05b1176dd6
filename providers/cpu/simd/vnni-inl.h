// Dot products of int8 and int16 by VNNI (vpdpbusd, vpdpwssd), and the requantization of their
// int32 sums to 8 bits. Included once for each target, inside the scheme of hwy/foreach_target.h;
// what is here is for those that have the instructions (SARDONYX_HAS_VNNI).
#if defined(SARDONYX_VNNI_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SARDONYX_VNNI_INL
#undef SARDONYX_VNNI_INL
#else
#define SARDONYX_VNNI_INL
#endif

#include <hwy/highway.h>

#undef SARDONYX_HAS_VNNI
#if HWY_TARGET <= HWY_AVX3_DL
#define SARDONYX_HAS_VNNI 1
#else
#define SARDONYX_HAS_VNNI 0
#endif

#if SARDONYX_HAS_VNNI
HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Sums = hn::ScalableTag<int32_t>;
using SumScales = hn::RebindToFloat<Sums>;
using SumPairs = hn::Repartition<int16_t, Sums>;
using Bytes = hn::Repartition<uint8_t, Sums>;

// Adds to each int32 lane of `sum` the dot product of its four bytes of `x` (uint8) and `w` (int8).
// The compiler is not told of VNNI by Highway's name for these instructions, so it knows no
// intrinsic.
template <class V>
HWY_INLINE V dot4_accumulate(V sum, V x, V w) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sum.raw) : "v"(x.raw), "v"(w.raw));
  return sum;
}

// The same with two int16 of `a` and of `b`, modulo 2^32.
template <class V, class V16>
HWY_INLINE V dot2_accumulate(V sum, V16 a, V16 b) {
  asm("vpdpwssd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
  return sum;
}

// sums * scale, rounded half to even to int32; |scale| is at most 1.
HWY_INLINE hn::Vec<Sums> rounded(hn::Vec<Sums> sums, hn::Vec<SumScales> scale) {
  const auto real = hn::Mul(hn::ConvertTo(SumScales(), sums), scale);
  return hn::Vec<Sums>{_mm512_cvtps_epi32(real.raw)};  // far from what would overflow
}

// Narrows 4 x int32 of `a` and of `b` to int16 in each 128-bit block and adds the zero point, with
// saturation.
HWY_INLINE hn::Vec<SumPairs> moved_pair(hn::Vec<Sums> a, hn::Vec<Sums> b, hn::Vec<SumPairs> zero) {
  return hn::SaturatedAdd(hn::Vec<SumPairs>{_mm512_packs_epi32(a.raw, b.raw)}, zero);
}

// Narrows two such results to 8 bits with saturation; bytes are interleaved per 128-bit block.
template <bool kSigned>
HWY_INLINE hn::Vec<Bytes> narrowed_in_blocks(hn::Vec<SumPairs> first, hn::Vec<SumPairs> second) {
  return hn::Vec<Bytes>{kSigned ? _mm512_packs_epi16(first.raw, second.raw)
                                : _mm512_packus_epi16(first.raw, second.raw)};
}

// The bytes reordered to the order of the four int32 vectors.
template <bool kSigned>
HWY_INLINE hn::Vec<Bytes> narrowed(hn::Vec<SumPairs> first, hn::Vec<SumPairs> second) {
  const auto order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return hn::Vec<Bytes>{
      _mm512_permutexvar_epi32(order, narrowed_in_blocks<kSigned>(first, second).raw)};
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // SARDONYX_HAS_VNNI

#endif  // per-target include guard
