// NHWC images and weighted sums of their pixels (bilinear and bicubic sampling), for kernels that
// sample an image at points between its pixels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

// Blocks of channels, each stored pixel by pixel. The last block overlaps the one before, so that
// every lane has a channel; only with fewer than 4 channels some lanes are idle.
struct ChannelBlocks {
  int64_t channels, lanes, count;  // lanes: 4, 8 or 16

  explicit ChannelBlocks(int64_t all)
      : channels(all),
        lanes(all >= 16  ? 16
              : all >= 8 ? 8
                         : 4),
        count((all + lanes - 1) / lanes) {}
  int64_t begin(int64_t block) const {
    return std::max<int64_t>(std::min(block * lanes, channels - lanes), 0);
  }
  // Lanes of a block that hold a channel.
  int64_t used() const { return std::min(channels, lanes); }
};

// pixels[i][c] = planes[c * plane_step + i] for i < count and c < channels; `channels` is `lanes`,
// or less than 4 with 4 lanes.
void planes_to_nhwc(const float* planes, int64_t plane_step, int64_t channels, int64_t count,
                    int64_t lanes, float* pixels);

// Points that are each the sum of some weighted pixels.
struct PointParts {
  const int32_t* at;     // [parts][step]; -1: a zero
  const float* weights;  // [parts][step]
  size_t parts, step, points;
};

// out[c * out_step + i] = point i of channel c, for all points and channels <= lanes. The pixel
// before the first is read as a zero.
void interpolate_pixels(const PointParts& parts, const float* pixels, int64_t lanes,
                        int64_t channels, float* out, int64_t out_step);
// out[i] = point i of a single plane.
void blend_plane(const PointParts& parts, const float* plane, float* out);

// out[i] = the sum of weights[k] * from[at[k] * step + i], for i < count.
void blend_lines(const float* from, int64_t step, const int32_t* at, const float* weights,
                 size_t parts, float* out, int64_t count);

// Bins along one axis: bin i is the sum of weighted lines [begins[i], begins[i + 1]).
struct AxisBins {
  const int32_t* at;
  const float* weights;
  const int32_t* begins;
  int64_t count;
};

// out[c * out_step + i] = bin i of channel c, for all bins of the product of both axes, rows first.
// With one lane `pixels` is a single plane.
void blend_bins(const AxisBins& rows, const AxisBins& columns, const float* pixels, int64_t width,
                int64_t lanes, int64_t channels, float* out, int64_t out_step);

}  // namespace sardonyx::cpu
