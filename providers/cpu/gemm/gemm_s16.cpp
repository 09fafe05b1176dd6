#include "providers/cpu/gemm/gemm_s16.h"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "providers/cpu/gemm/gemm_s16.cpp"
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "ir/core/dtype_convert.h"
#include "providers/cpu/simd/vnni-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sardonyx::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<int32_t>;
using DFloat = hn::RebindToFloat<D32>;

#if HWY_TARGET == HWY_SCALAR  // one lane holds no pair

void WidenBytes(const uint8_t* bytes, bool is_signed, int32_t zero, size_t count, int16_t* out) {
  for (size_t i = 0; i < count; ++i) {
    const int32_t value = is_signed ? static_cast<int8_t>(bytes[i]) : bytes[i];
    out[i] = static_cast<int16_t>(value - zero);
  }
}

void PackPair(const uint8_t* first, const uint8_t* second, bool is_signed, const int16_t* zeros,
              size_t count, int16_t* out) {
  std::fill(out, out + 2 * kPanelColumns, int16_t{0});
  for (size_t i = 0; i < count; ++i) {
    WidenBytes(first + i, is_signed, zeros[i], 1, &out[2 * i]);
    if (second) WidenBytes(second + i, is_signed, zeros[i], 1, &out[2 * i + 1]);
  }
}

void MultiplyPanel(const int16_t* left, size_t left_step, size_t rows, const int16_t* panel,
                   size_t pairs, int32_t* sums) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t column = 0; column < kPanelColumns; ++column) {
      uint32_t sum = 0;
      for (size_t term = 0; term < 2 * pairs; ++term) {
        const int32_t right = panel[(term / 2 * kPanelColumns + column) * 2 + term % 2];
        sum += static_cast<uint32_t>(left[r * left_step + term] * right);
      }
      sums[r * kPanelColumns + column] = static_cast<int32_t>(sum);
    }
  }
}

#else

using D16 = hn::Repartition<int16_t, D32>;

void WidenBytes(const uint8_t* bytes, bool is_signed, int32_t zero, size_t count, int16_t* out) {
  const D16 d;
  const hn::Rebind<uint8_t, D16> d_unsigned;
  const hn::Rebind<int8_t, D16> d_signed;
  const auto offset = hn::Set(d, static_cast<int16_t>(zero));
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto loaded = hn::LoadU(d_unsigned, bytes + i);
    const auto wide =
        is_signed ? hn::PromoteTo(d, hn::BitCast(d_signed, loaded)) : hn::PromoteTo(d, loaded);
    hn::StoreU(hn::Sub(wide, offset), d, out + i);
  }
  for (; i < count; ++i) {
    const int32_t value = is_signed ? static_cast<int8_t>(bytes[i]) : bytes[i];
    out[i] = static_cast<int16_t>(value - zero);
  }
}

void PackPair(const uint8_t* first, const uint8_t* second, bool is_signed, const int16_t* zeros,
              size_t count, int16_t* out) {
  const D32 d;
  const hn::Rebind<uint8_t, D32> d_unsigned;
  const hn::Rebind<int8_t, D32> d_signed;
  const hn::Rebind<int16_t, D32> d_zeros;
  const auto low_half = hn::Set(d, 0xffff);
  const auto value = [&](const uint8_t* bytes, size_t i) HWY_ATTR {
    const auto loaded = hn::LoadU(d_unsigned, bytes + i);
    const auto wide =
        is_signed ? hn::PromoteTo(d, hn::BitCast(d_signed, loaded)) : hn::PromoteTo(d, loaded);
    return hn::Sub(wide, hn::PromoteTo(d, hn::LoadU(d_zeros, zeros + i)));
  };
  auto* pairs = reinterpret_cast<int32_t*>(out);
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    auto pair = hn::And(value(first, i), low_half);
    if (second) pair = hn::Or(pair, hn::ShiftLeft<16>(value(second, i)));
    hn::StoreU(pair, d, pairs + i);
  }
  const auto one = [&](const uint8_t* bytes, size_t at) {
    const int32_t byte = is_signed ? static_cast<int8_t>(bytes[at]) : bytes[at];
    return static_cast<int16_t>(byte - zeros[at]);
  };
  for (; i < count; ++i) {
    out[2 * i] = one(first, i);
    out[2 * i + 1] = second ? one(second, i) : int16_t{0};
  }
  std::fill(out + 2 * count, out + 2 * kPanelColumns, int16_t{0});
}

// `vectors` vectors of columns from `panel` on, of `rows` rows.
template <size_t rows, size_t vectors>
HWY_INLINE void multiply(const int16_t* left, size_t left_step, const int16_t* panel, size_t pairs,
                         int32_t* sums) {
  const D32 d;
  const D16 d16;
  const size_t lanes = hn::Lanes(d);
  using V = hn::Vec<D32>;
  // Where an instruction adds the products of neighbours, `total` takes all of them and `rest`
  // none.
  V total[rows][vectors], rest[rows][vectors];
  for (size_t r = 0; r < rows; ++r) {
    for (size_t v = 0; v < vectors; ++v)
      total[r][v] = rest[r][v] = hn::Zero(d);
  }
  for (size_t pair = 0; pair < pairs; ++pair) {
    hn::Vec<D16> columns[vectors];
    for (size_t v = 0; v < vectors; ++v) {
      columns[v] = hn::LoadU(d16, panel + 2 * (pair * kPanelColumns + v * lanes));
    }
    for (size_t r = 0; r < rows; ++r) {
      int32_t both;
      hwy::CopyBytes<sizeof(both)>(left + r * left_step + 2 * pair, &both);
      const auto row = hn::BitCast(d16, hn::Set(d, both));
      for (size_t v = 0; v < vectors; ++v) {
#if SARDONYX_HAS_VNNI
        total[r][v] = dot2_accumulate(total[r][v], row, columns[v]);
#else
        total[r][v] = hn::ReorderWidenMulAccumulate(d, row, columns[v], total[r][v], rest[r][v]);
#endif
      }
    }
  }
  for (size_t r = 0; r < rows; ++r) {
    for (size_t v = 0; v < vectors; ++v) {
      hn::StoreU(hn::RearrangeToOddPlusEven(total[r][v], rest[r][v]), d,
                 sums + r * kPanelColumns + v * lanes);
    }
  }
}

void MultiplyPanel(const int16_t* left, size_t left_step, size_t rows, const int16_t* panel,
                   size_t pairs, int32_t* sums) {
  // As many sums as there are registers for, beside the operands.
  constexpr size_t kVectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
  const size_t step = kVectors * hn::Lanes(D32());
  for (size_t column = 0; column < kPanelColumns; column += step) {
    const int16_t* from = panel + 2 * column;
    switch (rows) {
      case 1:
        multiply<1, kVectors>(left, left_step, from, pairs, sums + column);
        break;
      case 2:
        multiply<2, kVectors>(left, left_step, from, pairs, sums + column);
        break;
      case 3:
        multiply<3, kVectors>(left, left_step, from, pairs, sums + column);
        break;
      default:
        multiply<4, kVectors>(left, left_step, from, pairs, sums + column);
        break;
    }
  }
}

#endif

// Beyond every 8-bit result, whatever the zero point.
constexpr float kFar = 1 << 16;

// (sum + bias) * scale, of a vector of sums and of one.
HWY_INLINE hn::Vec<DFloat> scaled_sums(const RowFinish& finish, const int32_t* sums, size_t i) {
  const D32 d;
  const DFloat d_float;
  auto sum = hn::LoadU(d, sums + i);
  if (finish.bias) {
    sum =
        hn::Add(sum, finish.bias_steps ? hn::LoadU(d, finish.bias + i) : hn::Set(d, *finish.bias));
  }
  const auto scale =
      finish.scale_steps ? hn::LoadU(d_float, finish.scale + i) : hn::Set(d_float, *finish.scale);
  return hn::Mul(hn::ConvertTo(d_float, sum), scale);
}
HWY_INLINE float scaled_sum(const RowFinish& finish, const int32_t* sums, size_t i) {
  auto sum = static_cast<uint32_t>(sums[i]);
  if (finish.bias) sum += static_cast<uint32_t>(finish.bias[finish.bias_steps ? i : 0]);
  return static_cast<float>(static_cast<int32_t>(sum)) * finish.scale[finish.scale_steps ? i : 0];
}

template <typename T>
HWY_INLINE void round_row(const RowFinish& finish, const int32_t* sums, size_t count, T* out) {
  const D32 d;
  const DFloat d_float;
  const hn::Rebind<T, D32> narrow;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    const auto real = hn::Min(hn::Max(scaled_sums(finish, sums, i), hn::Set(d_float, -kFar)),
                              hn::Set(d_float, kFar));
    const auto moved = hn::Add(hn::NearestInt(real), hn::Set(d, finish.zero));
    hn::StoreU(hn::DemoteTo(narrow, moved), narrow, out + i);
  }
  using Limits = std::numeric_limits<T>;
  for (; i < count; ++i) {
    const float real = clamped_number(scaled_sum(finish, sums, i), -kFar, kFar);
    const auto moved = static_cast<int32_t>(std::nearbyint(real)) + finish.zero;
    out[i] = static_cast<T>(std::clamp<int32_t>(moved, Limits::min(), Limits::max()));
  }
}

void ScaleSums(const RowFinish& finish, const int32_t* sums, size_t count, float* out) {
  const DFloat d;
  size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    auto real = scaled_sums(finish, sums, i);
    if (finish.addend) real = hn::Add(real, hn::LoadU(d, finish.addend + i));
    hn::StoreU(real, d, out + i);
  }
  for (; i < count; ++i) {
    const float real = scaled_sum(finish, sums, i);
    out[i] = finish.addend ? real + finish.addend[i] : real;
  }
}

void RoundUnsigned(const RowFinish& finish, const int32_t* sums, size_t count, uint8_t* out) {
  round_row(finish, sums, count, out);
}
void RoundSigned(const RowFinish& finish, const int32_t* sums, size_t count, int8_t* out) {
  round_row(finish, sums, count, out);
}

}  // namespace sardonyx::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sardonyx::cpu {

HWY_EXPORT(WidenBytes);
HWY_EXPORT(PackPair);
HWY_EXPORT(MultiplyPanel);
HWY_EXPORT(ScaleSums);
HWY_EXPORT(RoundUnsigned);
HWY_EXPORT(RoundSigned);

void widen_bytes(const uint8_t* bytes, bool is_signed, int32_t zero, size_t count, int16_t* out) {
  HWY_DYNAMIC_DISPATCH(WidenBytes)(bytes, is_signed, zero, count, out);
}

void pack_pair(const uint8_t* first, const uint8_t* second, bool is_signed, const int16_t* zeros,
               size_t count, int16_t* out) {
  HWY_DYNAMIC_DISPATCH(PackPair)(first, second, is_signed, zeros, count, out);
}

void multiply_panel(const int16_t* left, size_t left_step, size_t rows, const int16_t* panel,
                    size_t pairs, int32_t* sums) {
  HWY_DYNAMIC_DISPATCH(MultiplyPanel)(left, left_step, rows, panel, pairs, sums);
}

void finish_row(const RowFinish& finish, const int32_t* sums, size_t count, void* out) {
  switch (finish.type) {
    case SumType::kInt32:
      for (size_t i = 0; i < count; ++i) {
        auto sum = static_cast<uint32_t>(sums[i]);
        if (finish.bias) sum += static_cast<uint32_t>(finish.bias[finish.bias_steps ? i : 0]);
        static_cast<int32_t*>(out)[i] = static_cast<int32_t>(sum);
      }
      return;
    case SumType::kFloat:
      return HWY_DYNAMIC_DISPATCH(ScaleSums)(finish, sums, count, static_cast<float*>(out));
    case SumType::kUInt8:
      return HWY_DYNAMIC_DISPATCH(RoundUnsigned)(finish, sums, count, static_cast<uint8_t*>(out));
    case SumType::kInt8:
      return HWY_DYNAMIC_DISPATCH(RoundSigned)(finish, sums, count, static_cast<int8_t*>(out));
  }
}

}  // namespace sardonyx::cpu
#endif  // HWY_ONCE
