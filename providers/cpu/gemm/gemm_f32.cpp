#include "providers/cpu/gemm/gemm_f32.h"
#include "ir/core/threading/parallel_for.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/gemm/gemm_f32.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "providers/cpu/gemm/pack_transposed.h"
#include "providers/cpu/simd/clamp-inl.h"
#include "providers/cpu/simd/partial_vector-inl.h"
#include "providers/cpu/simd/register_hint-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Whole = hn::ScalableTag<float>;
using Half = hn::CappedTag<float, std::max<size_t>(1, hn::MaxLanes(Whole()) / 2)>;

// Pixels of a tile: with two vectors of outputs each, the sums fill the registers but for the
// weights and one input.
constexpr size_t kPixels = (kRegisters - 2) / 2 - 1;
// Pixels whose inputs are found from one address.
constexpr size_t kPerAddress = 3;
// Inputs of the pixels that go through all weights before others do stay in a second-level cache,
// which is larger where registers are.
constexpr int64_t kInputsAtOnce = int64_t{1} << (kRegisters >= 32 ? 17 : 15);
// Weights that stay in the nearest cache: a few pixels go through all of them, so that inputs are
// read once and contiguous outputs written.
constexpr int64_t kNearWeights = 6 << 10;
constexpr int64_t kNearTiles = 2;

// Outputs of a tile: two vectors, one, or half of one. The last tile may have fewer.
enum class Width : uint8_t { kTwo, kOne, kHalf };

Width width_of(int64_t outputs) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Whole()));
  const auto half = static_cast<int64_t>(hn::Lanes(Half()));
  if (outputs > lanes + half) return Width::kTwo;
  return outputs > half ? Width::kOne : Width::kHalf;
}

int64_t lanes_of(Width width) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(Whole()));
  if (width == Width::kTwo) return 2 * lanes;
  return width == Width::kOne ? lanes : static_cast<int64_t>(hn::Lanes(Half()));
}

// Calls visit(width, first output, where its weights begin) for the outputs from `begin`, where a
// panel must begin, to `end`. Panels are full but for the last.
template <typename Visit>
HWY_INLINE void for_panels(int64_t inputs, int64_t outputs, int64_t begin, int64_t end,
                           const Visit& visit) {
  for (int64_t first = begin; first < end;) {
    const Width width = width_of(outputs - first);
    visit(width, first, inputs * first);
    first += lanes_of(width);
  }
}

int64_t PackedGemmF32Size(int64_t inputs, int64_t outputs) {
  // All panels but the last few are of two vectors.
  const int64_t most = lanes_of(Width::kTwo);
  const int64_t begin = std::max<int64_t>(outputs / most - 1, 0) * most;
  int64_t size = 0;
  for_panels(inputs, outputs, begin, outputs, [&](Width width, int64_t, int64_t offset) {
    size = offset + inputs * lanes_of(width);
  });
  return size;
}

// Outputs [begin, end), whole panels or the last one.
void PackGemmF32(const LooseFloat* weights, int64_t output_step, int64_t input_step, int64_t inputs,
                 int64_t outputs, int64_t begin, int64_t end, float* packed) {
  for_panels(inputs, outputs, begin, end, [&](Width width, int64_t first, int64_t offset) {
    const int64_t lanes = lanes_of(width), used = std::min(lanes, outputs - first);
    const LooseFloat* panel = weights + first * output_step;
    if (input_step == 1) pack_transposed(panel, output_step, used, inputs, packed + offset, lanes);
    for (int64_t input = 0; input < inputs; ++input) {
      float* to = packed + offset + input * lanes;
      const LooseFloat* from = panel + input * input_step;
      if (output_step == 1) {
        std::memcpy(to, from, static_cast<size_t>(used) * sizeof(float));
      } else if (input_step != 1) {
        for (int64_t lane = 0; lane < used; ++lane)
          to[lane] = from[lane * output_step];
      }
      std::fill_n(to + used, lanes - used, 0.0f);
    }
  });
}

// Adds the residual to `count` sums of each of kCount pixels, clips and writes them.
template <size_t kVectors, size_t kCount, class D>
HWY_INLINE void finish_tile(D d, const GemmF32Args& p, const hn::Vec<D>* sums,
                            const float* residual, float* out, size_t count) {
  using V = hn::Vec<D>;
  const size_t lanes = hn::Lanes(d);
  const size_t rest = count - (kVectors - 1) * lanes;
  const V low = hn::Set(d, p.low), high = hn::Set(d, p.high);
#pragma GCC unroll 16
  for (size_t i = 0; i < kCount; ++i) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) {
      const int64_t at = static_cast<int64_t>(i) * p.out_step + static_cast<int64_t>(v * lanes);
      V sum = sums[i * kVectors + v];
      const bool is_whole = v + 1 < kVectors || rest == lanes;
      if (residual)
        sum = hn::Add(sum,
                      is_whole ? hn::LoadU(d, residual + at) : load_part(d, residual + at, rest));
      sum = clipped(sum, low, high);
      if (is_whole)
        hn::StoreU(sum, d, out + at);
      else
        store_part(sum, d, out + at, rest);
    }
  }
}

// `count` outputs of each of kCount pixels, in kVectors vectors of which the last may be partly
// used. Prefetches the weights `ahead` elements further on, which are read next.
template <size_t kVectors, size_t kCount, class D>
HWY_INLINE void multiply_tile(D d, const GemmF32Args& p, const float* in, const float* weights,
                              const float* bias, const float* row_bias, const float* residual,
                              float* out, size_t count, int64_t ahead) {
  using V = hn::Vec<D>;
  constexpr size_t kAddresses = (kCount + kPerAddress - 1) / kPerAddress;
  const size_t lanes = hn::Lanes(d);
  V sums[kCount * kVectors];
#pragma GCC unroll 4
  for (size_t v = 0; v < kVectors; ++v) {
    const V start = row_bias ? hn::Zero(d) : hn::LoadU(d, bias + v * lanes);
#pragma GCC unroll 16
    for (size_t i = 0; i < kCount; ++i)
      sums[i * kVectors + v] = row_bias ? hn::Set(d, row_bias[i]) : start;
  }
  const float* from[kAddresses];
#pragma GCC unroll 16
  for (size_t i = 0; i < kAddresses; ++i)
    from[i] = in + static_cast<int64_t>(i * kPerAddress) * p.in_step;
  const int64_t step = p.in_step;
  for (int64_t k = p.inputs; k > 0; --k) {
    V w[kVectors];
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v)
      w[v] = in_register(hn::LoadU(d, weights + v * lanes));
    __builtin_prefetch(weights + ahead, 0, 2);
    if constexpr (kVectors > 1) __builtin_prefetch(weights + ahead + lanes, 0, 2);
    weights += kVectors * lanes;
#pragma GCC unroll 16
    for (size_t i = 0; i < kCount; ++i) {
      const V x = hn::Set(d, from[i / kPerAddress][static_cast<int64_t>(i % kPerAddress) * step]);
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v)
        sums[i * kVectors + v] = hn::MulAdd(x, w[v], sums[i * kVectors + v]);
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < kAddresses; ++i)
      ++from[i];
  }
  finish_tile<kVectors, kCount>(d, p, sums, residual, out, count);
}

template <size_t kVectors, class D>
HWY_NOINLINE void multiply_panel(D d, const GemmF32Args& p, int64_t begin, int64_t end,
                                 const float* weights, int64_t first) {
  const auto count = static_cast<size_t>(
      std::min(p.outputs - first, static_cast<int64_t>(kVectors * hn::Lanes(d))));
  const auto most = static_cast<int64_t>(kPixels);
  const bool is_last = first + static_cast<int64_t>(count) == p.outputs;
  const int64_t ahead = is_last ? 0 : p.inputs * static_cast<int64_t>(kVectors * hn::Lanes(d));
  const int64_t tiles = (end - begin + most - 1) / most;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t at = begin + (end - begin) * tile / tiles;
    const int64_t next = begin + (end - begin) * (tile + 1) / tiles;
    const int64_t place = at * p.out_step + first;
    with_constant<kPixels>(static_cast<size_t>(next - at), [&](auto pixels) HWY_ATTR {
      multiply_tile<kVectors, decltype(pixels)::value>(
          d, p, p.in + at * p.in_step, weights, p.row_bias ? nullptr : p.bias + first,
          p.row_bias ? p.row_bias + at : nullptr, p.residual ? p.residual + place : nullptr,
          p.out + place, count, tile == 0 ? ahead : 0);
    });
  }
}

// For so few pixels that FMA latency would dominate: each sum is split into several accumulators,
// which take inputs round-robin.
template <size_t kVectors, size_t kCount, class D>
HWY_NOINLINE void multiply_few(D d, const GemmF32Args& p, const float* weights, int64_t first) {
  using V = hn::Vec<D>;
  constexpr size_t kParts = std::max<size_t>(4 / kCount, 1), kSums = kCount * kVectors;
  const size_t lanes = hn::Lanes(d);
  V sums[kParts * kSums];
#pragma GCC unroll 16
  for (size_t i = 0; i < kParts * kSums; ++i)
    sums[i] = i < kSums ? hn::LoadU(d, p.bias + first + i % kVectors * lanes) : hn::Zero(d);
  const auto add = [&](size_t part, int64_t input, const float* from) HWY_ATTR {
#pragma GCC unroll 16
    for (size_t i = 0; i < kSums; ++i) {
      const V x = hn::Set(d, p.in[static_cast<int64_t>(i / kVectors) * p.in_step + input]);
      V& sum = sums[part * kSums + i];
      sum = hn::MulAdd(x, hn::LoadU(d, from + i % kVectors * lanes), sum);
    }
  };
  int64_t input = 0;
  for (; input + static_cast<int64_t>(kParts) <= p.inputs; input += kParts) {
#pragma GCC unroll 4
    for (size_t part = 0; part < kParts; ++part, weights += kVectors * lanes)
      add(part, input + static_cast<int64_t>(part), weights);
  }
  for (; input < p.inputs; ++input, weights += kVectors * lanes)
    add(0, input, weights);
#pragma GCC unroll 16
  for (size_t i = kSums; i < kParts * kSums; ++i)
    sums[i % kSums] = hn::Add(sums[i % kSums], sums[i]);
  const auto count =
      static_cast<size_t>(std::min(p.outputs - first, static_cast<int64_t>(kVectors * lanes)));
  finish_tile<kVectors, kCount>(d, p, sums, p.residual ? p.residual + first : nullptr,
                                p.out + first, count);
}

// Rows of a tile of the split product; more sums do not fit the registers.
constexpr int64_t kFewAtOnce = kRegisters >= 32 ? 8 : 4;

template <size_t kVectors, class D>
HWY_INLINE void multiply_few_in_groups(D d, GemmF32Args p, int64_t rows, const float* weights,
                                       int64_t first) {
  for (int64_t row = 0; row < rows; row += kFewAtOnce) {
    const auto count = static_cast<size_t>(std::min(rows - row, kFewAtOnce));
    with_constant<kFewAtOnce>(count, [&](auto constant) HWY_ATTR {
      multiply_few<kVectors, decltype(constant)::value>(d, p, weights, first);
    });
    p.in += kFewAtOnce * p.in_step;
    p.out += kFewAtOnce * p.out_step;
    if (p.residual) p.residual += kFewAtOnce * p.out_step;
  }
}

void GemmF32FewRows(const GemmF32Args& p, int64_t rows, int64_t first_output, int64_t last_output) {
  for_panels(p.inputs, p.outputs, first_output, last_output,
             [&](Width width, int64_t first, int64_t offset) HWY_ATTR {
               const float* weights = p.weights + offset;
               if (width == Width::kTwo)
                 return multiply_few_in_groups<2>(Whole(), p, rows, weights, first);
               if (width == Width::kOne)
                 return multiply_few_in_groups<1>(Whole(), p, rows, weights, first);
               multiply_few_in_groups<1>(Half(), p, rows, weights, first);
             });
}

int64_t PixelsPerTile(int64_t inputs, int64_t pixels) {
  const auto least = static_cast<int64_t>(kPixels);
  const int64_t most = std::max<int64_t>(kInputsAtOnce / inputs / least, 1) * least;
  // As many parts as come closest to that size: a last one of a few pixels would go through all
  // weights for little.
  const int64_t parts = std::max<int64_t>((pixels + most / 2) / most, 1);
  return std::max<int64_t>((pixels + parts - 1) / parts, 1);
}

void GemmF32(const GemmF32Args& p, int64_t begin, int64_t end, int64_t first_output,
             int64_t last_output) {
  // Rows of planes are far apart in memory: those of a tile are written from front to back before
  // others are.
  const int64_t rows = end - begin;
  const auto least = static_cast<int64_t>(kPixels);
  const int64_t tiles = (rows + least - 1) / least;
  const bool is_near = p.outputs > lanes_of(Width::kTwo) && p.inputs * p.outputs <= kNearWeights;
  const int64_t at_once = is_near ? kNearTiles : 1, parts = (tiles + at_once - 1) / at_once;
  const int64_t tile_rows = p.row_bias || is_near ? (rows + parts - 1) / std::max<int64_t>(parts, 1)
                                                  : PixelsPerTile(p.inputs, rows);
  for (int64_t at = begin; at < end; at += tile_rows) {
    const int64_t stop = std::min(end, at + tile_rows);
    const auto multiply = [&](Width width, int64_t first, int64_t offset) HWY_ATTR {
      const float* weights = p.weights + offset;
      if (width == Width::kTwo) return multiply_panel<2>(Whole(), p, at, stop, weights, first);
      if (width == Width::kOne) return multiply_panel<1>(Whole(), p, at, stop, weights, first);
      multiply_panel<1>(Half(), p, at, stop, weights, first);
    };
    for_panels(p.inputs, p.outputs, first_output, last_output, multiply);
  }
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(PackedGemmF32Size);
HWY_EXPORT(PackGemmF32);
HWY_EXPORT(PixelsPerTile);
HWY_EXPORT(GemmF32);
HWY_EXPORT(GemmF32FewRows);

int64_t packed_gemm_f32_size(int64_t inputs, int64_t outputs) {
  return HWY_DYNAMIC_DISPATCH(PackedGemmF32Size)(inputs, outputs);
}
void pack_gemm_f32(const LooseFloat* weights, int64_t output_step, int64_t input_step,
                   int64_t inputs, int64_t outputs, float* packed, int threads) {
  constexpr int64_t kWorthSharing = 1 << 14;  // less is done before another thread has woken
  const auto pack = [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(PackGemmF32)
    (weights, output_step, input_step, inputs, outputs, begin, end, packed);
  };
  const int64_t units = (outputs + kGemmF32Unit - 1) / kGemmF32Unit;
  parallel_for(units, inputs * outputs < kWorthSharing ? 1 : threads,
               [&](int64_t begin, int64_t end, int) {
                 pack(begin * kGemmF32Unit, std::min(end * kGemmF32Unit, outputs));
               });
}
int64_t pixels_per_tile(int64_t inputs, int64_t pixels) {
  return HWY_DYNAMIC_DISPATCH(PixelsPerTile)(inputs, pixels);
}
void run_gemm_f32(const GemmF32Args& rows, int64_t begin, int64_t end, int64_t first,
                  int64_t last) {
  HWY_DYNAMIC_DISPATCH(GemmF32)(rows, begin, end, first, last);
}
void run_gemm_f32_few_rows(const GemmF32Args& product, int64_t rows, int64_t first, int64_t last) {
  HWY_DYNAMIC_DISPATCH(GemmF32FewRows)(product, rows, first, last);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
