// Products of rows with a matrix of weights in 2, 4 or 8 bits that lies where a run finds it. For
// few rows the packed bits are multiplied directly, so that a product of one row is bound by
// loading them. For more rows a panel of weights at a time is dequantized into a near cache, and
// all rows are multiplied with it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "providers/cpu/gemm/gemm_f32.h"
#include "providers/cpu/gemm/gemm_nbits.h"

namespace sardonyx::cpu {

enum class NBitsZeros : uint8_t {
  kMiddle,         // of the range of a number, 8 for 4 bits
  kPacked,         // in as many bits as the weights, the blocks of a column for themselves
  kPackedColumns,  // the same, of columns that are one block each, one after the other
  kFloat
};

// Weights [columns][depth] in blocks along the depth; the last block may be filled up.
struct NBitsMatrix {
  int64_t depth;
  NBitsRow row;  // of one column
  const uint8_t* weights;
  const float* scales;  // [columns][blocks]
  NBitsZeros zeros;
  const void* zero_points;  // not read where zeros are kMiddle
  const float* bias;        // [columns]; may be null

  // The size of a column of packed zero points.
  int64_t zero_bytes() const { return (static_cast<int64_t>(row.blocks) * row.bits + 7) / 8; }
  // to[b * step] = the zero point of block b of a column.
  void read_zeros(int64_t column, float* to, size_t step) const;
};

// As many neighbouring columns as both products below compute at once.
constexpr int64_t kNBitsColumns = kGemmF32Unit;
// From this many rows on dequantizing the weights first is faster.
constexpr int64_t kMinPanelRows = 6;

// Spreads a row [depth] as multiply_nbits() wants it; `block`: scratch of a block's size.
void spread_nbits_row(const NBitsMatrix& matrix, const float* from, float* block, float* to);
// The distance between spread rows: a gap avoids conflict misses.
inline int64_t spread_step(const NBitsRow& row) {
  constexpr size_t kGap = 64;
  return static_cast<int64_t>(row.length() + kGap);
}

// out[r * out_step + c] of `rows` rows and the columns [first, first + count), at most
// kNBitsColumns.
struct NBitsProduct {
  const float* in;
  int64_t in_step, rows;
  float* out;
  int64_t out_step;
};
// Rows are spread. Scratch: kNBitsColumns * blocks floats.
void multiply_nbits_directly(const NBitsMatrix& matrix, const NBitsProduct& product, int64_t first,
                             int64_t count, float* scratch);
// Rows are as they are.
void multiply_nbits_by_panels(const NBitsMatrix& matrix, const NBitsProduct& product, int64_t first,
                              int64_t count, float* scratch);
// Floats of scratch of multiply_nbits_by_panels().
int64_t nbits_panel_floats(const NBitsRow& row);

}  // namespace sardonyx::cpu
