// Shared by RoiAlign, CropAndResize and their kind: a region is rows and columns of bins, each a
// weighted sum of lines; all channels share the weights.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ir/core/symbolic_dim.h"
#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/elementwise/broadcast_loop.h"
#include "providers/cpu/resampling/interpolate_nhwc_kernel.h"
#include "providers/cpu/resampling/nchw_to_nhwc_tiles.h"

namespace sardonyx::cpu {

// Limits of one region, within which no deadline is checked: bins along one axis, lines that all of
// them read, and elements in blocks of channels.
constexpr int64_t kMaxBins = 1 << 16, kMaxLines = 1 << 20, kMaxReads = 1 << 28;

// Why regions [R, C, rows, columns] of images [N, C, H, W] can't be computed from bins; nullptr if
// they can.
inline const char* why_unsupported_regions(const Shape& x, const Shape& y) {
  if (element_count(y) == 0 || element_count(x) == 0) return "there are no elements";
  if (x[2] * x[3] > kMaxSampled) return "images of this size are left to the reference";
  if (std::max(y[2], y[3]) > kMaxBins) return "so many bins are left to the reference";
  return nullptr;
}

// Memory for the bins along one axis of a region.
struct BinTable {
  int64_t bins = 0, most = 0;  // lines of one bin at most

  int64_t lines() const { return bins * most; }
  size_t bytes() const {
    constexpr size_t kPadding = 16;
    return static_cast<size_t>(2 * lines() + bins + 1 + kPadding) / kPadding * kPadding *
           sizeof(float);
  }

  // Calls list(bin, add) for all bins, which is to call add(line, weight) for their lines.
  template <typename List>
  AxisBins fill(std::byte* memory, const List& list) const {
    auto* at = reinterpret_cast<int32_t*>(memory);
    auto* weights = reinterpret_cast<float*>(at + lines());
    auto* begins = at + 2 * lines();
    int32_t count = 0;
    const auto add = [&](int64_t line, double weight) {
      at[count] = static_cast<int32_t>(line);
      weights[count++] = static_cast<float>(weight);
    };
    for (int64_t bin = 0; bin < bins; ++bin) {
      begins[bin] = count;
      list(bin, add);
    }
    begins[bins] = count;
    return {at, weights, begins, bins};
  }
};

// Regions [R, C, bin rows, bin columns] of images [N, C, H, W].
class RegionBlend {
 public:
  struct Tables {
    AxisBins rows, columns;
  };

  // `reads` is about the number of elements read for a bin, `max_reads` that for a region.
  RegionBlend(const Shape& x, const Shape& y, const BinTable& rows, const BinTable& columns,
              int64_t reads, int64_t max_reads, int threads)
      : rows_(rows),
        columns_(columns),
        batch_(x[0]),
        channels_(x[1]),
        height_(x[2]),
        width_(x[3]),
        regions_(y[0]),
        bins_(y[2] * y[3]),
        work_(max_reads * channels_),
        tiles_(channels_, height_ * width_, bins_ * reads * (regions_ / batch_ + 1)) {
    const int64_t work = bins_ * channels_ * reads * regions_;
    threads_ =
        static_cast<int>(std::min<int64_t>({threads, work / kElementsPerThread + 1, regions_}));
  }

  int64_t batch() const { return batch_; }
  int64_t height() const { return height_; }
  int64_t width() const { return width_; }
  int64_t regions() const { return regions_; }
  int64_t bins() const { return bins_; }
  int64_t channels() const { return channels_; }
  const BinTable& rows() const { return rows_; }
  const BinTable& columns() const { return columns_; }
  // The offset in bytes of the table of columns, which follows the table of rows.
  size_t columns_at() const { return rows_.bytes(); }
  size_t scratch_bytes() const {
    return static_cast<size_t>(threads_) * table_bytes() + tiles_.scratch_bytes();
  }

  // Region r is a part of image batches[r]. fill(region, memory) returns the tables of a region;
  // finish(tables, output, channels) computes the output of some channels.
  template <typename Index, typename Fill, typename Epilogue>
  void run(const float* x, const Index* batches, float* out, std::byte* scratch, const Fill& fill,
           const Epilogue& finish) const;

 private:
  size_t table_bytes() const { return rows_.bytes() + columns_.bytes(); }

  // Calls visit(tables, output) for all regions of an image; threads take regions round-robin,
  // since the regions of one image are often adjacent.
  template <typename Index, typename Fill, typename Visit>
  void for_regions(const Index* batches, int64_t image, float* out, std::byte* scratch,
                   const Fill& fill, const Visit& visit) const {
    const int64_t share = (regions_ + threads_ - 1) / threads_;
    for_each_task(share * threads_, threads_, work_, [&](int64_t task, int seat) {
      const int64_t region = task % share * threads_ + task / share;
      if (region >= regions_ || batches[region] != image) return;
      const Tables tables = fill(region, scratch + static_cast<size_t>(seat) * table_bytes());
      visit(tables, out + region * channels_ * bins_);
    });
  }

  BinTable rows_, columns_;
  int64_t batch_, channels_, height_, width_, regions_, bins_, work_;
  NhwcTiles tiles_;
  int threads_;
};

template <typename Index, typename Fill, typename Epilogue>
void RegionBlend::run(const float* x, const Index* batches, float* out, std::byte* scratch,
                      const Fill& fill, const Epilogue& finish) const {
  auto* memory = reinterpret_cast<float*>(scratch + static_cast<size_t>(threads_) * table_bytes());
  const int64_t size = height_ * width_;
  for (int64_t image = 0; image < batch_; ++image) {
    if (std::find(batches, batches + regions_, image) == batches + regions_) continue;
    const float* planes = x + image * channels_ * size;
    if (!tiles_.is_worthwhile()) {
      for_regions(batches, image, out, scratch, fill, [&](const Tables& tables, float* to) {
        for (int64_t channel = 0; channel < channels_; ++channel, to += bins_) {
          blend_bins(tables.rows, tables.columns, planes + channel * size, width_, 1, 1, to, bins_);
          finish(tables, to, 1);
        }
      });
      continue;
    }
    tiles_.for_each_group(planes, memory, threads_, [&](const NhwcTiles::BlockGroup& group) {
      for_regions(batches, image, out, scratch, fill, [&](const Tables& tables, float* region) {
        const ChannelBlocks& blocks = tiles_.blocks();
        for (int64_t block = group.begin; block < group.end; ++block) {
          float* to = region + blocks.begin(block) * bins_;
          blend_bins(tables.rows, tables.columns, group.pixels(block), width_, blocks.lanes,
                     blocks.used(), to, bins_);
          finish(tables, to, blocks.used());
        }
      });
    });
  }
}

}  // namespace sardonyx::cpu
