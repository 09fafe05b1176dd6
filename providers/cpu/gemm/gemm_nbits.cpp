#include "providers/cpu/gemm/gemm_nbits.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/gemm/gemm_nbits.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "providers/cpu/gemm/gemm_f32.h"
#include "providers/cpu/simd/transpose_4x4-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Dequantizes codes of `bits` bits. With 4 bits a vector holds all 16 values, so they are looked
// up.
template <int bits, class D>
class BlockWeights {
 public:
  using V = hn::Vec<D>;
  using VInt = hn::Vec<hn::RebindToSigned<D>>;

  HWY_INLINE BlockWeights(float scale, float zero)
      : scale_(hn::Set(D(), scale)),
        zero_(hn::Set(D(), zero)),
        table_(hn::Mul(hn::Sub(hn::Iota(D(), 0.0f), zero_), scale_)) {}

  HWY_INLINE V of(VInt number) const {
#if HWY_TARGET <= HWY_AVX3
    if constexpr (bits == 4 && hn::MaxLanes(D()) == 16) {
      return hn::TableLookupLanes(table_, hn::IndicesFromVec(D(), number));
    }
#endif
    return hn::Mul(hn::Sub(hn::ConvertTo(D(), number), zero_), scale_);
  }

 private:
  V scale_, zero_, table_;
};

template <int bits, size_t rows, class D>
HWY_INLINE void multiply_blocks(D d, const NBitsRow& row, const uint8_t* weights,
                                const float* scales, const float* zeros, const float* a,
                                size_t a_step, float* sums) {
  const hn::RebindToSigned<D> d_int;
  const hn::Rebind<uint8_t, D> d_byte;
  constexpr size_t kValues = 8 / bits;
  const auto mask = hn::Set(d_int, (1 << bits) - 1);
  // Few rows have several sums each, so that additions need not wait for each other.
  constexpr size_t kSums = rows <= 2 ? kValues : 1;
  hn::Vec<D> total[rows][kSums];
  for (size_t r = 0; r < rows; ++r) {
    for (size_t s = 0; s < kSums; ++s)
      total[r][s] = hn::Zero(d);
  }
  for (size_t block = 0; block < row.blocks; ++block) {
    const float* numbers = a + block * row.block_size();
    const BlockWeights<bits, D> meant(scales[block], zeros[block]);
    for (size_t i = 0; i < row.block_bytes; i += hn::Lanes(d)) {
      auto bytes = hn::PromoteTo(d_int, hn::LoadU(d_byte, weights + block * row.block_bytes + i));
      for (size_t v = 0; v < kValues; ++v) {
        // Behind the last value of a byte there is nothing to mask.
        const auto value = meant.of(v + 1 == kValues ? bytes : hn::And(bytes, mask));
        if constexpr (bits < 8) bytes = hn::ShiftRight<bits>(bytes);
        for (size_t r = 0; r < rows; ++r) {
          const float* from = numbers + r * a_step + v * row.block_bytes + i;
          auto& sum = total[r][v % kSums];
          sum = hn::MulAdd(hn::LoadU(d, from), value, sum);
        }
      }
    }
  }
  for (size_t r = 0; r < rows; ++r) {
    for (size_t s = 1; s < kSums; ++s)
      total[r][0] = hn::Add(total[r][0], total[r][s]);
    sums[r] = hn::GetLane(hn::SumOfLanes(d, total[r][0]));
  }
}

template <int bits, class D>
HWY_INLINE void multiply_rows(D d, const NBitsRow& row, const uint8_t* weights, const float* scales,
                              const float* zeros, const float* a, size_t a_step, size_t rows,
                              float* sums) {
  switch (rows) {
    case 1:
      return multiply_blocks<bits, 1>(d, row, weights, scales, zeros, a, a_step, sums);
    case 2:
      return multiply_blocks<bits, 2>(d, row, weights, scales, zeros, a, a_step, sums);
    case 3:
      return multiply_blocks<bits, 3>(d, row, weights, scales, zeros, a, a_step, sums);
    case 4:
      return multiply_blocks<bits, 4>(d, row, weights, scales, zeros, a, a_step, sums);
    case 5:
      return multiply_blocks<bits, 5>(d, row, weights, scales, zeros, a, a_step, sums);
    case 6:
      return multiply_blocks<bits, 6>(d, row, weights, scales, zeros, a, a_step, sums);
    case 7:
      return multiply_blocks<bits, 7>(d, row, weights, scales, zeros, a, a_step, sums);
    default:
      return multiply_blocks<bits, 8>(d, row, weights, scales, zeros, a, a_step, sums);
  }
}

// Blocks that whole vectors do not divide are walked in vectors of four, the smallest block.
template <int bits>
HWY_INLINE void multiply_bits(const NBitsRow& row, const uint8_t* weights, const float* scales,
                              const float* zeros, const float* a, size_t a_step, size_t rows,
                              float* sums) {
  const hn::ScalableTag<float> whole;
  const hn::CappedTag<float, 4> small;
  if (row.block_bytes % hn::Lanes(whole) == 0) {
    multiply_rows<bits>(whole, row, weights, scales, zeros, a, a_step, rows, sums);
  } else {
    multiply_rows<bits>(small, row, weights, scales, zeros, a, a_step, rows, sums);
  }
}

void MultiplyNBits(const NBitsRow& row, const uint8_t* weights, const float* scales,
                   const float* zeros, const float* a, size_t a_step, size_t rows, float* sums) {
  switch (row.bits) {
    case 2:
      return multiply_bits<2>(row, weights, scales, zeros, a, a_step, rows, sums);
    case 4:
      return multiply_bits<4>(row, weights, scales, zeros, a, a_step, rows, sums);
    default:
      return multiply_bits<8>(row, weights, scales, zeros, a, a_step, rows, sums);
  }
}

// Weights of as many columns as a vector has lanes. An element of `words` is 32 bits of a column.
template <int bits, class D>
HWY_INLINE void unpack_word(D d, hn::Vec<hn::RebindToUnsigned<D>> words, hn::Vec<D> scale,
                            hn::Vec<D> zero, size_t lanes, float* to) {
  const hn::RebindToUnsigned<D> d_word;
  const hn::RebindToSigned<D> d_int;
  const auto mask = hn::Set(d_word, (1u << bits) - 1);
  for (size_t i = 0; i < 32 / bits; ++i) {
    const auto number = hn::ConvertTo(d, hn::BitCast(d_int, hn::And(words, mask)));
    hn::StoreU(hn::Mul(hn::Sub(number, zero), scale), d, to + i * lanes);
    words = hn::ShiftRight<bits>(words);
  }
}

#if HWY_TARGET != HWY_SCALAR
// The columns of one vector, from `column` on; the panel's rows are two vectors.
template <int bits, class D>
void unpack_vector(D d, const NBitsColumns& c, size_t first, size_t count, size_t column,
                   float* panel) {
  constexpr size_t kInWord = 32 / bits;
  const hn::RebindToUnsigned<D> d_word;
  const size_t lanes = 2 * hn::Lanes(d);
  const uint8_t* weights = c.weights + column * c.column_bytes + first / kInWord * 4;
  for (size_t input = 0; input < count; input += 4 * kInWord) {
    const auto transposed = transpose_4(d_word, reinterpret_cast<const uint32_t*>(weights),
                                        static_cast<int64_t>(c.column_bytes / 4));
    size_t at = input;
    for (const auto& words : {transposed.a, transposed.b, transposed.c, transposed.d}) {
      const size_t scale = (first + at) / c.block_size * kGemmF32Unit + column;
      unpack_word<bits>(d, words, hn::LoadU(d, c.scales + scale), hn::LoadU(d, c.zeros + scale),
                        lanes, panel + at * lanes);
      at += kInWord;
    }
    weights += 16;
  }
}
#endif

template <int bits>
void unpack_columns(const NBitsColumns& c, size_t first, size_t count, float* panel) {
#if HWY_TARGET != HWY_SCALAR
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t column = 0; column < kGemmF32Unit; column += lanes) {
    const size_t pair = column / (2 * lanes) * 2 * lanes;
    unpack_vector<bits>(d, c, first, count, column, panel + pair * count + (column - pair));
  }
#else
  constexpr size_t kInByte = 8 / bits;
  for (size_t column = 0; column < kGemmF32Unit; ++column) {
    // Panels are pairs of columns, but for the last two.
    const size_t step = column + 2 < kGemmF32Unit ? 2 : 1;
    float* to = panel + column / step * step * count + column % step;
    for (size_t input = first; input < first + count; ++input, to += step) {
      const uint8_t byte = c.weights[column * c.column_bytes + input / kInByte];
      const int number = byte >> input % kInByte * bits & ((1 << bits) - 1);
      const size_t scale = input / c.block_size * kGemmF32Unit + column;
      *to = (static_cast<float>(number) - c.zeros[scale]) * c.scales[scale];
    }
  }
#endif
}

void UnpackNBits(const NBitsColumns& columns, size_t first, size_t count, float* panel) {
  switch (columns.bits) {
    case 2:
      return unpack_columns<2>(columns, first, count, panel);
    case 4:
      return unpack_columns<4>(columns, first, count, panel);
    default:
      return unpack_columns<8>(columns, first, count, panel);
  }
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(MultiplyNBits);
HWY_EXPORT(UnpackNBits);

void spread_block(const NBitsRow& row, const float* from, float* to) {
  const size_t values = row.values_per_byte();
  for (size_t byte = 0; byte < row.block_bytes; ++byte) {
    for (size_t v = 0; v < values; ++v)
      to[v * row.block_bytes + byte] = from[byte * values + v];
  }
}

void multiply_nbits(const NBitsRow& row, const uint8_t* weights, const float* scales,
                    const float* zeros, const float* a, size_t a_step, size_t rows, float* sums) {
  HWY_DYNAMIC_DISPATCH(MultiplyNBits)(row, weights, scales, zeros, a, a_step, rows, sums);
}

void unpack_nbits(const NBitsColumns& columns, size_t first, size_t count, float* panel) {
  HWY_DYNAMIC_DISPATCH(UnpackNBits)(columns, first, count, panel);
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
