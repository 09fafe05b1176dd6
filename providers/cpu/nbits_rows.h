// Products with weights of 2, 4 or 8 bits in blocks that each have a scale, vectorised for the CPU
// that runs it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

// How a row of weights lies: `blocks` blocks of `block_bytes` bytes (at least 4), each byte holding
// 8 / bits values, the first in its lowest bits.
struct NBitsRow {
  int bits;
  size_t blocks, block_bytes;
  size_t values_per_byte() const { return static_cast<size_t>(8 / bits); }
  size_t block_size() const { return block_bytes * values_per_byte(); }
  size_t length() const { return blocks * block_size(); }
};

constexpr size_t kNBitsRowsAtOnce = 8;

// Reorders a block of numbers so that those which share a byte's place lie side by side: value v of
// byte b comes to [v * block_bytes + b].
void spread_block(const NBitsRow& row, const float* from, float* to);

// sums[r] = sum over the blocks b of scales[b] * (weights of b - zeros[b]) . (block b of a[r]),
// where the rows a[r] are spread and lie `a_step` apart; `rows` is at most kNBitsRowsAtOnce.
void multiply_nbits(const NBitsRow& row, const uint8_t* weights, const float* scales,
                    const float* zeros, const float* a, size_t a_step, size_t rows, float* sums);

}  // namespace sardonyx::cpu
