#include "providers/cpu/nbits_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/nbits_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <int bits, size_t rows, class D>
HWY_INLINE void multiply_blocks(D d, const NBitsRow& row, const uint8_t* weights,
                                const float* scales, const float* zeros, const float* a,
                                float* sums) {
  const hn::RebindToSigned<D> d_int;
  const hn::Rebind<uint8_t, D> d_byte;
  constexpr size_t kValues = 8 / bits;
  const auto mask = hn::Set(d_int, (1 << bits) - 1);
  const size_t length = row.length();
  hn::Vec<D> total[rows];
  for (size_t r = 0; r < rows; ++r)
    total[r] = hn::Zero(d);
  for (size_t block = 0; block < row.blocks; ++block) {
    const float* numbers = a + block * row.block_size();
    const auto zero = hn::Set(d, zeros[block]);
    hn::Vec<D> part[rows];
    for (size_t r = 0; r < rows; ++r)
      part[r] = hn::Zero(d);
    for (size_t i = 0; i < row.block_bytes; i += hn::Lanes(d)) {
      auto bytes = hn::PromoteTo(d_int, hn::LoadU(d_byte, weights + block * row.block_bytes + i));
      for (size_t v = 0; v < kValues; ++v) {
        const auto value =
            hn::Sub(hn::ConvertTo(d, bits == 8 ? bytes : hn::And(bytes, mask)), zero);
        if constexpr (bits < 8) bytes = hn::ShiftRight<bits>(bytes);
        for (size_t r = 0; r < rows; ++r) {
          const float* from = numbers + r * length + v * row.block_bytes + i;
          part[r] = hn::MulAdd(hn::LoadU(d, from), value, part[r]);
        }
      }
    }
    const auto scale = hn::Set(d, scales[block]);
    for (size_t r = 0; r < rows; ++r)
      total[r] = hn::MulAdd(part[r], scale, total[r]);
  }
  for (size_t r = 0; r < rows; ++r)
    sums[r] = hn::GetLane(hn::SumOfLanes(d, total[r]));
}

template <int bits, class D>
HWY_INLINE void multiply_rows(D d, const NBitsRow& row, const uint8_t* weights, const float* scales,
                              const float* zeros, const float* a, size_t rows, float* sums) {
  switch (rows) {
    case 1:
      return multiply_blocks<bits, 1>(d, row, weights, scales, zeros, a, sums);
    case 2:
      return multiply_blocks<bits, 2>(d, row, weights, scales, zeros, a, sums);
    case 3:
      return multiply_blocks<bits, 3>(d, row, weights, scales, zeros, a, sums);
    default:
      return multiply_blocks<bits, 4>(d, row, weights, scales, zeros, a, sums);
  }
}

// Blocks that whole vectors do not divide are walked in vectors of four, the smallest block.
template <int bits>
HWY_INLINE void multiply_bits(const NBitsRow& row, const uint8_t* weights, const float* scales,
                              const float* zeros, const float* a, size_t rows, float* sums) {
  const hn::ScalableTag<float> whole;
  const hn::CappedTag<float, 4> small;
  if (row.block_bytes % hn::Lanes(whole) == 0) {
    multiply_rows<bits>(whole, row, weights, scales, zeros, a, rows, sums);
  } else {
    multiply_rows<bits>(small, row, weights, scales, zeros, a, rows, sums);
  }
}

void MultiplyNBits(const NBitsRow& row, const uint8_t* weights, const float* scales,
                   const float* zeros, const float* a, size_t rows, float* sums) {
  switch (row.bits) {
    case 2:
      return multiply_bits<2>(row, weights, scales, zeros, a, rows, sums);
    case 4:
      return multiply_bits<4>(row, weights, scales, zeros, a, rows, sums);
    default:
      return multiply_bits<8>(row, weights, scales, zeros, a, rows, sums);
  }
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(MultiplyNBits);

void spread_block(const NBitsRow& row, const float* from, float* to) {
  const size_t values = row.values_per_byte();
  for (size_t byte = 0; byte < row.block_bytes; ++byte) {
    for (size_t v = 0; v < values; ++v)
      to[v * row.block_bytes + byte] = from[byte * values + v];
  }
}

void multiply_nbits(const NBitsRow& row, const uint8_t* weights, const float* scales,
                    const float* zeros, const float* a, size_t rows, float* sums) {
  HWY_DYNAMIC_DISPATCH(MultiplyNBits)(row, weights, scales, zeros, a, rows, sums);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
