// Depthwise convolution of images of bytes, whose channels lie next to each other, by instructions
// that add four products of bytes at a time (VNNI). Sums are exact.
#pragma once

#include <cstdint>
#include <span>

namespace sardonyx::cpu {

// Channels that are computed together. What there is one of for each is padded to whole blocks, and
// lies in each block as `place_in_block` says.
constexpr int64_t kByteBlock = 64;

// Elements of a window that are multiplied together.
constexpr int64_t kTapsTogether = 4;

// A row of an image, whose windows lie wholly in memory; behind the last element of each a whole
// pixel and kByteBlock bytes may be read.
struct ByteDepthwiseRow {
  // Elements of the window of column 0, in groups of kTapsTogether.
  std::span<const uint8_t* const> taps;
  bool source_is_signed;  // int8, whose sums are to be those of bytes that are 128 more
  // [blocks][groups][columns together][kByteBlock][kTapsTogether]
  const int8_t* weights;
  const int32_t* start;  // of each channel's sums
  const float* scales;   // of each channel, between -1 and 1
  int32_t zero;          // of results, which are
  bool is_signed;        // int8, else uint8
  bool in_pairs;         // two columns are computed together, of the same elements
  uint8_t* out;
  int64_t in_column, out_column;  // from one to the next, in bytes
  int64_t columns;                // of the output
  int64_t channels;
  int64_t last_channels;  // of the last column; others of it are not there
};

// Where a channel lies in what is in the order of blocks.
constexpr int64_t place_in_block(int64_t channel) {
  const int64_t lane = channel % kByteBlock;
  return channel - lane + lane % 16 / 4 * 16 + lane / 16 * 4 + lane % 4;
}

// Results are sums times scales, rounded half to even, moved by `zero` and saturated. Only where
// has_byte_windows() (byte_windows.h).
void convolve_byte_channels(const ByteDepthwiseRow& row);

}  // namespace sardonyx::cpu
