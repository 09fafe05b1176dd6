#include "providers/cpu/conv/dwconv_u8s8.h"

#include <algorithm>

#include "ir/core/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/conv/dwconv_u8s8.cpp"
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/simd/partial_vector-inl.h"
#include "providers/cpu/simd/vnni-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

#if SARDONYX_HAS_VNNI

constexpr int64_t kLanes = kDwConvBlock / 4;
static_assert(hn::MaxLanes(Sums()) == kLanes);

// Computes a block of channels of kColumns adjacent columns.
template <size_t kColumns, bool kSource, bool kSigned>
struct DepthwiseTile {
  using V = hn::Vec<Sums>;

  HWY_INLINE hn::Vec<Bytes> load_tap(const uint8_t* from) const {
    const Bytes d;
    const auto bytes = hn::LoadU(d, from);
    return kSource ? hn::Xor(bytes, hn::Set(d, uint8_t{0x80})) : bytes;
  }

  // The elements of a group, those of one channel next to each other: in each block of 128 bits of
  // vector v the channels 4 v to 4 v + 3 of the 16 that are there.
  HWY_INLINE void load(const uint8_t* const* taps, int64_t at, V* x) const {
    const Bytes d;
    const hn::Repartition<uint16_t, Sums> d16;
    const auto a = load_tap(taps[0] + at), b = load_tap(taps[1] + at);
    const auto e = load_tap(taps[2] + at), f = load_tap(taps[3] + at);
    const auto low = hn::BitCast(d16, hn::InterleaveLower(d, a, b));
    const auto high = hn::BitCast(d16, hn::InterleaveUpper(d, a, b));
    const auto low2 = hn::BitCast(d16, hn::InterleaveLower(d, e, f));
    const auto high2 = hn::BitCast(d16, hn::InterleaveUpper(d, e, f));
    const Sums d32;
    x[0] = hn::BitCast(d32, hn::InterleaveLower(d16, low, low2));
    x[1] = hn::BitCast(d32, hn::InterleaveUpper(d16, low, low2));
    x[2] = hn::BitCast(d32, hn::InterleaveLower(d16, high, high2));
    x[3] = hn::BitCast(d32, hn::InterleaveUpper(d16, high, high2));
  }

  HWY_INLINE void multiply(int64_t at, V* sums) const {
    const int32_t* w = weights;
    for (size_t tap = 0; tap < p.taps.size(); tap += kTapsPerTile) {
      V x[4];
      load(&p.taps[tap], at, x);
#pragma GCC unroll 2
      for (size_t column = 0; column < kColumns; ++column) {
#pragma GCC unroll 4
        for (size_t v = 0; v < 4; ++v, w += kLanes) {
          V& sum = sums[4 * column + v];
          sum = dot4_accumulate(sum, x[v], hn::LoadU(Sums(), w));
        }
      }
      if (kColumns == 1 && p.in_pairs) w += kDwConvBlock;  // of the other column
    }
  }

  HWY_INLINE void finish(const V* sums, int64_t used, uint8_t* to) const {
    const auto zero = hn::Set(SumPairs(), static_cast<int16_t>(p.zero));
    const auto scale = [&](size_t v) HWY_ATTR {
      return hn::LoadU(SumScales(), p.scales + first + static_cast<int64_t>(v) * kLanes);
    };
    const auto low = moved_pair(rounded(sums[0], scale(0)), rounded(sums[1], scale(1)), zero);
    const auto high = moved_pair(rounded(sums[2], scale(2)), rounded(sums[3], scale(3)), zero);
    const auto results = narrowed_in_blocks<kSigned>(low, high);
    if (used == kDwConvBlock)
      hn::StoreU(results, Bytes(), to);
    else
      store_part(results, Bytes(), to, static_cast<size_t>(used));
  }

  HWY_INLINE void run(int64_t column, int64_t used) const {
    V sums[4 * kColumns];
#pragma GCC unroll 8
    for (size_t i = 0; i < 4 * kColumns; ++i)
      sums[i] = hn::LoadU(Sums(), p.start + first + static_cast<int64_t>(i % 4) * kLanes);
    multiply(column * p.in_column + first, sums);
    uint8_t* out = p.out + column * p.out_column + first;
    finish(sums, used, out);
    if constexpr (kColumns == 2) finish(sums + 4, used, out + p.out_column);
  }

  const ByteDepthwiseRow p;
  const int32_t* weights;
  int64_t first;  // channel
};

template <bool kSource, bool kSigned>
void convolve_row(const ByteDepthwiseRow& p) {
  const size_t columns = p.in_pairs ? 2 : 1;
  const int64_t block_weights = static_cast<int64_t>(p.taps.size() * columns) * kDwConvBlock;
  for (int64_t first = 0; first < p.channels; first += kDwConvBlock) {
    const auto* weights =
        reinterpret_cast<const int32_t*>(p.weights + first / kDwConvBlock * block_weights);
    const int64_t used = std::min(p.channels - first, kDwConvBlock);
    const DepthwiseTile<1, kSource, kSigned> one{p, weights, first};
    int64_t column = 0;
    if (p.in_pairs) {
      const DepthwiseTile<2, kSource, kSigned> two{p, weights, first};
      for (; column + 2 <= p.columns; column += 2)
        two.run(column, used);
    }
    for (; column + 1 < p.columns; ++column)
      one.run(column, used);
    if (column < p.columns) one.run(column, std::min(p.last_channels - first, used));
  }
}

void ConvolveByteChannels(const ByteDepthwiseRow& p) {
  if (p.source_is_signed && p.is_signed)
    convolve_row<true, true>(p);
  else if (p.source_is_signed)
    convolve_row<true, false>(p);
  else if (p.is_signed)
    convolve_row<false, true>(p);
  else
    convolve_row<false, false>(p);
}

#else

void ConvolveByteChannels(const ByteDepthwiseRow&) {
  SARDONYX_CHECK(false);
}

#endif

}  // namespace
}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(ConvolveByteChannels);

void convolve_byte_channels(const ByteDepthwiseRow& row) {
  HWY_DYNAMIC_DISPATCH(ConvolveByteChannels)(row);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
