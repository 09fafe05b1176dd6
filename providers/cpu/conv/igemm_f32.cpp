#include "providers/cpu/conv/igemm_f32.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/conv/igemm_f32.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "providers/cpu/conv/output_tile-inl.h"
#include "providers/cpu/simd/clamp-inl.h"
#include "providers/cpu/simd/partial_vector-inl.h"
#include "providers/cpu/simd/register_hint-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using Whole = hn::ScalableTag<float>;

// Windows of a tile: with two vectors of outputs each, the sums fill the registers but for the
// weights and one input.
constexpr size_t kWindows = (kRegisters - 2) / 2 - 1;
// Elements of a window that are multiplied before all windows go on to the next: their weights stay
// in a near cache meanwhile.
constexpr int64_t kElementsAtOnce = 1024;
// Weights of a panel that stays in the nearest cache: each window is multiplied with all of them,
// so that contiguous outputs are written.
constexpr int64_t kNearWeights = 6 << 10;

int64_t lanes() {
  return static_cast<int64_t>(hn::Lanes(Whole()));
}

int64_t PackedWindowsSize(int64_t elements, int64_t outputs) {
  return (outputs + lanes() - 1) / lanes() * lanes() * elements;
}

// Packs weights into panels of two vectors of outputs; the last panel may have one.
void PackWindows(const LooseFloat* weights, int64_t elements, std::span<const int64_t> order,
                 int64_t outputs, float* packed) {
  for (int64_t first = 0; first < outputs; first += 2 * lanes()) {
    const int64_t used = std::min(outputs - first, 2 * lanes());
    const int64_t width = used > lanes() ? 2 * lanes() : lanes();
    const LooseFloat* panel = weights + first * elements;
    for (const int64_t element : order) {
      for (int64_t lane = 0; lane < used; ++lane)
        packed[lane] = panel[lane * elements + element];
      std::fill_n(packed + used, width - used, 0.0f);
      packed += width;
    }
  }
}

// A stage of the accumulation: some elements of all windows, for one or two vectors of outputs.
struct Stage {
  std::span<const int32_t> offsets;
  const float* weights;
  int64_t first;     // output
  size_t rest;       // outputs in the last vector
  int64_t ahead[2];  // weights so much further on are asked for: they are read next
  bool is_first, is_last;
};

// The micro-kernel: kRows x kColumns windows by kVectors vectors of outputs.
template <size_t kRows, size_t kColumns, size_t kVectors>
struct IgemmF32Tile {
  static constexpr size_t kCount = kRows * kColumns;
  using D = Whole;
  using V = hn::Vec<D>;

  HWY_INLINE IgemmF32Tile(const ConvolutionRows& rows, const Stage& stage, int64_t row,
                          int64_t column)
      : p(rows), stage(stage), in(p.in + row * p.in_row + column * p.in_column) {
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v) {
      const int64_t output = stage.first + static_cast<int64_t>(v * hn::Lanes(d));
      places[v] = row * p.out_steps.row + column * p.out_steps.column +
                  output / kChannelBlock * p.out_steps.block + output % kChannelBlock;
    }
  }

  HWY_INLINE int64_t place(size_t i, size_t v) const {
    return places[v] + static_cast<int64_t>(i / kColumns) * p.out_steps.row +
           static_cast<int64_t>(i % kColumns) * p.out_steps.column;
  }

  template <bool kWhole>
  HWY_INLINE V load(const float* from, size_t v) const {
    return kWhole || v + 1 < kVectors ? hn::LoadU(d, from) : load_part(d, from, stage.rest);
  }

  template <bool kWhole>
  HWY_INLINE void start(V* sums) const {
#pragma GCC unroll 2
    for (size_t v = 0; v < kVectors; ++v) {
      const V bias = hn::LoadU(d, p.bias + stage.first + static_cast<int64_t>(v * hn::Lanes(d)));
#pragma GCC unroll 32
      for (size_t i = 0; i < kCount; ++i) {
        V& sum = sums[i * kVectors + v];
        if (!stage.is_first)
          sum = load<kWhole>(p.out + place(i, v), v);
        else
          sum = p.residual ? hn::Add(bias, load<kWhole>(p.residual + place(i, v), v)) : bias;
      }
    }
    if (stage.is_first) ask_for_places();
  }

  // Prefetches the outputs of this tile, or the residual of the tile to the right, while this one
  // is computed.
  HWY_INLINE void ask_for_places() const {
    const float* from =
        p.residual ? p.residual + static_cast<int64_t>(kColumns) * p.out_steps.column : p.out;
#pragma GCC unroll 32
    for (size_t i = 0; i < kCount; ++i) {
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v)
        __builtin_prefetch(from + place(i, v), 1, 3);
    }
  }

  HWY_INLINE void multiply(V* sums) const {
    const WindowAddresses<kRows, kColumns, float> windows(in, p.in_row, p.in_column);
    const float* weights = stage.weights;
    for (const int64_t offset : stage.offsets) {
      V w[kVectors];
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v) {
        w[v] = in_register(hn::LoadU(d, weights + v * hn::Lanes(d)));
        __builtin_prefetch(weights + stage.ahead[v], 0, 2);
      }
      weights += kVectors * hn::Lanes(d);
#pragma GCC unroll 32
      for (size_t i = 0; i < kCount; ++i) {
        const V x = hn::Set(d, *windows.element(i, offset));
#pragma GCC unroll 2
        for (size_t v = 0; v < kVectors; ++v)
          sums[i * kVectors + v] = hn::MulAdd(x, w[v], sums[i * kVectors + v]);
      }
    }
  }

  template <bool kWhole>
  HWY_INLINE void finish(const V* sums) const {
    const V low = hn::Set(d, p.low), high = hn::Set(d, p.high);
#pragma GCC unroll 32
    for (size_t i = 0; i < kCount; ++i) {
#pragma GCC unroll 2
      for (size_t v = 0; v < kVectors; ++v) {
        V sum = sums[i * kVectors + v];
        if (stage.is_last) sum = clipped(sum, low, high);
        if (kWhole || v + 1 < kVectors)
          hn::StoreU(sum, d, p.out + place(i, v));
        else
          store_part(sum, d, p.out + place(i, v), stage.rest);
      }
    }
  }

  HWY_INLINE void run() const {
    V sums[kCount * kVectors];
    const bool is_whole = stage.rest == hn::Lanes(d);
    if (is_whole)
      start<true>(sums);
    else
      start<false>(sums);
    multiply(sums);
    if (is_whole)
      finish<true>(sums);
    else
      finish<false>(sums);
  }

  const ConvolutionRows& p;
  const Stage& stage;
  const float* in;
  int64_t places[kVectors];
  D d;
};

template <size_t kRows, size_t kVectors>
HWY_NOINLINE void convolve_columns(const ConvolutionRows& p, const Stage& stage, int64_t row,
                                   int64_t begin, int64_t end) {
  with_constant<kWindows / kRows>(static_cast<size_t>(end - begin), [&](auto columns) HWY_ATTR {
    IgemmF32Tile<kRows, decltype(columns)::value, kVectors>(p, stage, row, begin).run();
  });
}

template <size_t kVectors>
HWY_INLINE void convolve_tile(const ConvolutionRows& p, const Stage& stage, int64_t row,
                              int64_t rows, int64_t begin, int64_t end) {
  if (rows == 4)
    convolve_columns<4, kVectors>(p, stage, row, begin, end);
  else if (rows == 2)
    convolve_columns<2, kVectors>(p, stage, row, begin, end);
  else
    convolve_columns<1, kVectors>(p, stage, row, begin, end);
}

// Runs one stage over all windows. The first two tiles prefetch every other cache line of the
// weights that follow; a single tile prefetches all of them.
template <size_t kVectors>
HWY_INLINE void convolve_stage(const ConvolutionRows& p, Stage stage, int64_t first_row,
                               int64_t last_row, int64_t ahead) {
  const bool is_single = (last_row - first_row) * p.columns <= static_cast<int64_t>(kWindows);
  int64_t done = 0;
  for_tiles<kWindows>(first_row, last_row, p.columns,
                      [&](int64_t row, int64_t rows, int64_t begin, int64_t end) HWY_ATTR {
                        stage.ahead[0] = done < 2 ? ahead + done * lanes() : 0;
                        stage.ahead[1] = is_single ? ahead + lanes() : stage.ahead[0];
                        convolve_tile<kVectors>(p, stage, row, rows, begin, end);
                        ++done;
                      });
}

Stage stage_of(const ConvolutionRows& p, int64_t first) {
  const int64_t used = std::min(p.outputs - first, 2 * lanes());
  Stage stage{};
  stage.offsets = p.offsets;
  stage.weights = p.weights + first * static_cast<int64_t>(p.offsets.size());
  stage.first = first;
  stage.rest = static_cast<size_t>(used > lanes() ? used - lanes() : used);
  stage.is_first = stage.is_last = true;
  return stage;
}

bool has_two_vectors(const ConvolutionRows& p, int64_t first) {
  return p.outputs - first > lanes();
}

// Loop order panel by panel: the tiles of windows are the inner loop.
void convolve_by_panels(const ConvolutionRows& p, int64_t first_row, int64_t last_row,
                        int64_t first_output, int64_t last_output) {
  const auto elements = static_cast<int64_t>(p.offsets.size());
  for (int64_t first = first_output; first < last_output; first += 2 * lanes()) {
    Stage stage = stage_of(p, first);
    const bool has_two = has_two_vectors(p, first);
    const int64_t width = has_two ? 2 * lanes() : lanes();
    const bool is_end = first + 2 * lanes() >= p.outputs;
    for (int64_t begin = 0; begin < elements; begin += kElementsAtOnce) {
      const int64_t count = std::min(kElementsAtOnce, elements - begin);
      stage.offsets = p.offsets.subspan(static_cast<size_t>(begin), static_cast<size_t>(count));
      stage.is_first = begin == 0;
      stage.is_last = begin + count == elements;
      const int64_t ahead = is_end && stage.is_last ? 0 : count * width;
      if (has_two)
        convolve_stage<2>(p, stage, first_row, last_row, ahead);
      else
        convolve_stage<1>(p, stage, first_row, last_row, ahead);
      stage.weights += count * width;
    }
  }
}

// Loop order tile by tile: the panels of weights are the inner loop.
void convolve_by_tiles(const ConvolutionRows& p, int64_t first_row, int64_t last_row,
                       int64_t first_output, int64_t last_output) {
  for_tiles<kWindows>(first_row, last_row, p.columns,
                      [&](int64_t row, int64_t rows, int64_t begin, int64_t end) HWY_ATTR {
                        for (int64_t first = first_output; first < last_output;
                             first += 2 * lanes()) {
                          const Stage stage = stage_of(p, first);
                          if (has_two_vectors(p, first))
                            convolve_tile<2>(p, stage, row, rows, begin, end);
                          else
                            convolve_tile<1>(p, stage, row, rows, begin, end);
                        }
                      });
}

void ConvolveRows(const ConvolutionRows& p, int64_t first_row, int64_t last_row,
                  int64_t first_output, int64_t last_output) {
  const auto weights = static_cast<int64_t>(p.offsets.size()) * p.outputs;
  if (p.outputs > lanes() && weights <= kNearWeights)
    convolve_by_tiles(p, first_row, last_row, first_output, last_output);
  else
    convolve_by_panels(p, first_row, last_row, first_output, last_output);
}

}  // namespace
}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(PackedWindowsSize);
HWY_EXPORT(PackWindows);
HWY_EXPORT(ConvolveRows);

int64_t packed_windows_size(int64_t elements, int64_t outputs) {
  return HWY_DYNAMIC_DISPATCH(PackedWindowsSize)(elements, outputs);
}
void pack_conv_weights(const LooseFloat* weights, int64_t elements, std::span<const int64_t> order,
                       int64_t outputs, float* packed) {
  HWY_DYNAMIC_DISPATCH(PackWindows)(weights, elements, order, outputs, packed);
}
void convolve_rows(const ConvolutionRows& rows, int64_t first_row, int64_t last_row,
                   int64_t first_output, int64_t last_output) {
  HWY_DYNAMIC_DISPATCH(ConvolveRows)(rows, first_row, last_row, first_output, last_output);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
