#include "providers/cpu/conv/winograd/winograd_f32.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/conv/winograd/winograd_f32.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "providers/cpu/simd/clamp-inl.h"
#include "providers/cpu/simd/partial_vector-inl.h"
#include "providers/cpu/simd/register_hint-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using D = hn::CappedTag<float, kChannelBlock>;
using V = hn::Vec<D>;

// Tiles that are multiplied in one pass, with two vectors of outputs each.
constexpr size_t kTiles = (kRegisters - 2) / 2 - 1;
constexpr int64_t kMaxSharers = 4;
// Distance of the prefetch of input columns, from the first column of a tile.
constexpr int64_t kColumnsAhead = 14;

int64_t lanes() {
  return static_cast<int64_t>(hn::Lanes(D()));
}

V set(float value) {
  return hn::Set(D(), value);
}

// Tiles of 2x2 outputs, computed from 4x4 inputs.
struct OfTwo {
  static constexpr int64_t kSide = 2, kAlpha = 4;

  // One row of B^T d.
  template <class Load, class Store>
  static HWY_INLINE void spread(const Load& load, const Store& store) {
    const V d1 = load(1), d2 = load(2);
    store(0, hn::Sub(load(0), d2));
    store(1, hn::Add(d1, d2));
    store(2, hn::Sub(d2, d1));
    store(3, hn::Sub(load(3), d1));
  }
  // One row of A^T m.
  template <class Load, class Store>
  static HWY_INLINE void gather(const Load& load, const Store& store) {
    const V m1 = load(1), m2 = load(2);
    store(0, hn::Add(load(0), hn::Add(m1, m2)));
    store(1, hn::Add(hn::Sub(m1, m2), load(3)));
  }
};

// Tiles of 4x4 outputs, computed from 6x6 inputs.
struct OfFour {
  static constexpr int64_t kSide = 4, kAlpha = 6;
  static constexpr float kNear = 0.625f, kFar = 1.5f;
  static constexpr float kNear2 = kNear * kNear, kFar2 = kFar * kFar;

  // The coefficients of x^0 to x^5 in the product of all points' factors but one.
  template <class Load, class Store>
  static HWY_INLINE void spread(const Load& load, const Store& store) {
    const V d1 = load(1), d2 = load(2), d3 = load(3), d4 = load(4);
    const V near_even = hn::NegMulAdd(d2, set(kFar2), d4);
    const V near_odd = hn::NegMulAdd(d1, set(kFar2), d3);
    const V far_even = hn::NegMulAdd(d2, set(kNear2), d4);
    const V far_odd = hn::NegMulAdd(d1, set(kNear2), d3);
    const V first = hn::NegMulAdd(d2, set(kNear2 + kFar2), d4);
    const V last = hn::NegMulAdd(d3, set(kNear2 + kFar2), load(5));
    store(0, hn::MulAdd(load(0), set(kNear2 * kFar2), first));
    store(1, hn::MulAdd(near_odd, set(kNear), near_even));
    store(2, hn::NegMulAdd(near_odd, set(kNear), near_even));
    store(3, hn::MulAdd(far_odd, set(kFar), far_even));
    store(4, hn::NegMulAdd(far_odd, set(kFar), far_even));
    store(5, hn::MulAdd(d1, set(kNear2 * kFar2), last));
  }
  // Sums of powers of the points.
  template <class Load, class Store>
  static HWY_INLINE void gather(const Load& load, const Store& store) {
    const V m1 = load(1), m2 = load(2), m3 = load(3), m4 = load(4);
    const V near_even = hn::Add(m1, m2), near_odd = hn::Sub(m1, m2);
    const V far_even = hn::Add(m3, m4), far_odd = hn::Sub(m3, m4);
    store(0, hn::Add(load(0), hn::Add(near_even, far_even)));
    store(1, hn::MulAdd(near_odd, set(kNear), hn::Mul(far_odd, set(kFar))));
    store(2, hn::MulAdd(near_even, set(kNear2), hn::Mul(far_even, set(kFar2))));
    store(3, hn::MulAdd(near_odd, set(kNear2 * kNear),
                        hn::MulAdd(far_odd, set(kFar2 * kFar), load(5))));
  }
};

// Transforms a vector of channels of one input tile; the output's places are `place` elements
// apart.
template <class F>
HWY_INLINE void transform_tile(const float* from, int64_t row, int64_t column, float* to,
                               int64_t place) {
  constexpr int64_t kAlpha = F::kAlpha;
  const D d;
  V tall[kAlpha][kAlpha];
#pragma GCC unroll 6
  for (int64_t x = 0; x < kAlpha; ++x) {
    const float* at = from + x * column;
    F::spread([&](int64_t y) HWY_ATTR { return hn::LoadU(d, at + y * row); },
              [&](int64_t u, V v) HWY_ATTR { tall[u][x] = v; });
  }
#pragma GCC unroll 6
  for (int64_t u = 0; u < kAlpha; ++u) {
    F::spread([&](int64_t x) HWY_ATTR { return tall[u][x]; },
              [&](int64_t v, V value)
                  HWY_ATTR { hn::StoreU(value, d, to + (u * kAlpha + v) * place); });
  }
}

// Copies a tile that is partly outside of the image (zeros there), or whose channels do not fill a
// vector. `from` is the image's first pixel.
template <int64_t kAlpha>
HWY_INLINE void copy_patch(const WinogradImage& p, const float* from, int64_t y, int64_t x,
                           size_t channels, float* patch) {
  const D d;
  const bool is_whole = channels >= hn::Lanes(d);
  for (int64_t i = 0; i < kAlpha; ++i, patch += kAlpha * lanes()) {
    const int64_t row = y + i * p.dilation[0];
    for (int64_t j = 0; j < kAlpha; ++j) {
      const int64_t column = x + j * p.dilation[1];
      V v = hn::Zero(d);
      if (row >= 0 && row < p.height && column >= 0 && column < p.width) {
        const float* at = from + row * p.in_steps.row + column * p.in_steps.column;
        v = is_whole ? hn::LoadU(d, at) : load_part(d, at, channels);
      }
      hn::Store(v, d, patch + j * lanes());
    }
  }
}

// `elements`, whole cache lines, rounded up to an odd number of lines, so that accesses at this
// stride do not fall into the same cache set.
int64_t odd_lines(int64_t elements) {
  constexpr int64_t kLine = 16;
  return (elements / kLine | 1) * kLine;
}

// The layout of transformed tiles: [places][blocks of channels][tiles][channels of a block].
struct Spread {
  float* values;
  int64_t tiles, block, place;  // steps from block to block and place to place
  Spread(float* at, int64_t inputs, int64_t count)
      : values(at),
        tiles(count),
        block(count * kChannelBlock),
        place(odd_lines((inputs + kChannelBlock - 1) / kChannelBlock * block)) {}
};

// Transforms a vector of channels, from `first` on, of all tiles.
template <class F>
HWY_NOINLINE void spread_channels(const WinogradImage& p, int64_t first, const Spread& spread,
                                  int64_t channel) {
  constexpr int64_t kAlpha = F::kAlpha;
  const int64_t row_step = p.dilation[0] * p.in_steps.row;
  const int64_t column_step = p.dilation[1] * p.in_steps.column;
  const int64_t in_block = channel % kChannelBlock, across = p.tiles_across();
  const int64_t last_y = p.height - (kAlpha - 1) * p.dilation[0];  // exclusive, of whole tiles
  const int64_t last_x = p.width - (kAlpha - 1) * p.dilation[1];
  const float* from = p.in + channel / kChannelBlock * p.in_steps.block + in_block;
  float* to = spread.values + channel / kChannelBlock * spread.block + in_block;
  const bool is_whole = channel + lanes() <= p.inputs;
  HWY_ALIGN float patch[kAlpha * kAlpha * kChannelBlock];
  for (int64_t i = 0; i < spread.tiles; ++i, to += kChannelBlock) {
    const int64_t y = p.first_of_tile(0, (first + i) / across) - p.pad[0];
    const int64_t x = p.first_of_tile(1, (first + i) % across) - p.pad[1];
    if (is_whole && y >= 0 && x >= 0 && y < last_y && x < last_x) {
      const float* at = from + y * p.in_steps.row + x * p.in_steps.column;
      for (int64_t row = 0; row < kAlpha; ++row) {
        for (int64_t column = 0; column < F::kSide; ++column)
          __builtin_prefetch(at + row * row_step + (column + kColumnsAhead) * column_step, 0, 3);
      }
      transform_tile<F>(at, row_step, column_step, to, spread.place);
    } else {
      copy_patch<kAlpha>(p, from, y, x, static_cast<size_t>(p.inputs - channel), patch);
      transform_tile<F>(patch, kAlpha * lanes(), lanes(), to, spread.place);
    }
  }
}

// Weights to prefetch while others are used: `step` floats with every input, and those `second`
// floats further on.
struct Ahead {
  const float* next;
  int64_t step, second;
};

// Computes the products of one place, [tiles][unit] of outputs, for kVectors vectors of outputs.
template <size_t kCount, size_t kVectors>
HWY_INLINE void multiply_tiles(const float* in, int64_t block, int64_t inputs, const float* weights,
                               Ahead ahead, float* out) {
  const D d;
  const size_t n = hn::Lanes(d);
  V sums[kCount * kVectors];
#pragma GCC unroll 32
  for (size_t i = 0; i < kCount * kVectors; ++i)
    sums[i] = hn::Zero(d);
  for (int64_t left = inputs; left > 0; left -= kChannelBlock, in += block) {
    const float* from = in;
    for (int64_t k = std::min(left, kChannelBlock); k > 0; --k, ++from) {
      V w[kVectors];
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v)
        w[v] = in_register(hn::LoadU(d, weights + v * n));
      __builtin_prefetch(ahead.next, 0, 2);
      __builtin_prefetch(ahead.next + ahead.second, 0, 2);
      ahead.next += ahead.step;
      weights += kWinogradUnit;
#pragma GCC unroll 16
      for (size_t i = 0; i < kCount; ++i) {
        const V x = hn::Set(d, from[i * kChannelBlock]);
#pragma GCC unroll 2
        for (size_t v = 0; v < kVectors; ++v)
          sums[i * kVectors + v] = hn::MulAdd(x, w[v], sums[i * kVectors + v]);
      }
    }
  }
#pragma GCC unroll 16
  for (size_t i = 0; i < kCount; ++i) {
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v)
      hn::StoreU(sums[i * kVectors + v], d, out + i * kWinogradUnit + v * n);
  }
}

template <size_t kVectors>
HWY_NOINLINE void multiply_place(const Spread& in, int64_t inputs, int64_t place,
                                 const float* weights, float* out) {
  constexpr auto kMax = static_cast<int64_t>(kTiles);
  const int64_t groups = (in.tiles + kMax - 1) / kMax;
  // The first groups share the weights of the next place.
  const int64_t sharers = std::min(groups, kMaxSharers);
  for (int64_t group = 0; group < groups; ++group) {
    const int64_t begin = in.tiles * group / groups, end = in.tiles * (group + 1) / groups;
    const float* from = in.values + place * in.place + begin * kChannelBlock;
    Ahead ahead{weights, 0, 0};
    if (group < sharers) {
      ahead.next += inputs * kWinogradUnit + inputs * kWinogradUnit / sharers * group;
      ahead.step = kWinogradUnit / sharers;
      ahead.second = sharers == 1 ? kWinogradUnit / 2 : 0;
    }
    with_constant<kTiles>(static_cast<size_t>(end - begin), [&](auto count) HWY_ATTR {
      multiply_tiles<decltype(count)::value, kVectors>(from, in.block, inputs, weights, ahead,
                                                       out + begin * kWinogradUnit);
    });
  }
}

// Transforms a vector of outputs of one tile back; the products' places are `place` elements apart.
template <class F>
HWY_NOINLINE void finish_tile(const WinogradImage& p, int64_t tile, int64_t output,
                              const float* from, int64_t place) {
  constexpr int64_t kSide = F::kSide, kAlpha = F::kAlpha;
  const D d;
  V wide[kSide][kAlpha];
#pragma GCC unroll 6
  for (int64_t v = 0; v < kAlpha; ++v) {
    F::gather([&](int64_t u) HWY_ATTR { return hn::LoadU(d, from + (u * kAlpha + v) * place); },
              [&](int64_t y, V value) HWY_ATTR { wide[y][v] = value; });
  }
  const int64_t row = p.first_of_tile(0, tile / p.tiles_across());
  const int64_t column = p.first_of_tile(1, tile % p.tiles_across());
  const auto left = static_cast<size_t>(p.outputs - output);
  const bool is_whole = left >= hn::Lanes(d);
  const V bias = hn::LoadU(d, p.bias + output), low = set(p.low), high = set(p.high);
  const int64_t at = row * p.out_steps.row + column * p.out_steps.column +
                     output / kChannelBlock * p.out_steps.block + output % kChannelBlock;
#pragma GCC unroll 4
  for (int64_t y = 0; y < kSide; ++y) {
    if (row + y * p.dilation[0] >= p.out_height) break;
    V sums[kSide];
    F::gather([&](int64_t v) HWY_ATTR { return wide[y][v]; },
              [&](int64_t x, V value) HWY_ATTR { sums[x] = value; });
#pragma GCC unroll 4
    for (int64_t x = 0; x < kSide; ++x) {
      if (column + x * p.dilation[1] >= p.out_width) break;
      const int64_t there =
          at + y * p.dilation[0] * p.out_steps.row + x * p.dilation[1] * p.out_steps.column;
      V sum = hn::Add(sums[x], bias);
      if (p.residual)
        sum = hn::Add(sum, is_whole ? hn::LoadU(d, p.residual + there)
                                    : load_part(d, p.residual + there, left));
      sum = clipped(sum, low, high);
      if (is_whole)
        hn::StoreU(sum, d, p.out + there);
      else
        store_part(sum, d, p.out + there, left);
    }
  }
}

template <class F>
void convolve(const WinogradImage& p, int64_t first_tile, int64_t last_tile, int64_t first_output,
              int64_t last_output, float* scratch) {
  constexpr int64_t kPlaces = F::kAlpha * F::kAlpha;
  const int64_t tiles = last_tile - first_tile, step = odd_lines(tiles * kWinogradUnit);
  const Spread spread(scratch, p.inputs, tiles);
  float* products = scratch + kPlaces * spread.place;
  for (int64_t channel = 0; channel < p.inputs; channel += lanes())
    spread_channels<F>(p, first_tile, spread, channel);
  for (int64_t first = first_output; first < last_output; first += kWinogradUnit) {
    const float* weights = p.weights + first * kPlaces * p.inputs;
    const int64_t outputs = std::min(kWinogradUnit, p.outputs - first);
    for (int64_t place = 0; place < kPlaces; ++place) {
      for (int64_t at = 0; at < outputs; at += 2 * lanes()) {
        float* out = products + place * step + at;
        if (outputs - at > lanes())
          multiply_place<2>(spread, p.inputs, place, weights + at, out);
        else
          multiply_place<1>(spread, p.inputs, place, weights + at, out);
      }
      weights += p.inputs * kWinogradUnit;
    }
    for (int64_t at = 0; at < outputs; at += lanes()) {
      for (int64_t tile = 0; tile < tiles; ++tile)
        finish_tile<F>(p, first_tile + tile, first + at, products + tile * kWinogradUnit + at,
                       step);
    }
  }
}

int64_t WinogradScratch(const WinogradImage& p, int64_t tiles) {
  return p.places() * (Spread(nullptr, p.inputs, tiles).place + odd_lines(tiles * kWinogradUnit));
}

void ConvolveWinograd(const WinogradImage& p, int64_t first_tile, int64_t last_tile,
                      int64_t first_output, int64_t last_output, float* scratch) {
  if (p.side == OfTwo::kSide)
    convolve<OfTwo>(p, first_tile, last_tile, first_output, last_output, scratch);
  else
    convolve<OfFour>(p, first_tile, last_tile, first_output, last_output, scratch);
}

}  // namespace
}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(WinogradScratch);
HWY_EXPORT(ConvolveWinograd);

int64_t winograd_scratch(const WinogradImage& image, int64_t tiles) {
  return HWY_DYNAMIC_DISPATCH(WinogradScratch)(image, tiles);
}
void convolve_winograd(const WinogradImage& image, int64_t first_tile, int64_t last_tile,
                       int64_t first_output, int64_t last_output, float* scratch) {
  HWY_DYNAMIC_DISPATCH(ConvolveWinograd)
  (image, first_tile, last_tile, first_output, last_output, scratch);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
