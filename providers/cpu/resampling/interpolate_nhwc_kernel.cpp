#include "providers/cpu/resampling/interpolate_nhwc_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/resampling/interpolate_nhwc_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "providers/cpu/simd/partial_vector-inl.h"
#include "providers/cpu/simd/transpose_4x4-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The points of a tile, which are computed as pixels and then transposed to planes.
constexpr size_t kTilePoints = 16;

// Calls visit with 4, 8 or 16 as a constant.
template <typename Visit>
HWY_INLINE void with_lanes(int64_t lanes, const Visit& visit) {
  if (lanes == 16) return visit(std::integral_constant<size_t, 16>());
  if (lanes == 8) return visit(std::integral_constant<size_t, 8>());
  visit(std::integral_constant<size_t, 4>());
}

// The lanes of a pixel in as many vectors as they take.
template <size_t kLanes>
struct PixelSum {
  static constexpr hn::CappedTag<float, kLanes> d{};
  static constexpr size_t kOfVector = hn::MaxLanes(d), kVectors = kLanes / kOfVector;
  hn::Vec<hn::CappedTag<float, kLanes>> sums[kVectors];

  HWY_INLINE PixelSum() {
    for (size_t v = 0; v < kVectors; ++v)
      sums[v] = hn::Zero(d);
  }
  HWY_INLINE void add(const float* pixel, float weight) {
    for (size_t v = 0; v < kVectors; ++v)
      sums[v] = hn::MulAdd(hn::Set(d, weight), hn::LoadU(d, pixel + v * kOfVector), sums[v]);
  }
  HWY_INLINE void add(const PixelSum& other, float weight) {
    for (size_t v = 0; v < kVectors; ++v)
      sums[v] = hn::MulAdd(hn::Set(d, weight), other.sums[v], sums[v]);
  }
  HWY_INLINE void store(float* to) const {
    for (size_t v = 0; v < kVectors; ++v)
      hn::StoreU(sums[v], d, to + v * kOfVector);
  }
};

// to[c * to_step + i] = from[i * from_step + c] for i < count and c < channels. The rows from
// `from` are kTilePoints, of whole fours of channels, whatever `count` is.
HWY_INLINE void transpose_tile(const float* from, int64_t from_step, size_t count, int64_t channels,
                               float* to, int64_t to_step) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t c = 0; c < channels; ++c) {
    for (size_t i = 0; i < count; ++i)
      to[c * to_step + static_cast<int64_t>(i)] = from[static_cast<int64_t>(i) * from_step + c];
  }
#else
  const hn::CappedTag<float, kTilePoints> d;
  constexpr size_t kOfVector = hn::MaxLanes(d);
  for (size_t first = 0; first < count; first += kOfVector) {
    const float* rows = from + static_cast<int64_t>(first) * from_step;
    for (int64_t c = 0; c < channels; c += 4) {
      const auto four = transpose_4(d, rows + c, from_step);
      const hn::Vec<decltype(d)> columns[] = {four.a, four.b, four.c, four.d};
      for (int64_t k = 0; k < std::min<int64_t>(channels - c, 4); ++k) {
        float* column = to + (c + k) * to_step + first;
        if (count - first >= kOfVector)
          hn::StoreU(columns[k], d, column);
        else
          store_part(columns[k], d, column, count - first);
      }
    }
  }
#endif
}

// Transposes planes to pixels, four pixels at a time.
template <size_t kLanes>
HWY_INLINE void transpose_four(const float* planes, int64_t plane_step, float* pixels) {
#if HWY_TARGET == HWY_SCALAR
  for (size_t i = 0; i < 4; ++i) {
    for (size_t c = 0; c < kLanes; ++c)
      pixels[i * kLanes + c] =
          planes[static_cast<int64_t>(c) * plane_step + static_cast<int64_t>(i)];
  }
#else
  const hn::CappedTag<float, kLanes> d;
  constexpr size_t kOfVector = hn::MaxLanes(d);
  for (size_t c = 0; c < kLanes; c += kOfVector) {
    const auto four = transpose_4(d, planes + static_cast<int64_t>(c) * plane_step, plane_step);
    hn::StoreU(four.a, d, pixels + c);
    hn::StoreU(four.b, d, pixels + kLanes + c);
    hn::StoreU(four.c, d, pixels + 2 * kLanes + c);
    hn::StoreU(four.d, d, pixels + 3 * kLanes + c);
  }
#endif
}

// Interleaves one to three planes into pixels of four lanes; the last plane fills the lanes left
// over.
int64_t transpose_few(const float* planes, int64_t plane_step, int64_t channels, int64_t count,
                      float* pixels) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const float* second = planes + (channels > 1 ? plane_step : 0);
  const float* third = planes + (channels - 1) * plane_step;
  int64_t begin = 0;
  for (; begin + lanes <= count; begin += lanes) {
    const auto last = hn::LoadU(d, third + begin);
    hn::StoreInterleaved4(hn::LoadU(d, planes + begin), hn::LoadU(d, second + begin), last, last, d,
                          pixels + begin * 4);
  }
  return begin;
}

void PlanesToNhwc(const float* planes, int64_t plane_step, int64_t channels, int64_t count,
                  int64_t lanes, float* pixels) {
  int64_t begin = 0;
  if (channels < lanes) {
    begin = transpose_few(planes, plane_step, channels, count, pixels);
  } else {
    with_lanes(lanes, [&](auto constant) HWY_ATTR {
      for (; begin + 4 <= count; begin += 4)
        transpose_four<constant()>(planes + begin, plane_step, pixels + begin * lanes);
    });
  }
  for (int64_t i = begin; i < count; ++i) {
    for (int64_t c = 0; c < lanes; ++c)
      pixels[i * lanes + c] = planes[std::min(c, channels - 1) * plane_step + i];
  }
}

// `kParts` is the number of parts; 0: any number.
template <size_t kLanes, size_t kParts>
HWY_INLINE void blend_points(const PointParts& parts, const float* pixels, int64_t channels,
                             float* out, int64_t out_step) {
  HWY_ALIGN float tile[kTilePoints * kLanes] = {};
  const size_t count = kParts ? kParts : parts.parts;
  for (size_t first = 0; first < parts.points; first += kTilePoints) {
    const size_t points = std::min(parts.points - first, kTilePoints);
    for (size_t i = 0; i < points; ++i) {
      PixelSum<kLanes> sum;
      for (size_t part = 0; part < count; ++part) {
        const size_t at = part * parts.step + first + i;
        sum.add(pixels + parts.at[at] * static_cast<int64_t>(kLanes), parts.weights[at]);
      }
      sum.store(tile + i * kLanes);
    }
    transpose_tile(tile, kLanes, points, channels, out + first, out_step);
  }
}

void BlendPixels(const PointParts& parts, const float* pixels, int64_t lanes, int64_t channels,
                 float* out, int64_t out_step) {
  with_lanes(lanes, [&](auto constant) HWY_ATTR {
    if (parts.parts == 2)
      blend_points<constant(), 2>(parts, pixels, channels, out, out_step);
    else if (parts.parts == 4)
      blend_points<constant(), 4>(parts, pixels, channels, out, out_step);
    else
      blend_points<constant(), 0>(parts, pixels, channels, out, out_step);
  });
}

void BlendPlane(const PointParts& parts, const float* plane, float* out) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> indices;
  const size_t lanes = hn::Lanes(d);
  for (size_t first = 0; first < parts.points; first += lanes) {
    const size_t used = std::min(parts.points - first, lanes);
    auto sum = hn::Zero(d);
    for (size_t part = 0; part < parts.parts; ++part) {
      const size_t begin = part * parts.step + first;
      const auto at = load_part(indices, parts.at + begin, used);
      const auto is_zero = hn::RebindMask(d, hn::Lt(at, hn::Zero(indices)));
      const auto value = hn::GatherIndex(d, plane, hn::Max(at, hn::Zero(indices)));
      sum = hn::MulAdd(load_part(d, parts.weights + begin, used),
                       hn::IfThenZeroElse(is_zero, value), sum);
    }
    store_part(sum, d, out + first, used);
  }
}

// `kParts` is the number of parts; 0: any number.
template <size_t kParts>
HWY_INLINE void blend_few_lines(const float* from, int64_t step, const int32_t* at,
                                const float* weights, size_t parts, float* out, int64_t count) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const size_t all = kParts ? kParts : parts;
  const auto sum_at = [&](int64_t i, const auto& load) HWY_ATTR {
    auto sum = hn::Zero(d);
    for (size_t k = 0; k < all; ++k)
      sum = hn::MulAdd(hn::Set(d, weights[k]), load(from + at[k] * step + i), sum);
    return sum;
  };
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto load = [&](const float* line) HWY_ATTR { return hn::LoadU(d, line); };
    hn::StoreU(sum_at(i, load), d, out + i);
  }
  if (i == count) return;
  const PartialVector<decltype(d)> part(d, static_cast<size_t>(count - i));
  part.store(sum_at(i, [&](const float* line) HWY_ATTR { return part.load(line); }), out + i);
}

void BlendLines(const float* from, int64_t step, const int32_t* at, const float* weights,
                size_t parts, float* out, int64_t count) {
  if (parts == 2) return blend_few_lines<2>(from, step, at, weights, parts, out, count);
  blend_few_lines<0>(from, step, at, weights, parts, out, count);
}

template <size_t kLanes>
HWY_INLINE PixelSum<kLanes> sum_of_bin(const AxisBins& rows, int64_t row, const AxisBins& columns,
                                       int64_t column, const float* pixels, int64_t width) {
  PixelSum<kLanes> sum;
  for (int32_t y = rows.begins[row]; y < rows.begins[row + 1]; ++y) {
    const float* line = pixels + rows.at[y] * width * static_cast<int64_t>(kLanes);
    PixelSum<kLanes> of_row;
    for (int32_t x = columns.begins[column]; x < columns.begins[column + 1]; ++x)
      of_row.add(line + columns.at[x] * static_cast<int64_t>(kLanes), columns.weights[x]);
    sum.add(of_row, rows.weights[y]);
  }
  return sum;
}

template <size_t kLanes>
HWY_INLINE void blend_tiles(const AxisBins& rows, const AxisBins& columns, const float* pixels,
                            int64_t width, int64_t channels, float* out, int64_t out_step) {
  HWY_ALIGN float tile[kTilePoints * kLanes] = {};
  size_t filled = 0;
  for (int64_t row = 0; row < rows.count; ++row) {
    for (int64_t column = 0; column < columns.count; ++column) {
      sum_of_bin<kLanes>(rows, row, columns, column, pixels, width).store(tile + filled * kLanes);
      const bool is_last = row + 1 == rows.count && column + 1 == columns.count;
      if (++filled < kTilePoints && !is_last) continue;
      if constexpr (kLanes == 1)
        std::copy_n(tile, filled, out);
      else
        transpose_tile(tile, kLanes, filled, channels, out, out_step);
      out += filled;
      filled = 0;
    }
  }
}

void BlendBins(const AxisBins& rows, const AxisBins& columns, const float* pixels, int64_t width,
               int64_t lanes, int64_t channels, float* out, int64_t out_step) {
  if (lanes == 1) return blend_tiles<1>(rows, columns, pixels, width, channels, out, out_step);
  with_lanes(lanes, [&](auto constant) HWY_ATTR {
    blend_tiles<constant()>(rows, columns, pixels, width, channels, out, out_step);
  });
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(PlanesToNhwc);
HWY_EXPORT(BlendPixels);
HWY_EXPORT(BlendPlane);
HWY_EXPORT(BlendLines);
HWY_EXPORT(BlendBins);

void planes_to_nhwc(const float* planes, int64_t plane_step, int64_t channels, int64_t count,
                    int64_t lanes, float* pixels) {
  HWY_DYNAMIC_DISPATCH(PlanesToNhwc)(planes, plane_step, channels, count, lanes, pixels);
}

void interpolate_pixels(const PointParts& parts, const float* pixels, int64_t lanes,
                        int64_t channels, float* out, int64_t out_step) {
  HWY_DYNAMIC_DISPATCH(BlendPixels)(parts, pixels, lanes, channels, out, out_step);
}

void blend_plane(const PointParts& parts, const float* plane, float* out) {
  HWY_DYNAMIC_DISPATCH(BlendPlane)(parts, plane, out);
}

void blend_lines(const float* from, int64_t step, const int32_t* at, const float* weights,
                 size_t parts, float* out, int64_t count) {
  HWY_DYNAMIC_DISPATCH(BlendLines)(from, step, at, weights, parts, out, count);
}

void blend_bins(const AxisBins& rows, const AxisBins& columns, const float* pixels, int64_t width,
                int64_t lanes, int64_t channels, float* out, int64_t out_step) {
  HWY_DYNAMIC_DISPATCH(BlendBins)
  (rows, columns, pixels, width, lanes, channels, out, out_step);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
