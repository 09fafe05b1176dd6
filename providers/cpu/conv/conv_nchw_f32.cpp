#include "providers/cpu/conv/conv_nchw_f32.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/conv/conv_nchw_f32.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "providers/cpu/simd/clamp-inl.h"
#include "providers/cpu/simd/partial_vector-inl.h"
#include "providers/cpu/simd/register_hint-inl.h"
#include "providers/cpu/simd/transpose_4x4-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// The most outputs of a tile: each broadcasts a weight to all vectors of pixels.
constexpr int64_t kMaxOutputs = kRegisters >= 32 ? 8 : 4;

// Vectors of pixels of a tile with this many outputs: the sums fill three quarters of the
// registers.
template <size_t kOutputs>
constexpr size_t kVectors = std::clamp<size_t>(kRegisters * 3 / 4 / kOutputs, 1, 8);

// Calls visit(first output, count) for tiles of outputs of nearly equal size.
template <typename Visit>
HWY_INLINE void for_outputs(int64_t outputs, const Visit& visit) {
  const int64_t tiles = (outputs + kMaxOutputs - 1) / kMaxOutputs;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t first = outputs * tile / tiles;
    visit(first, outputs * (tile + 1) / tiles - first);
  }
}

void PackPlaneWindows(const LooseFloat* weights, std::span<const int64_t> order, int64_t outputs,
                      float* packed) {
  const auto elements = static_cast<int64_t>(order.size());
  for_outputs(outputs, [&](int64_t first, int64_t count) {
    for (const int64_t element : order) {
      for (int64_t output = first; output < first + count; ++output)
        *packed++ = weights[output * elements + element];
    }
  });
}

// Computes the kOutputs outputs from `first` on for kCount vectors of pixels, the last of which has
// `rest` pixels.
template <size_t kOutputs, size_t kCount>
HWY_INLINE void convolve_pixels(const PlaneWindows& p, int64_t first, const float* weights,
                                const float* in, int64_t place, size_t rest) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  const bool is_whole = rest == lanes;
  const auto load = [&](const float* from, size_t v) HWY_ATTR {
    const float* at = from + v * lanes;
    return is_whole || v + 1 < kCount ? hn::LoadU(d, at) : load_part(d, at, rest);
  };
  V sums[kOutputs * kCount];
#pragma GCC unroll 8
  for (size_t o = 0; o < kOutputs; ++o) {
    const int64_t output = first + static_cast<int64_t>(o);
    const V bias = hn::Set(d, p.bias[output]);
#pragma GCC unroll 8
    for (size_t v = 0; v < kCount; ++v) {
      sums[o * kCount + v] =
          p.residual ? hn::Add(bias, load(p.residual + output * p.out_plane + place, v)) : bias;
    }
  }
  const auto multiply = [&](auto whole) HWY_ATTR {
    for (const int32_t offset : p.offsets) {
      V x[kCount];
#pragma GCC unroll 8
      for (size_t v = 0; v < kCount; ++v) {
        const float* at = in + offset + v * lanes;
        x[v] = in_register(decltype(whole)::value || v + 1 < kCount ? hn::LoadU(d, at)
                                                                    : load_part(d, at, rest));
      }
#pragma GCC unroll 8
      for (size_t o = 0; o < kOutputs; ++o) {
        const V weight = in_register(hn::Set(d, weights[o]));
#pragma GCC unroll 8
        for (size_t v = 0; v < kCount; ++v)
          sums[o * kCount + v] = hn::MulAdd(x[v], weight, sums[o * kCount + v]);
      }
      weights += kOutputs;
    }
  };
  if (is_whole)
    multiply(std::true_type());
  else
    multiply(std::false_type());
  const V low = hn::Set(d, p.low), high = hn::Set(d, p.high);
#pragma GCC unroll 8
  for (size_t o = 0; o < kOutputs; ++o) {
    float* out = p.out + (first + static_cast<int64_t>(o)) * p.out_plane + place;
#pragma GCC unroll 8
    for (size_t v = 0; v < kCount; ++v) {
      const V sum = clipped(sums[o * kCount + v], low, high);
      if (is_whole || v + 1 < kCount)
        hn::StoreU(sum, d, out + v * lanes);
      else
        store_part(sum, d, out + v * lanes, rest);
    }
  }
}

// Computes a row of kOutputs outputs.
template <size_t kOutputs>
HWY_NOINLINE void convolve_row(const PlaneWindows& p, int64_t first, const float* weights,
                               int64_t row) {
  constexpr size_t kMax = kVectors<kOutputs>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  const int64_t vectors = (p.columns + lanes - 1) / lanes;
  const auto most = static_cast<int64_t>(kMax);
  const int64_t tiles = (vectors + most - 1) / most;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t begin = vectors * tile / tiles, end = vectors * (tile + 1) / tiles;
    const int64_t column = begin * lanes;
    const auto rest = static_cast<size_t>(std::min(p.columns - (end - 1) * lanes, lanes));
    with_constant<kMax>(static_cast<size_t>(end - begin), [&](auto count) HWY_ATTR {
      convolve_pixels<kOutputs, decltype(count)::value>(
          p, first, weights, p.in + row * p.in_row + column, row * p.out_row + column, rest);
    });
  }
}

void ConvolvePlanes(const PlaneWindows& p, int64_t first_row, int64_t last_row) {
  const auto elements = static_cast<int64_t>(p.offsets.size());
  for_outputs(p.outputs, [&](int64_t first, int64_t count) HWY_ATTR {
    const float* weights = p.weights + first * elements;
    with_constant<kMaxOutputs>(static_cast<size_t>(count), [&](auto outputs) HWY_ATTR {
      for (int64_t row = first_row; row < last_row; ++row)
        convolve_row<decltype(outputs)::value>(p, first, weights, row);
    });
  });
}

void PixelsToPlanes(const float* pixels, int64_t step, int64_t channels, int64_t count,
                    float* planes, int64_t plane) {
  int64_t channel = 0;
#if HWY_TARGET != HWY_SCALAR
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (; channel + 4 <= channels; channel += 4) {
    float* to = planes + channel * plane;
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      const auto transposed = transpose_4(d, pixels + i * step + channel, step);
      hn::StoreU(transposed.a, d, to + i);
      hn::StoreU(transposed.b, d, to + plane + i);
      hn::StoreU(transposed.c, d, to + 2 * plane + i);
      hn::StoreU(transposed.d, d, to + 3 * plane + i);
    }
    for (; i < count; ++i) {
      for (int64_t c = 0; c < 4; ++c)
        to[c * plane + i] = pixels[i * step + channel + c];
    }
  }
#endif
  for (; channel < channels; ++channel) {
    for (int64_t i = 0; i < count; ++i)
      planes[channel * plane + i] = pixels[i * step + channel];
  }
}

}  // namespace
}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(PackPlaneWindows);
HWY_EXPORT(ConvolvePlanes);
HWY_EXPORT(PixelsToPlanes);

void pack_plane_windows(const LooseFloat* weights, std::span<const int64_t> order, int64_t outputs,
                        float* packed) {
  HWY_DYNAMIC_DISPATCH(PackPlaneWindows)(weights, order, outputs, packed);
}
void convolve_planes(const PlaneWindows& windows, int64_t first_row, int64_t last_row) {
  HWY_DYNAMIC_DISPATCH(ConvolvePlanes)(windows, first_row, last_row);
}
void pixels_to_planes(const float* pixels, int64_t step, int64_t channels, int64_t count,
                      float* planes, int64_t plane) {
  HWY_DYNAMIC_DISPATCH(PixelsToPlanes)(pixels, step, channels, count, planes, plane);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
