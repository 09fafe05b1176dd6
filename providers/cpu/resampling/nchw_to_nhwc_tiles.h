// The planes of an image, turned into pixels of channels that lie together for kernels that read
// it at many points: as many channels at a time as a bounded memory holds.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ir/core/threading/interruptible_loops.h"
#include "providers/cpu/resampling/interpolate_nhwc_kernel.h"

namespace sardonyx::cpu {

// Elements of a plane whose places are counted in 32 bits and computed as floats exactly.
constexpr int64_t kMaxSampled = int64_t{1} << 24;

class TurnedPicture {
 public:
  // Blocks [begin, end) of channels.
  struct Group {
    int64_t begin, end;
    float* memory;
    int64_t step;  // from block to block
    int64_t lanes;
    // Behind a pixel of zeros.
    float* pixels(int64_t block) const { return memory + (block - begin) * step + lanes; }
  };

  TurnedPicture() = default;
  // Of planes of `size` elements, of each of which `reads` will be read.
  TurnedPicture(int64_t channels, int64_t size, int64_t reads)
      : blocks_(channels), size_(size), step_((size + 1) * blocks_.lanes) {
    // Turning goes through memory in its order, and points are not worth much but together.
    const bool is_much_read = reads >= size / kTurnedAsFast;
    if (channels < 2 || !is_much_read || step_ > kMaxTurned) return;
    together_ = std::min(std::max<int64_t>(kTurnedTogether / step_, 1), blocks_.count);
  }

  const ChannelBlocks& blocks() const { return blocks_; }
  // Else it is read where it lies.
  bool is_worthwhile() const { return together_ > 0; }
  size_t scratch_bytes() const { return static_cast<size_t>(together_ * step_) * sizeof(float); }

  // Calls visit(group) for all groups, one after the other in the same memory.
  template <typename Visit>
  void for_each_group(const float* planes, float* memory, int threads, const Visit& visit) const {
    for (int64_t first = 0; first < blocks_.count; first += together_) {
      const Group group{first, std::min(first + together_, blocks_.count), memory, step_,
                        blocks_.lanes};
      turn(group, planes, threads);
      visit(group);
    }
  }

 private:
  // Elements that are turned while one of an image that is not is gathered.
  static constexpr int64_t kTurnedAsFast = 4;
  // Elements that are turned at a time (16 MB), and the most that a single block may have.
  static constexpr int64_t kTurnedTogether = int64_t{1} << 22, kMaxTurned = int64_t{1} << 25;
  static constexpr int64_t kTurnedByTask = 1 << 10;  // elements of a plane

  void turn(const Group& group, const float* planes, int threads) const {
    const int64_t pieces = (size_ + kTurnedByTask - 1) / kTurnedByTask;
    for_each_task((group.end - group.begin) * pieces, threads, kTurnedByTask * blocks_.lanes,
                  [&](int64_t task) {
                    const int64_t block = group.begin + task / pieces;
                    const int64_t first = task % pieces * kTurnedByTask;
                    float* pixels = group.pixels(block);
                    if (first == 0) std::fill_n(pixels - blocks_.lanes, blocks_.lanes, 0.0f);
                    turn_to_pixels(planes + blocks_.begin(block) * size_ + first, size_,
                                   blocks_.used(), std::min(size_ - first, kTurnedByTask),
                                   blocks_.lanes, pixels + first * blocks_.lanes);
                  });
  }

  ChannelBlocks blocks_{1};
  int64_t size_ = 0, step_ = 0, together_ = 0;
};

}  // namespace sardonyx::cpu
