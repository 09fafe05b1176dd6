#include "providers/cpu/pooling/pool_nhwc_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/pooling/pool_nhwc_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "ir/ops/conv/window.h"
#include "providers/cpu/pooling/pool_reduce-inl.h"
#include "providers/cpu/simd/partial_vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Vectors of channels of one pass over a row, and the accumulators of a tile.
constexpr size_t kAccumulators = 4;

// The rows of pixels that windows slide over: rows of the input, or one line with their reduction
// over the rows.
struct PixelRows {
  const float* const* rows;  // at column `begin`
  size_t count;
  int64_t step;  // elements from pixel to pixel
  int64_t channel;
  int64_t begin = 0;

  const float* at(size_t row, int64_t column) const {
    return rows[row] + (column - begin) * step + channel;
  }
};

// The outputs of a row; the windows of [inner, outer) are wholly inside the input.
struct OutputSpans {
  int64_t first, inner, outer, last;

  OutputSpans(const PixelWindows& p, int64_t count) : first(0), last(count) {
    const int64_t scratch = p.width - (p.kernel - 1) * p.dilation - 1 + p.pad;
    inner = std::clamp((p.pad + p.stride - 1) / p.stride, first, last);
    outer = std::clamp(scratch < 0 ? 0 : scratch / p.stride + 1, inner, last);
  }
  // The same spans, limited to at most `count` outputs from `begin` on.
  OutputSpans part(int64_t begin, int64_t count) const {
    OutputSpans some = *this;
    some.first = begin;
    some.last = std::min(begin + count, last);
    some.inner = std::clamp(inner, some.first, some.last);
    some.outer = std::clamp(outer, some.inner, some.last);
    return some;
  }
};

// kVectors vectors of channels, of the last of which `rest` are there where they are not kWhole.
template <class Join, size_t kVectors, bool kWhole>
struct Channels {
  const PixelWindows& p;
  size_t rest;
  D d = D();
  const size_t lanes = hn::Lanes(D());

  HWY_INLINE V load(const float* from, size_t v) const {
    if constexpr (!kWhole) return load_part(d, from, rest);
    return hn::LoadU(d, from + v * lanes);
  }
  HWY_INLINE void store(V x, float* to, size_t v) const {
    if constexpr (!kWhole) return store_part(x, d, to, rest);
    hn::StoreU(x, d, to + v * lanes);
  }

  // The taps from `column` on of all rows, for kOutputs windows that begin `apart` columns apart.
  template <size_t kOutputs, int64_t kTaps = 0>
  HWY_INLINE void join(const PixelRows& source, int64_t column, int64_t taps, int64_t apart,
                       V* sums) const {
#pragma GCC unroll 8
    for (size_t i = 0; i < kOutputs * kVectors; ++i)
      sums[i] = Join().first();
    for (size_t row = 0; row < source.count; ++row) {
      const float* at = source.at(row, column);
#pragma GCC unroll 3
      for (int64_t tap = 0; tap < (kTaps ? kTaps : taps); ++tap, at += p.dilation * source.step) {
#pragma GCC unroll 8
        for (size_t i = 0; i < kOutputs * kVectors; ++i) {
          const float* from = at + static_cast<int64_t>(i / kVectors) * apart * source.step;
          sums[i] = Join()(sums[i], load(from, i % kVectors));
        }
      }
    }
  }

  // Reduces columns [begin, end) over the rows.
  void join_rows(const PixelRows& source, int64_t begin, int64_t end, float* line) const {
    constexpr size_t kColumns = kAccumulators / kVectors;
    V sums[kAccumulators];
    const auto put = [&](size_t count) HWY_ATTR {
      for (size_t i = 0; i < count; ++i, line += lanes)
        hn::StoreU(sums[i], d, line);
    };
    int64_t column = begin;
    for (; column + static_cast<int64_t>(kColumns) <= end; column += kColumns) {
      join<kColumns>(source, column, 1, 1, sums);
      put(kAccumulators);
    }
    for (; column < end; ++column) {
      join<1>(source, column, 1, 1, sums);
      put(kVectors);
    }
  }

  // The factor of the sums of `output`.
  HWY_INLINE V factor(int64_t output) const {
    const int64_t start = output * p.stride - p.pad + p.counted_pad;
    const int64_t taps =
        ops::taps_inside(start, p.kernel, p.dilation, p.counted_end + p.counted_pad).count();
    return hn::Set(d, static_cast<float>(1 / (p.count * static_cast<double>(taps))));
  }

  // kOutputs outputs from `output` on, whose `taps` taps begin at `column`; the lowest of all that
  // were made.
  template <size_t kOutputs, int64_t kTaps = 0>
  HWY_INLINE V finish(const PixelRows& source, int64_t output, int64_t column, int64_t taps,
                      V factor, V lowest, float* out) const {
    V sums[kOutputs * kVectors];
    join<kOutputs, kTaps>(source, column, taps, p.stride, sums);
#pragma GCC unroll 8
    for (size_t i = 0; i < kOutputs * kVectors; ++i) {
      if constexpr (!Join::kMaxima)
        sums[i] = hn::Mul(sums[i], factor);
      else
        lowest = hn::Min(lowest, sums[i]);
      store(sums[i], out + (output + static_cast<int64_t>(i / kVectors)) * p.step, i % kVectors);
    }
    return lowest;
  }

  // Windows wholly inside, of kTaps columns, or with 0 of any number.
  template <int64_t kTaps>
  HWY_INLINE V run_inside(const PixelRows& source, int64_t begin, int64_t end, V lowest,
                          float* out) const {
    constexpr size_t kOutputs = kAccumulators / kVectors;
    const V scale = factor(begin);
    int64_t output = begin;
    for (; output + static_cast<int64_t>(kOutputs) <= end; output += kOutputs) {
      lowest = finish<kOutputs, kTaps>(source, output, output * p.stride - p.pad, p.kernel, scale,
                                       lowest, out);
    }
    for (; output < end; ++output) {
      lowest =
          finish<1, kTaps>(source, output, output * p.stride - p.pad, p.kernel, scale, lowest, out);
    }
    return lowest;
  }

  // Returns the lowest result.
  V run(const PixelRows& source, const OutputSpans& outputs, float* out) const {
    V lowest = hn::Set(d, HUGE_VALF);
    const auto at_edge = [&](int64_t begin, int64_t end) HWY_ATTR {
      for (int64_t output = begin; output < end; ++output) {
        const int64_t start = output * p.stride - p.pad;
        const ops::TapRange taps = ops::taps_inside(start, p.kernel, p.dilation, p.width);
        lowest = finish<1>(source, output, start + taps.begin * p.dilation, taps.count(),
                           factor(output), lowest, out);
      }
    };
    at_edge(outputs.first, outputs.inner);
    if (outputs.inner < outputs.outer) {
      const auto inside = [&]<int64_t kTaps>() HWY_ATTR {
        lowest = run_inside<kTaps>(source, outputs.inner, outputs.outer, lowest, out);
      };
      if (p.kernel == 2)
        inside.template operator()<2>();
      else if (p.kernel == 3)
        inside.template operator()<3>();
      else
        inside.template operator()<0>();
    }
    at_edge(outputs.outer, outputs.last);
    return lowest;
  }

  // Turns maxima that equal the lowest number into NaN where all taps are NaN.
  void mark_nan(const PixelRows& source, int64_t first, int64_t last, float* out) const {
    for (int64_t output = first; output < last; ++output) {
      const int64_t start = output * p.stride - p.pad;
      const ops::TapRange taps = ops::taps_inside(start, p.kernel, p.dilation, p.width);
      for (size_t v = 0; v < kVectors; ++v) {
        float* to = out + output * p.step;
        auto all = hn::Eq(load(to, v), Join().first());
        for (size_t row = 0; row < source.count && !hn::AllFalse(d, all); ++row) {
          for (int64_t tap = taps.begin; tap < taps.end; ++tap)
            all = hn::And(all, hn::IsNaN(load(source.at(row, start + tap * p.dilation), v)));
        }
        store(hn::IfThenElse(all, hn::Set(d, NAN), load(to, v)), to, v);
      }
    }
  }
};

// The channels from source.channel on. In `scratch` there is memory where rows are to be joined
// once for all windows that share them.
template <class Join, size_t kVectors, bool kWhole>
void pool_channels(const PixelWindows& p, const PixelRows& source, const OutputSpans& outputs,
                   float* out, float* scratch, size_t rest) {
  const Channels<Join, kVectors, kWhole> channels{p, rest};
  out += source.channel;
  V lowest;
  if (scratch) {
    const int64_t begin = std::max<int64_t>(outputs.first * p.stride - p.pad, 0);
    const int64_t end = std::clamp<int64_t>(
        (outputs.last - 1) * p.stride - p.pad + (p.kernel - 1) * p.dilation + 1, begin, p.width);
    channels.join_rows(source, begin, end, scratch);
    const float* line = scratch;
    const auto step = static_cast<int64_t>(kVectors * hn::Lanes(D()));
    lowest = channels.run({&line, 1, step, 0, begin}, outputs, out);
  } else {
    lowest = channels.run(source, outputs, out);
  }
  if (Join::kMaxima && !hn::AllFalse(D(), hn::Eq(lowest, Join().first())))
    channels.mark_nan(source, outputs.first, outputs.last, out);
}

template <class Join>
void pool_outputs(const PixelWindows& p, PixelRows source, const OutputSpans& outputs, float* out,
                  float* scratch) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  const auto over = [&]<size_t kVectors, bool kWhole>() {
    const int64_t left = p.channels - source.channel;
    pool_channels<Join, kVectors, kWhole>(p, source, outputs, out, scratch,
                                          static_cast<size_t>(std::min(left, lanes)));
    source.channel += static_cast<int64_t>(kVectors) * lanes;
  };
  while (source.channel + 4 * lanes <= p.channels)
    over.template operator()<4, true>();
  while (source.channel + 2 * lanes <= p.channels)
    over.template operator()<2, true>();
  while (source.channel + lanes <= p.channels)
    over.template operator()<1, true>();
  if (source.channel < p.channels) over.template operator()<1, false>();
}

template <class Join>
void pool_row_by(const PixelWindows& p, const float* const* rows, size_t count, int64_t outputs,
                 float* out, float* scratch) {
  const OutputSpans all(p, outputs);
  const PixelRows source{rows, count, p.step, 0};
  const auto height = static_cast<int64_t>(count);
  // Writing and reading the line costs about as much as one more row.
  if (p.kernel * (height - 1) > (height + 1) * std::min(p.stride, p.kernel))
    return pool_outputs<Join>(p, source, all, out, scratch);
  // Pixels of many channels are processed in memory order.
  constexpr int64_t kNear = 1 << 12;
  const bool is_many = p.channels > static_cast<int64_t>(kAccumulators * hn::Lanes(D()));
  const int64_t some = is_many ? std::max<int64_t>(kNear / p.channels, kAccumulators) : outputs;
  for (int64_t begin = 0; begin < outputs; begin += some)
    pool_outputs<Join>(p, source, all.part(begin, some), out, nullptr);
}

}  // namespace

size_t PoolScratch(const PixelWindows& p) {
  return static_cast<size_t>(p.width) * kAccumulators * hn::Lanes(D());
}

void PoolRow(const PixelWindows& p, const float* const* rows, size_t count, int64_t outputs,
             float* out, float* scratch) {
  p.is_max ? pool_row_by<Max<D>>(p, rows, count, outputs, out, scratch)
           : pool_row_by<Sum<D>>(p, rows, count, outputs, out, scratch);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(PoolScratch);
HWY_EXPORT(PoolRow);

size_t pool_scratch(const PixelWindows& windows) {
  return HWY_DYNAMIC_DISPATCH(PoolScratch)(windows);
}
void pool_row(const PixelWindows& windows, const float* const* rows, size_t count, int64_t outputs,
              float* out, float* scratch) {
  HWY_DYNAMIC_DISPATCH(PoolRow)(windows, rows, count, outputs, out, scratch);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
