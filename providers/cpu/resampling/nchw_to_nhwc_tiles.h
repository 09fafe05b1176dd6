// Transposes an image from NCHW to NHWC for kernels that sample it at many points: as many blocks
// of channels at a time as a bounded scratch memory holds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/resampling/interpolate_nhwc_kernel.h"

namespace sardonyx::cpu {

// Elements of a plane whose places are counted in 32 bits and computed as floats exactly.
constexpr int64_t kMaxSampled = int64_t{1} << 24;

class NhwcTiles {
 public:
  // Blocks [begin, end) of channels.
  struct BlockGroup {
    int64_t begin, end;
    float* memory;
    int64_t step;  // from block to block
    int64_t lanes;
    // The pixels of a block; the one before them is all zeros.
    float* pixels(int64_t block) const { return memory + (block - begin) * step + lanes; }
  };

  NhwcTiles() = default;
  // `size`: elements of a plane. `reads`: the elements that are going to be read of each plane.
  NhwcTiles(int64_t channels, int64_t size, int64_t reads)
      : blocks_(channels), size_(size), step_((size + 1) * blocks_.lanes) {
    // A transpose reads memory in order; gathers pay off only if they read much of each plane.
    const bool is_much_read = reads >= size / kTransposesPerGather;
    if (channels < 2 || !is_much_read || step_ > kMaxBlockElements) return;
    channel_blocks_ = std::min(std::max<int64_t>(kMaxTileElements / step_, 1), blocks_.count);
  }

  const ChannelBlocks& blocks() const { return blocks_; }
  // False: the kernel reads the planes themselves.
  bool is_worthwhile() const { return channel_blocks_ > 0; }
  size_t scratch_bytes() const {
    return static_cast<size_t>(channel_blocks_ * step_) * sizeof(float);
  }

  // Calls visit(group) for all groups in turn; all use the same memory.
  template <typename Visit>
  void for_each_group(const float* planes, float* memory, int threads, const Visit& visit) const {
    for (int64_t first = 0; first < blocks_.count; first += channel_blocks_) {
      const BlockGroup group{first, std::min(first + channel_blocks_, blocks_.count), memory, step_,
                             blocks_.lanes};
      transpose(group, planes, threads);
      visit(group);
    }
  }

 private:
  // Elements that are transposed in the time of one gather from a plane.
  static constexpr int64_t kTransposesPerGather = 4;
  // Elements that are transposed at once (16 MB), and the most that a single block may have.
  static constexpr int64_t kMaxTileElements = int64_t{1} << 22,
                           kMaxBlockElements = int64_t{1} << 25;
  static constexpr int64_t kPixelsPerTask = 1 << 10;  // elements of a plane

  void transpose(const BlockGroup& group, const float* planes, int threads) const {
    const int64_t pieces = (size_ + kPixelsPerTask - 1) / kPixelsPerTask;
    for_each_task((group.end - group.begin) * pieces, threads, kPixelsPerTask * blocks_.lanes,
                  [&](int64_t task) {
                    const int64_t block = group.begin + task / pieces;
                    const int64_t first = task % pieces * kPixelsPerTask;
                    float* pixels = group.pixels(block);
                    if (first == 0) std::fill_n(pixels - blocks_.lanes, blocks_.lanes, 0.0f);
                    planes_to_nhwc(planes + blocks_.begin(block) * size_ + first, size_,
                                   blocks_.used(), std::min(size_ - first, kPixelsPerTask),
                                   blocks_.lanes, pixels + first * blocks_.lanes);
                  });
  }

  ChannelBlocks blocks_{1};
  int64_t size_ = 0, step_ = 0, channel_blocks_ = 0;
};

}  // namespace sardonyx::cpu
