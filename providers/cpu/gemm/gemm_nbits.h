// Products with weights of 2, 4 or 8 bits in blocks that each have a scale, vectorised for the CPU
// that runs it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

// Layout of a row of weights: `blocks` blocks of `block_bytes` bytes (at least 4), each byte
// holding 8 / bits values, the first in its lowest bits.
struct NBitsRow {
  int bits;
  size_t blocks, block_bytes;
  size_t values_per_byte() const { return static_cast<size_t>(8 / bits); }
  size_t block_size() const { return block_bytes * values_per_byte(); }
  size_t length() const { return blocks * block_size(); }
};

constexpr size_t kNBitsRowsAtOnce = 8;

// Reorders a block of numbers by their position within a byte: value v of byte b moves to
// [v * block_bytes + b].
void spread_block(const NBitsRow& row, const float* from, float* to);

// sums[r] = sum over the blocks b of scales[b] * (weights of b - zeros[b]) . (block b of a[r]),
// where the rows a[r] are reordered and `a_step` apart; `rows` is at most kNBitsRowsAtOnce.
void multiply_nbits(const NBitsRow& row, const uint8_t* weights, const float* scales,
                    const float* zeros, const float* a, size_t a_step, size_t rows, float* sums);

// Weights of kGemmF32Unit neighbouring columns, some of each.
struct NBitsColumns {
  int bits;
  size_t block_size;            // weights that share a scale
  size_t column_bytes;          // of one column
  const uint8_t* weights;       // of the first column
  const float *scales, *zeros;  // [block of a column][column]
};

// panel = scale * (weight - zero) of the inputs [first, first + count) of all columns, as
// pack_gemm_f32() lays out that many inputs of so many outputs. Both are multiples of
// kNBitsInputsUnit.
void unpack_nbits(const NBitsColumns& columns, size_t first, size_t count, float* panel);
// The weights in a vector of 16 bytes at 2 bits each, the fewest.
constexpr size_t kNBitsInputsUnit = 64;

}  // namespace sardonyx::cpu
