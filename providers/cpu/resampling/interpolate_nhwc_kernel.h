// Images whose channels lie together pixel by pixel, and sums of a few weighted pixels: what
// kernels read that sample an image at points between its pixels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

// Blocks of channels that lie together. The last block overlaps the one before rather than have
// lanes without a channel; only where there are fewer than 4 channels some lanes are idle.
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
  // Channels of every block.
  int64_t used() const { return std::min(channels, lanes); }
};

// pixels[i][c] = planes[c * plane_step + i] for i < count and c < channels, which are all lanes or
// up to 3 of 4.
void turn_to_pixels(const float* planes, int64_t plane_step, int64_t channels, int64_t count,
                    int64_t lanes, float* pixels);

// Points that are each the sum of some weighted pixels.
struct PointParts {
  const int32_t* at;     // [parts][step]; -1: a zero
  const float* weights;  // the same
  size_t parts, step, points;
};

// out[c * out_step + i] = point i of channel c, for all points and channels <= lanes. The pixel
// before the first is read as a zero.
void interpolate_pixels(const PointParts& parts, const float* pixels, int64_t lanes,
                        int64_t channels, float* out, int64_t out_step);
// The same of one channel that lies by itself.
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
// One lane: a channel that lies by itself.
void blend_bins(const AxisBins& rows, const AxisBins& columns, const float* pixels, int64_t width,
                int64_t lanes, int64_t channels, float* out, int64_t out_step);

}  // namespace sardonyx::cpu
