// Convolution of images of bytes, whose channels lie next to each other, by instructions that add
// four products of bytes at a time (VNNI). Sums are exact.
#pragma once

#include <cstdint>
#include <span>

namespace sardonyx::cpu {

constexpr int64_t kVnniGroup = 4;  // bytes whose products are added at once
// Output channels may be shared out in multiples of this; what there is one of for each is padded
// to it.
constexpr int64_t kByteUnit = 32;

// What becomes of sums: nothing; numbers, times a scale for each output and plus an addend; bytes,
// times a scale between -1 and 1, rounded half to even, moved by a zero point and saturated.
enum class ByteResult : uint8_t { kInt32, kFloat, kUInt8, kInt8 };

// One group of channels of one image, whose windows lie evenly and wholly in memory. Rows of a
// matrix are images of one pixel.
struct ConvU8S8Args {
  const uint8_t* in;                 // the window of row 0, column 0
  std::span<const int32_t> offsets;  // of a window's quads, from its first one, in bytes
  const int8_t* weights;             // packed by pack_byte_windows
  const int32_t* start;              // of each output's sums
  ByteResult result;
  const float* scales = nullptr;  // of each output; not of kInt32
  const float* addend = nullptr;  // of each output, for kFloat; null: none
  int32_t zero = 0;               // of bytes
  uint8_t* out;
  int64_t in_row, in_column, out_row, out_column;  // from one to the next, in bytes
  int64_t columns;                                 // of the output
  int64_t outputs;                                 // channels of the group
};

// Has this CPU the instructions? The functions below may be called where it has.
bool has_byte_windows();
// Of so many quads in a window.
int64_t packed_byte_windows_size(int64_t quads, int64_t outputs);
// Outputs [first, last) of [outputs][inputs][taps], `inputs` being whole quads, whose windows'
// quads are in the order [taps][inputs]. `first` is a multiple of kByteUnit. Sets sums[output] to
// the sum of its weights.
void pack_byte_windows(const int8_t* weights, int64_t inputs, int64_t taps, int64_t first,
                       int64_t last, int8_t* packed, int32_t* sums);

// The same of the columns [first, last) of a matrix, whose rows are `row_step` apart.
void pack_byte_columns(const int8_t* matrix, int64_t row_step, int64_t rows, int64_t first,
                       int64_t last, int8_t* packed, int32_t* sums);

// Outputs [first_output, last_output) of rows [first_row, last_row); both begin and end with whole
// units or the last output.
void convolve_bytes(const ConvU8S8Args& windows, int64_t first_row, int64_t last_row,
                    int64_t first_output, int64_t last_output);

}  // namespace sardonyx::cpu
