// Depthwise convolution of uint8 images, channels last, with int8 weights: VNNI dot products of
// four taps, accumulated in int32. Sums are exact.
#pragma once

#include <cstdint>
#include <span>

namespace sardonyx::cpu {

// Channels of a block. Arrays with one element for each channel are padded to whole blocks and
// ordered within each block as `place_in_block` says.
constexpr int64_t kDwConvBlock = 64;

// Taps of a window that one VNNI dot product multiplies.
constexpr int64_t kTapsPerTile = 4;

// A row of an image, whose windows are wholly in memory; behind the last element of each a whole
// pixel and kDwConvBlock bytes may be read.
struct ByteDepthwiseRow {
  // Elements of the window of column 0, in groups of kTapsPerTile.
  std::span<const uint8_t* const> taps;
  bool source_is_signed;  // int8, whose sums are to be those of bytes that are 128 more
  // [blocks][groups][columns of a tile][kDwConvBlock][kTapsPerTile]
  const int8_t* weights;
  const int32_t* start;  // initial sums, per channel
  const float* scales;   // per channel, between -1 and 1
  int32_t zero;          // the zero point of the results, which are
  bool is_signed;        // int8, else uint8
  bool in_pairs;         // a tile is two columns, which share the elements they read
  uint8_t* out;
  int64_t in_column, out_column;  // from one to the next, in bytes
  int64_t columns;                // of the output
  int64_t channels;
  int64_t last_channels;  // channels that are stored of the last column
};

// The index of a channel in an array that is ordered by blocks.
constexpr int64_t place_in_block(int64_t channel) {
  const int64_t lane = channel % kDwConvBlock;
  return channel - lane + lane % 16 / 4 * 16 + lane / 16 * 4 + lane % 4;
}

// Results are sums times scales, rounded half to even, moved by `zero` and saturated. Only where
// has_igemm_u8s8() (igemm_u8s8.h).
void convolve_byte_channels(const ByteDepthwiseRow& row);

}  // namespace sardonyx::cpu
