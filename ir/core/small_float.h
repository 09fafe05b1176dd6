// Floating types narrower than float: storage types that convert to float and back, rounding to
// nearest even. Formats: IEEE 754 binary16; bfloat16; FP8 of arXiv:2209.05433 (E4M3FN, E5M2) and
// arXiv:2206.02915 (the FNUZ kinds); OCP Microscaling formats 1.0 (E8M0, E2M1).
#pragma once

#include <bit>
#include <cstdint>

namespace sardonyx {

// Exact.
float half_to_float(uint16_t bits);
// Rounded to nearest even; too large: infinity.
uint16_t float_to_half(float value);
uint16_t double_to_half(double value);  // rounds once

// IEEE 754 binary16: 5 bits of exponent, 10 of mantissa.
struct Float16 {
  uint16_t bits = 0;
  Float16() = default;
  Float16(float value) : bits(float_to_half(value)) {}
  operator float() const { return half_to_float(bits); }
  static Float16 from_bits(uint16_t bits) {
    Float16 x;
    x.bits = bits;
    return x;
  }
};

// The upper half of a float: 8 bits of exponent, 7 of mantissa.
struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  BFloat16(float value) {
    const auto raw = std::bit_cast<uint32_t>(value);
    if ((raw & 0x7fffffffu) > 0x7f800000u) {
      bits = static_cast<uint16_t>(raw >> 16 | 0x40);  // keep a NaN a NaN
    } else {
      bits = static_cast<uint16_t>((raw + 0x7fffu + (raw >> 16 & 1)) >> 16);
    }
  }
  operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
  static BFloat16 from_bits(uint16_t bits) {
    BFloat16 x;
    x.bits = bits;
    return x;
  }
};

// The conversion of a value too large for an 8-bit float, infinities included: the largest finite
// value (`saturate`, ONNX Cast's default) or infinity, NaN where the format has no infinity.
enum class Overflow { kSaturate, kToInfinity };

// How a small format spends its bits.
struct SmallFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;   // the highest exponent means infinity and NaN
  bool unsigned_zero;  // FNUZ: no negative zero; 0x80 is the only NaN
  bool has_nan;
};
// Exponent bits, mantissa bits, bias, infinity, unsigned zero, NaN.
inline constexpr SmallFormat kE4M3FN{4, 3, 7, false, false, true};
inline constexpr SmallFormat kE4M3FNUZ{4, 3, 8, false, true, true};
inline constexpr SmallFormat kE5M2{5, 2, 15, true, false, true};
inline constexpr SmallFormat kE5M2FNUZ{5, 2, 16, false, true, true};
inline constexpr SmallFormat kE2M1{2, 1, 1, false, false, false};

// Exact.
float small_to_float(const SmallFormat& format, uint8_t bits);
// Rounded to nearest even; `overflow` says what becomes of larger values.
uint8_t float_to_small(const SmallFormat& format, float value, Overflow overflow);

// One element of such a format, converted to float for computing.
template <const SmallFormat& format>
struct SmallFloat {
  uint8_t bits = 0;
  SmallFloat() = default;
  SmallFloat(float value, Overflow overflow = Overflow::kSaturate)
      : bits(float_to_small(format, value, overflow)) {}
  operator float() const { return small_to_float(format, bits); }
  static SmallFloat from_bits(uint8_t bits) {
    SmallFloat x;
    x.bits = bits;
    return x;
  }
};
// ONNX's float8 types, as OCP and Graphcore define them.
using Float8E4M3FN = SmallFloat<kE4M3FN>;
using Float8E4M3FNUZ = SmallFloat<kE4M3FNUZ>;
using Float8E5M2 = SmallFloat<kE5M2>;
using Float8E5M2FNUZ = SmallFloat<kE5M2FNUZ>;
using Float4E2M1 = SmallFloat<kE2M1>;  // unpacked; in a tensor's buffer two share a byte

// A power of two: 2^(bits - 127); 255 is NaN. There is neither sign nor zero.
enum class ScaleRounding { kUp, kDown, kNearest };
uint8_t float_to_e8m0(float value, ScaleRounding rounding, Overflow overflow);

// The scale of a block in microscaling formats.
struct Float8E8M0 {
  uint8_t bits = 0;
  Float8E8M0() = default;
  Float8E8M0(float value) : bits(float_to_e8m0(value, ScaleRounding::kUp, Overflow::kSaturate)) {}
  operator float() const;
  static Float8E8M0 from_bits(uint8_t bits) {
    Float8E8M0 x;
    x.bits = bits;
    return x;
  }
};

}  // namespace sardonyx
