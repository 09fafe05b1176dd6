#include "ir/core/small_float.h"

#include <cmath>
#include <limits>

namespace sardonyx {
namespace {

// Rounds a finite positive value to a multiple of 2^exponent, ties to even, exactly: double holds
// every step.
double round_to_step(double value, int exponent) {
  return std::ldexp(std::nearbyint(std::ldexp(value, -exponent)), exponent);
}

// The largest finite value of a format.
double largest_of(const SmallFormat& f) {
  const int top_exponent = (1 << f.exponent_bits) - 1 - f.bias - (f.has_infinity ? 1 : 0);
  int mantissa = (1 << f.mantissa_bits) - 1;
  // E4M3FN spends its last code on NaN; E2M1 and the FNUZ kinds use every code.
  if (!f.has_infinity && f.has_nan && !f.unsigned_zero) mantissa -= 1;
  return std::ldexp(1.0 + std::ldexp(mantissa, -f.mantissa_bits), top_exponent);
}

uint8_t nan_of(const SmallFormat& f, bool negative) {
  if (f.unsigned_zero) return 0x80;
  const auto sign = static_cast<uint8_t>(negative ? 0x80 : 0);
  // E2M1 has no NaN: the code for -0 stands in, as in the reference conversions of ONNX.
  return f.has_nan ? static_cast<uint8_t>(sign | 0x7f) : uint8_t{0x8};
}

uint8_t encode(const SmallFormat& f, double magnitude, bool negative) {
  const int sign_shift = f.exponent_bits + f.mantissa_bits;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int lowest = 1 - f.bias;  // exponent of the smallest normal number
  exponent = std::max(exponent - 1, lowest);
  const auto mantissa = static_cast<int>(std::ldexp(magnitude, f.mantissa_bits - exponent));
  const int hidden = 1 << f.mantissa_bits;
  const int code =
      mantissa < hidden ? mantissa : ((exponent + f.bias) << f.mantissa_bits) + mantissa - hidden;
  if (code == 0 && f.unsigned_zero) return 0;
  return static_cast<uint8_t>(code | (negative ? 1 << sign_shift : 0));
}

}  // namespace

float half_to_float(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const uint32_t exponent = bits >> 10 & 0x1f;
  const uint32_t mantissa = bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | mantissa << 13);
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

uint16_t double_to_half(double value) {
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) {
    const uint64_t payload = std::bit_cast<uint64_t>(value) >> 42 & 0x3ff;
    return static_cast<uint16_t>(sign | 0x7e00 | payload);
  }
  const double magnitude = std::fabs(value);
  if (magnitude >= 65520.0)
    return sign | 0x7c00;  // half-way above the largest finite number, 65504
  // Below the smallest normal number, 2^-14, steps are of 2^-24: those of a double at 2^28.
  if (magnitude < 0x1p-14) {
    const double rounded = (magnitude + 0x1p28) - 0x1p28;
    return static_cast<uint16_t>(sign | static_cast<int>(rounded * 0x1p24));
  }
  constexpr int kDropped = 42;  // bits of the mantissa
  const auto raw = std::bit_cast<uint64_t>(magnitude);
  const uint64_t half = (uint64_t{1} << (kDropped - 1)) - 1 + (raw >> kDropped & 1);
  // A carry out of the mantissa lands in the exponent by itself.
  const uint64_t code = ((raw + half) >> kDropped) - (uint64_t{1023 - 15} << 10);
  return static_cast<uint16_t>(sign | code);
}

uint16_t float_to_half(float value) {
  const auto raw = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(raw >> 16 & 0x8000);
  const uint32_t magnitude = raw & 0x7fffffffu;
  // A quiet NaN, with the first bits of the payload, as F16C has it.
  if (magnitude > 0x7f800000u)
    return static_cast<uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  if (magnitude >= 0x477ff000u) return sign | 0x7c00;
  if (magnitude < 0x38800000u) return double_to_half(static_cast<double>(value));  // subnormal
  const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000u) >> 13));
}

float small_to_float(const SmallFormat& f, uint8_t bits) {
  const int sign_shift = f.exponent_bits + f.mantissa_bits;
  const bool negative = bits >> sign_shift & 1;
  if (f.unsigned_zero && bits == 0x80) return std::numeric_limits<float>::quiet_NaN();
  const int code = bits & ((1 << sign_shift) - 1);
  const int exponent = code >> f.mantissa_bits;
  const int mantissa = code & ((1 << f.mantissa_bits) - 1);
  const int top = (1 << f.exponent_bits) - 1;
  float magnitude = 0;
  if (f.has_infinity && exponent == top) {
    magnitude = mantissa == 0 ? std::numeric_limits<float>::infinity()
                              : std::numeric_limits<float>::quiet_NaN();
  } else if (!f.has_infinity && f.has_nan && !f.unsigned_zero && code == (1 << sign_shift) - 1) {
    magnitude = std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissa_bits);
  } else {
    magnitude = std::ldexp(static_cast<float>(mantissa + (1 << f.mantissa_bits)),
                           exponent - f.bias - f.mantissa_bits);
  }
  return negative ? -magnitude : magnitude;
}

uint8_t float_to_small(const SmallFormat& f, float value, Overflow overflow) {
  const bool negative = std::signbit(value);
  if (std::isnan(value)) return nan_of(f, negative);
  const double largest = largest_of(f);
  const double magnitude = std::fabs(static_cast<double>(value));
  double rounded = magnitude;
  if (std::isfinite(magnitude)) {
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    exponent = std::max(exponent - 1, 1 - f.bias);
    rounded = round_to_step(magnitude, exponent - f.mantissa_bits);
  }
  if (rounded > largest) {
    if (overflow == Overflow::kSaturate || !f.has_nan) return encode(f, largest, negative);
    if (f.has_infinity) {
      return static_cast<uint8_t>((negative ? 0x80 : 0) | ((1 << f.exponent_bits) - 1)
                                                              << f.mantissa_bits);
    }
    return nan_of(f, negative);
  }
  return encode(f, rounded, negative);
}

uint8_t float_to_e8m0(float value, ScaleRounding rounding, Overflow overflow) {
  if (std::isnan(value)) return 0xff;
  const double magnitude = std::fabs(static_cast<double>(value));
  if (std::isinf(magnitude)) return overflow == Overflow::kSaturate ? 0xfe : 0xff;
  if (magnitude == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent) * 2;  // [1, 2)
  exponent -= 1;
  const bool up = rounding == ScaleRounding::kUp
                      ? fraction > 1
                      : rounding == ScaleRounding::kNearest && fraction >= 1.5;
  exponent += up ? 1 : 0;
  if (exponent < -127) return 0;
  if (exponent > 127) return overflow == Overflow::kSaturate ? 0xfe : 0xff;
  return static_cast<uint8_t>(exponent + 127);
}

Float8E8M0::operator float() const {
  if (bits == 0xff) return std::numeric_limits<float>::quiet_NaN();
  return std::ldexp(1.0f, bits - 127);
}

}  // namespace sardonyx
