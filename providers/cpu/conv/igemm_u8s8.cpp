#include "providers/cpu/conv/igemm_u8s8.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "ir/core/error.h"
#include "providers/cpu/gemm/pack_transposed.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/conv/igemm_u8s8.cpp"
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/conv/output_tile-inl.h"
#include "providers/cpu/simd/partial_vector-inl.h"
#include "providers/cpu/simd/register_hint-inl.h"
#include "providers/cpu/simd/vnni-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

#if SARDONYX_HAS_VNNI

using HalfBytes = hn::Half<Bytes>;
constexpr int64_t kLanes = kU8S8Unit / 2;
static_assert(hn::MaxLanes(Sums()) == kLanes);

// Windows of a tile: with two vectors of outputs each, the sums fill the registers but for the
// weights and one input.
constexpr size_t kWindows = 14;
constexpr int64_t kLine = 64;  // bytes of a cache line
// Sums that dot products are added to in turn, so that none waits for the one before it.
constexpr size_t kDotLatency = 8;
// Bytes of a panel of weights that stays in the nearest cache: each window is multiplied with all
// of them, so that contiguous outputs are written.
constexpr int64_t kNearWeights = 16 << 10;

// The longest window, in VNNI groups, for which outputs are prefetched; with longer ones results
// are stored too seldom for that to pay.
constexpr size_t kShortWindow = 32;

// The outputs of a tile: `used` of them from `first` on.
struct Panel {
  const int8_t* weights;
  int64_t first;
  size_t used;
  int64_t ahead;  // weights so much further on are asked for: they are read next
};

// The micro-kernel: kRows x kColumns windows by kVectors vectors of outputs.
template <size_t kRows, size_t kColumns, size_t kVectors>
struct IgemmU8S8Tile {
  static constexpr size_t kCount = kRows * kColumns;
  static constexpr size_t kWindowsPerVector = 4 / kVectors;  // windows whose results fill a vector
  using V = hn::Vec<Sums>;

  // Adds the products of one quad of each window.
  HWY_INLINE void add_products(const WindowAddresses<kRows, kColumns, uint8_t>& windows,
                               int64_t offset, const int8_t* weights, V* sums) const {
    V w[kVectors];
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v)
      w[v] =
          in_register(hn::LoadU(d, reinterpret_cast<const int32_t*>(weights) + v * hn::Lanes(d)));
    __builtin_prefetch(weights + panel.ahead, 0, 2);
#pragma GCC unroll 32
    for (size_t i = 0; i < kCount; ++i) {
      int32_t quad;
      hwy::CopyBytes<kVnniGroup>(windows.element(i, offset), &quad);
      const V x = hn::Set(d, quad);
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v) {
        sums[i * kVectors + v] = dot4_accumulate(sums[i * kVectors + v], x, w[v]);
      }
    }
  }

  HWY_INLINE void multiply(const uint8_t* in, V* sums) const {
    const WindowAddresses<kRows, kColumns, uint8_t> windows(in, p.in_row, p.in_column);
    const IndexRange whole{0, static_cast<int64_t>(p.offsets.size())};
    const IndexRange* part = p.parts.empty() ? &whole : p.parts.data();
    const IndexRange* last = part + std::max<size_t>(p.parts.size(), 1);
    for (; part != last; ++part)
      multiply_part(windows, *part, sums);
  }

  HWY_INLINE void multiply_part(const WindowAddresses<kRows, kColumns, uint8_t>& windows,
                                IndexRange part, V* sums) const {
    constexpr size_t kSums = kCount * kVectors;
    constexpr int64_t kStep = kVectors * kLanes * kVnniGroup;
    const int8_t* weights = panel.weights + part.begin * kStep;
    const int32_t *offset = p.offsets.data() + part.begin, *end = p.offsets.data() + part.end;
    if constexpr (kSums < kDotLatency) {
      constexpr size_t kChains = kDotLatency / kSums;
      V apart[kChains - 1][kSums];
#pragma GCC unroll 32
      for (size_t i = 0; i < (kChains - 1) * kSums; ++i)
        apart[i / kSums][i % kSums] = hn::Zero(d);
      for (; end - offset >= static_cast<ptrdiff_t>(kChains); offset += kChains) {
#pragma GCC unroll 8
        for (size_t chain = 0; chain < kChains; ++chain, weights += kStep)
          add_products(windows, offset[chain], weights, chain == 0 ? sums : apart[chain - 1]);
      }
#pragma GCC unroll 32
      for (size_t i = 0; i < (kChains - 1) * kSums; ++i)
        sums[i % kSums] = hn::Add(sums[i % kSums], apart[i / kSums][i % kSums]);
    }
    for (; offset != end; ++offset, weights += kStep)
      add_products(windows, *offset, weights, sums);
  }

  // Stores the int32 sums or, with kNumbers, floats: sum * scale + addend.
  template <bool kNumbers>
  HWY_INLINE void store_wide(const V* sums, uint8_t* out) const {
    const SumScales d_float;
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v) {
      const int64_t first = panel.first + static_cast<int64_t>(v) * kLanes;
      const auto scale = kNumbers ? hn::LoadU(d_float, p.scales + first) : hn::Zero(d_float);
      const auto addend =
          kNumbers && p.addend ? hn::LoadU(d_float, p.addend + first) : hn::Zero(d_float);
      const size_t used = panel.used - std::min<size_t>(panel.used, v * kLanes);
#pragma GCC unroll 32
      for (size_t i = 0; i < kCount; ++i) {
        V result = sums[i * kVectors + v];
        if (kNumbers) {
          auto number = hn::Mul(hn::ConvertTo(d_float, result), scale);
          if (p.addend) number = hn::Add(number, addend);
          result = hn::BitCast(d, number);
        }
        auto* to = reinterpret_cast<int32_t*>(out + static_cast<int64_t>(i / kColumns) * p.out_row +
                                              static_cast<int64_t>(i % kColumns) * p.out_column) +
                   v * kLanes;
        if (used >= kLanes)
          hn::StoreU(result, d, to);
        else
          store_part(result, d, to, used);
      }
    }
  }

  // Stores bytes: sums times scale, rounded half to even, plus the zero point, saturated.
  template <bool kSigned>
  HWY_INLINE void requantize(const V* sums, uint8_t* out) const {
    const SumScales d_float;
    hn::Vec<SumScales> scales[kVectors];
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v)
      scales[v] = hn::LoadU(d_float, p.scales + panel.first + v * hn::Lanes(d));
    requantize_all<kSigned>(
        sums, scales, out,
        std::make_index_sequence<(kCount + kWindowsPerVector - 1) / kWindowsPerVector>());
  }

  // Indices are constants, so that the sums stay in registers.
  template <bool kSigned, size_t... parts>
  HWY_INLINE void requantize_all(const V* sums, const hn::Vec<SumScales>* scales, uint8_t* out,
                                 std::index_sequence<parts...>) const {
    (requantize_some<kSigned, kWindowsPerVector * parts>(sums, scales, out), ...);
  }

  // Stores the results of windows i to i + kWindowsPerVector, which are four vectors of sums.
  template <bool kSigned, size_t i>
  HWY_INLINE void requantize_some(const V* sums, const hn::Vec<SumScales>* scales,
                                  uint8_t* out) const {
    constexpr size_t j = i + 2 / kVectors;
    const auto zero = hn::Set(SumPairs(), static_cast<int16_t>(p.zero));
    const auto first = moved_pair(result<i, 0>(sums, scales), result<i, 1>(sums, scales), zero);
    const auto second = moved_pair(result<j, 0>(sums, scales), result<j, 1>(sums, scales), zero);
    const auto bytes = narrowed<kSigned>(first, second);
    if constexpr (kVectors == 2) {
      store<i>(hn::LowerHalf(HalfBytes(), bytes), HalfBytes(), out);
      store<j>(hn::UpperHalf(HalfBytes(), bytes), HalfBytes(), out);
    } else {
      const hn::Half<HalfBytes> quarter;
      const auto low = hn::LowerHalf(HalfBytes(), bytes), high = hn::UpperHalf(HalfBytes(), bytes);
      store<i>(hn::LowerHalf(quarter, low), quarter, out);
      store<i + 1>(hn::UpperHalf(quarter, low), quarter, out);
      store<i + 2>(hn::LowerHalf(quarter, high), quarter, out);
      store<i + 3>(hn::UpperHalf(quarter, high), quarter, out);
    }
  }

  // Stores vector `place` of window `i` and the ones after it.
  template <size_t i, size_t place>
  HWY_INLINE V result(const V* sums, const hn::Vec<SumScales>* scales) const {
    constexpr size_t vector = i * kVectors + place;
    if constexpr (vector >= kCount * kVectors)
      return hn::Zero(d);
    else
      return rounded(sums[vector], scales[vector % kVectors]);
  }

  template <size_t i, class D>
  HWY_INLINE void store(hn::Vec<D> results, D d8, uint8_t* out) const {
    if constexpr (i < kCount) {
      uint8_t* to = out + static_cast<int64_t>(i / kColumns) * p.out_row +
                    static_cast<int64_t>(i % kColumns) * p.out_column;
      if (panel.used == hn::Lanes(d8))
        hn::StoreU(results, d8, to);
      else
        store_part(results, d8, to, panel.used);
    }
  }

  // Prefetches the outputs of this tile while it is computed.
  HWY_INLINE void ask_for(const uint8_t* out) const {
#pragma GCC unroll 32
    for (size_t i = 0; i < kCount; ++i)
      __builtin_prefetch(out + static_cast<int64_t>(i / kColumns) * p.out_row +
                             static_cast<int64_t>(i % kColumns) * p.out_column,
                         1, 3);
  }

  HWY_INLINE void run(int64_t row, int64_t column) const {
    V sums[kCount * kVectors];
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v) {
      const V start = hn::LoadU(d, p.start + panel.first + v * hn::Lanes(d));
#pragma GCC unroll 32
      for (size_t i = 0; i < kCount; ++i)
        sums[i * kVectors + v] = start;
    }
    if (p.window_start) {
#pragma GCC unroll 32
      for (size_t i = 0; i < kCount; ++i) {
        const int64_t window = (row + static_cast<int64_t>(i / kColumns)) * p.columns + column +
                               static_cast<int64_t>(i % kColumns);
#pragma GCC unroll 2
        for (size_t v = 0; v < kVectors; ++v)
          sums[i * kVectors + v] =
              hn::Add(sums[i * kVectors + v], hn::Set(d, p.window_start[window]));
      }
    }
    const bool are_bytes = p.result == U8S8Output::kUInt8 || p.result == U8S8Output::kInt8;
    uint8_t* out = p.out + row * p.out_row + column * p.out_column +
                   panel.first * (are_bytes ? 1 : static_cast<int64_t>(sizeof(int32_t)));
    if (p.offsets.size() <= kShortWindow) ask_for(out);
    multiply(p.in + row * p.in_row + column * p.in_column, sums);
    switch (p.result) {
      case U8S8Output::kUInt8:
        return requantize<false>(sums, out);
      case U8S8Output::kInt8:
        return requantize<true>(sums, out);
      case U8S8Output::kFloat:
        return store_wide<true>(sums, out);
      case U8S8Output::kInt32:
        return store_wide<false>(sums, out);
    }
  }

  const ConvU8S8Args& p;
  const Panel& panel;
  Sums d = {};
};

template <size_t kRows, size_t kVectors>
HWY_NOINLINE void convolve_columns(const ConvU8S8Args& p, const Panel& panel, int64_t row,
                                   int64_t begin, int64_t end) {
  with_constant<kWindows / kRows>(static_cast<size_t>(end - begin), [&](auto columns) HWY_ATTR {
    IgemmU8S8Tile<kRows, decltype(columns)::value, kVectors>{p, panel}.run(row, begin);
  });
}

template <size_t kVectors>
HWY_INLINE void convolve_tile(const ConvU8S8Args& p, const Panel& panel, int64_t row, int64_t rows,
                              int64_t begin, int64_t end) {
  if (rows == 4)
    convolve_columns<4, kVectors>(p, panel, row, begin, end);
  else if (rows == 2)
    convolve_columns<2, kVectors>(p, panel, row, begin, end);
  else
    convolve_columns<1, kVectors>(p, panel, row, begin, end);
}

void convolve_panel(const ConvU8S8Args& p, int64_t first, int64_t ahead, int64_t row, int64_t rows,
                    int64_t begin, int64_t end) {
  const auto quads = static_cast<int64_t>(p.offsets.size());
  const int64_t used = std::min(p.outputs - first, kU8S8Unit);
  const Panel panel{p.weights + first * quads * kVnniGroup, first, static_cast<size_t>(used),
                    ahead};
  if (used > kLanes)
    convolve_tile<2>(p, panel, row, rows, begin, end);
  else
    convolve_tile<1>(p, panel, row, rows, begin, end);
}

void IgemmU8S8(const ConvU8S8Args& p, int64_t first_row, int64_t last_row, int64_t first_output,
               int64_t last_output) {
  const auto window = static_cast<int64_t>(p.offsets.size()) * kVnniGroup;
  if (window * p.outputs <= kNearWeights) {
    for_tiles<kWindows>(first_row, last_row, p.columns, [&](auto... tile) {
      for (int64_t first = first_output; first < last_output; first += kU8S8Unit)
        convolve_panel(p, first, 0, tile...);
    });
    return;
  }
  for (int64_t first = first_output; first < last_output; first += kU8S8Unit) {
    // The first two tiles prefetch every other cache line of the next panel each.
    const bool is_end = first + kU8S8Unit >= p.outputs;
    int64_t done = 0;
    for_tiles<kWindows>(first_row, last_row, p.columns, [&](auto... tile) {
      const int64_t ahead = is_end || done > 1 ? 0 : window * kU8S8Unit + done * kLine;
      convolve_panel(p, first, ahead, tile...);
      ++done;
    });
  }
}

// Sums signed bytes as unsigned ones, each 128 more, and corrects the sum.
int32_t SumOfBytes(const int8_t* bytes, int64_t count) {
  const Bytes d8;
  const hn::Repartition<uint64_t, Bytes> d64;
  const auto sign = hn::Set(d8, uint8_t{0x80});
  const auto lanes = static_cast<int64_t>(hn::Lanes(d8));
  auto sums = hn::Zero(d64);
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto from = hn::LoadU(d8, reinterpret_cast<const uint8_t*>(bytes + i));
    sums = hn::Add(sums, hn::SumsOf8(hn::Xor(from, sign)));
  }
  auto sum = static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(d64, sums))) - 128 * i;
  for (; i < count; ++i)
    sum += bytes[i];
  return static_cast<int32_t>(sum);
}

bool HasIgemmU8S8() {
  return true;
}

#else

void IgemmU8S8(const ConvU8S8Args&, int64_t, int64_t, int64_t, int64_t) {
  SARDONYX_CHECK(false);
}

int32_t SumOfBytes(const int8_t*, int64_t) {
  SARDONYX_CHECK(false);
}

bool HasIgemmU8S8() {
  return false;
}

#endif

}  // namespace
}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(IgemmU8S8);
HWY_EXPORT(SumOfBytes);
HWY_EXPORT(HasIgemmU8S8);

bool has_igemm_u8s8() {
  return HWY_DYNAMIC_DISPATCH(HasIgemmU8S8)();
}

void run_igemm_u8s8(const ConvU8S8Args& windows, int64_t first_row, int64_t last_row,
                    int64_t first_output, int64_t last_output) {
  HWY_DYNAMIC_DISPATCH(IgemmU8S8)(windows, first_row, last_row, first_output, last_output);
}

int64_t packed_igemm_u8s8_size(int64_t quads, int64_t outputs) {
  constexpr int64_t kLanes = kU8S8Unit / 2;
  return (outputs + kLanes - 1) / kLanes * kLanes * quads * kVnniGroup;
}

namespace {

// [inputs][taps] -> [taps][inputs]
void transpose_taps(const int8_t* from, int64_t inputs, int64_t taps, int8_t* to) {
  for (int64_t input = 0; input < inputs; input += kVnniGroup, from += kVnniGroup * taps) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int8_t quad[kVnniGroup] = {from[tap], from[taps + tap], from[2 * taps + tap],
                                       from[3 * taps + tap]};
      std::memcpy(to + tap * inputs + input, quad, kVnniGroup);
    }
  }
}

}  // namespace

// Packs weights into panels of two vectors of outputs, [quads][outputs][4]; the last panel may have
// one.
void pack_igemm_u8s8(const int8_t* weights, int64_t inputs, int64_t taps, int64_t first,
                     int64_t last, int8_t* packed, int32_t* sums) {
  const int64_t size = inputs * taps, quads = size / kVnniGroup;
  std::vector<int8_t> transposed(static_cast<size_t>(taps > 1 ? kU8S8Unit * size : 0));
  for (int64_t begin = first; begin < last; begin += kU8S8Unit) {
    const int64_t used = std::min(last - begin, kU8S8Unit);
    const int64_t width = used > kU8S8Unit / 2 ? kU8S8Unit : kU8S8Unit / 2;
    const int8_t* rows = weights + begin * size;
    for (int64_t row = 0; row < used; ++row) {
      sums[begin + row] = HWY_DYNAMIC_DISPATCH(SumOfBytes)(rows + row * size, size);
      if (taps > 1) transpose_taps(rows + row * size, inputs, taps, transposed.data() + row * size);
    }
    if (taps > 1) rows = transposed.data();
    int8_t* panel = packed + begin * size;
    if (used < width) std::fill_n(panel, width * size, int8_t{0});
    pack_transposed(reinterpret_cast<const LooseFloat*>(rows), quads, used, quads,
                    reinterpret_cast<float*>(panel), width);
  }
}

void pack_gemm_u8s8(const int8_t* matrix, int64_t row_step, int64_t rows, int64_t first,
                    int64_t last, int8_t* packed, int32_t* sums) {
  for (int64_t begin = first; begin < last; begin += kU8S8Unit) {
    const int64_t used = std::min(last - begin, kU8S8Unit);
    const int64_t width = used > kU8S8Unit / 2 ? kU8S8Unit : kU8S8Unit / 2;
    int8_t* to = packed + begin * rows;
    std::fill_n(sums + begin, used, 0);
    for (int64_t row = 0; row < rows; row += kVnniGroup, to += kVnniGroup * width) {
      const int8_t* from = matrix + row * row_step + begin;
      for (int64_t column = 0; column < used; ++column) {
        const int8_t quad[kVnniGroup] = {from[column], from[row_step + column],
                                         from[2 * row_step + column], from[3 * row_step + column]};
        std::memcpy(to + kVnniGroup * column, quad, kVnniGroup);
        sums[begin + column] += quad[0] + quad[1] + quad[2] + quad[3];
      }
      std::fill_n(to + kVnniGroup * used, kVnniGroup * (width - used), int8_t{0});
    }
  }
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
