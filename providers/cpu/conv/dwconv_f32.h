// Depthwise convolution of float32 images whose channels are adjacent, in whole or in
// blocks.
#pragma once

#include <cstdint>

#include "ir/layout.h"

namespace sardonyx::cpu {

// Channels in a block of the layouts that have blocks, and what weights are padded to.
constexpr int64_t kChannelBlock = ImageLayout::kChannelBlock;

// The strides of one image: channel c of (row, column) is
//   row * row + column * column + c / 16 * block + c % 16 elements behind its first one.
struct ImageSteps {
  int64_t row, column, block;
};

// One image; a channel of the output is computed from the same channel of the input, or from that
// of a 2^repeat-th of its number: the repeat is 0 to 3. Blocks of the input are whole then.
struct DepthwiseImage {
  const float* in;
  float* out;
  const float* weights;  // [kernel rows][kernel columns][channels rounded up to whole blocks]
  const float* bias;     // [channels rounded up to whole blocks]
  ImageSteps in_steps, out_steps;
  int64_t channels;  // of the output
  int repeat;
  int64_t height, width;  // of the input
  int64_t out_width;
  int64_t kernel[2], stride[2], dilation[2], pad[2];  // of rows and columns; pad: at the beginning
  float low, high;  // results are clipped to these; infinities: not at all
};

// Rows [first_row, last_row) of the output, channels [first_channel, last_channel), which begin and
// end with whole blocks or the last channel. Every element is the bias, then the products added in
// the order of the kernel's elements, whatever the share.
void convolve_depthwise(const DepthwiseImage& image, int64_t first_row, int64_t last_row,
                        int64_t first_channel, int64_t last_channel);

}  // namespace sardonyx::cpu
