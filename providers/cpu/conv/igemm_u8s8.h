// Implicit GEMM of uint8 images, channels last, with int8 weights: VNNI dot products of four bytes,
// accumulated in int32. Sums are exact.
#pragma once

#include <cstdint>
#include <span>

#include "ir/core/threading/interruptible_loops.h"

namespace sardonyx::cpu {

constexpr int64_t kVnniGroup = 4;  // bytes of one VNNI dot product ("quad")
// Threads take output channels in multiples of this; arrays with one element for each output
// channel are padded to it.
constexpr int64_t kU8S8Unit = 32;

// The epilogue of the int32 sums: none; float, sum * scale[output] + addend[output]; or bytes,
// sum * scale with a scale in [-1, 1], rounded half to even, plus the zero point, saturated.
enum class U8S8Output : uint8_t { kInt32, kFloat, kUInt8, kInt8 };

// One group of channels of one image, padding included: all windows are in memory, at constant
// strides. The rows of a matrix are images of one pixel.
struct ConvU8S8Args {
  const uint8_t* in;                      // the window of row 0, column 0
  std::span<const int32_t> offsets;       // indirection: bytes from a window's first quad to each
  std::span<const IndexRange> parts;      // those of the offsets that are summed over; none: all
  const int8_t* weights;                  // packed by pack_igemm_u8s8
  const int32_t* start;                   // [outputs]: initial sums, with the zero points folded in
  const int32_t* window_start = nullptr;  // [rows][columns]: added to those; null: 0
  U8S8Output result;
  const float* scales = nullptr;  // [outputs]; not for kInt32
  const float* addend = nullptr;  // [outputs], for kFloat; null: none
  int32_t zero = 0;               // zero point of kUInt8 and kInt8
  uint8_t* out;
  int64_t in_row, in_column, out_row, out_column;  // strides in bytes
  int64_t columns;                                 // of the output
  int64_t outputs;                                 // channels of the group
};

// True if this CPU has the VNNI instructions that the functions below execute.
bool has_igemm_u8s8();
// Bytes of the packed weights for windows of this many groups of kVnniGroup channels.
int64_t packed_igemm_u8s8_size(int64_t quads, int64_t outputs);
// Outputs [first, last) of [outputs][inputs][taps], `inputs` being whole quads, whose windows'
// quads are in the order [taps][inputs]. `first` is a multiple of kU8S8Unit. Sets sums[output] to
// the sum of its weights.
void pack_igemm_u8s8(const int8_t* weights, int64_t inputs, int64_t taps, int64_t first,
                     int64_t last, int8_t* packed, int32_t* sums);

// Packs columns [first, last) of a matrix whose rows are `row_step` bytes apart; sums as above.
void pack_gemm_u8s8(const int8_t* matrix, int64_t row_step, int64_t rows, int64_t first,
                    int64_t last, int8_t* packed, int32_t* sums);

// Outputs [first_output, last_output) of rows [first_row, last_row); both begin and end with whole
// units or the last output.
void run_igemm_u8s8(const ConvU8S8Args& windows, int64_t first_row, int64_t last_row,
                    int64_t first_output, int64_t last_output);

}  // namespace sardonyx::cpu
