#include "ir/core/dtype_convert.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace sardonyx {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

float load(DType dtype, uint8_t code) {
  float value = 0;
  load_numbers(dtype, &code, 0, 1, 1, &value);
  return value;
}

uint8_t store(DType dtype, float value, const ConvertOptions& options = {}) {
  uint8_t code = 0;
  store_numbers(dtype, &code, 0, 1, &value, options);
  return code;
}

struct Format {
  DType dtype;
  int bits, exponent_bits, bias;
  int finite_codes;  // non-negative codes 0 ... finite_codes - 1 are finite
};
const Format kFormats[] = {
    {DType::kFloat8E4M3FN, 8, 4, 7, 0x7f}, {DType::kFloat8E4M3FNUZ, 8, 4, 8, 0x80},
    {DType::kFloat8E5M2, 8, 5, 15, 0x7c},  {DType::kFloat8E5M2FNUZ, 8, 5, 16, 0x80},
    {DType::kFloat4E2M1, 4, 2, 1, 8},
};

// The value of a non-negative code, by the definition of the format.
double by_definition(const Format& format, int code) {
  const int mantissa_bits = format.bits - 1 - format.exponent_bits;
  const int exponent = code >> mantissa_bits;
  const double fraction = std::ldexp(code & ((1 << mantissa_bits) - 1), -mantissa_bits);
  return exponent == 0 ? std::ldexp(fraction, 1 - format.bias)
                       : std::ldexp(1 + fraction, exponent - format.bias);
}

TEST(Convert, small_floats_have_the_values_of_their_definitions) {
  for (const Format& format : kFormats) {
    SCOPED_TRACE(name_of(format.dtype));
    const int sign = 1 << (format.bits - 1);
    for (int code = 0; code < format.finite_codes; ++code) {
      const double value = by_definition(format, code);
      EXPECT_EQ(load(format.dtype, static_cast<uint8_t>(code)), value);
      if (code == 0) continue;
      EXPECT_EQ(load(format.dtype, static_cast<uint8_t>(code | sign)), -value);
    }
  }
}

// Every code, the points half-way between neighbours (to even) and the floats beside those.
TEST(Convert, small_floats_round_to_nearest_even) {
  for (const Format& format : kFormats) {
    SCOPED_TRACE(name_of(format.dtype));
    for (int code = 0; code + 1 < format.finite_codes; ++code) {
      const auto low = static_cast<float>(by_definition(format, code));
      const auto high = static_cast<float>(by_definition(format, code + 1));
      const float middle = (low + high) / 2;
      EXPECT_EQ(store(format.dtype, low), code);
      EXPECT_EQ(store(format.dtype, middle), code % 2 == 0 ? code : code + 1);
      EXPECT_EQ(store(format.dtype, std::nextafter(middle, 0.0f)), code);
      EXPECT_EQ(store(format.dtype, std::nextafter(middle, kInf)), code + 1);
    }
  }
}

TEST(Convert, overflow_of_small_floats_follows_the_cast_tables) {
  const ConvertOptions open{Overflow::kToInfinity};
  const struct {
    DType dtype;
    float value;
    uint8_t saturated, open;
  } cases[] = {
      {DType::kFloat8E4M3FN, kInf, 0x7e, 0x7f},   {DType::kFloat8E4M3FN, -1000, 0xfe, 0xff},
      {DType::kFloat8E4M3FN, kNaN, 0x7f, 0x7f},   {DType::kFloat8E4M3FN, -0.0f, 0x80, 0x80},
      {DType::kFloat8E4M3FNUZ, kInf, 0x7f, 0x80}, {DType::kFloat8E4M3FNUZ, -1000, 0xff, 0x80},
      {DType::kFloat8E4M3FNUZ, kNaN, 0x80, 0x80}, {DType::kFloat8E4M3FNUZ, -0.0f, 0x00, 0x00},
      {DType::kFloat8E5M2, kInf, 0x7b, 0x7c},     {DType::kFloat8E5M2, -1e9f, 0xfb, 0xfc},
      {DType::kFloat8E5M2FNUZ, kInf, 0x7f, 0x80}, {DType::kFloat8E5M2FNUZ, -1e9f, 0xff, 0x80},
      {DType::kFloat4E2M1, kInf, 0x7, 0x7},       {DType::kFloat4E2M1, -100, 0xf, 0xf},
      {DType::kFloat4E2M1, kNaN, 0x8, 0x8},       {DType::kFloat8E8M0, kInf, 0xfe, 0xff},
      {DType::kFloat8E8M0, kNaN, 0xff, 0xff},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(text(c.dtype, " ", c.value));
    EXPECT_EQ(store(c.dtype, c.value), c.saturated);
    EXPECT_EQ(store(c.dtype, c.value, open), c.open);
  }
}

TEST(Convert, powers_of_two_round_as_asked) {
  const struct {
    float value;
    int up, down, nearest;
  } cases[] = {{1, 127, 127, 127},     {1.25f, 128, 127, 127}, {1.5f, 128, 127, 128},
               {1.75f, 128, 127, 128}, {0.6f, 127, 126, 126},  {3e38f, 254, 254, 254}};
  for (const auto& c : cases) {
    ConvertOptions options;
    EXPECT_EQ(store(DType::kFloat8E8M0, c.value, options), c.up) << c.value;
    options.e8m0_rounding = ScaleRounding::kDown;
    EXPECT_EQ(store(DType::kFloat8E8M0, c.value, options), c.down) << c.value;
    options.e8m0_rounding = ScaleRounding::kNearest;
    EXPECT_EQ(store(DType::kFloat8E8M0, c.value, options), c.nearest) << c.value;
  }
}

// As ONNX Runtime's Cast gives them: the sign, and the first bits of the payload.
TEST(Convert, halves_that_are_no_numbers_keep_what_they_can_hold) {
  const std::pair<uint32_t, uint16_t> cases[] = {{0x7fc00000, 0x7e00}, {0xffc00000, 0xfe00},
                                                 {0x7f800001, 0x7e00}, {0xff800001, 0xfe00},
                                                 {0x7fffffff, 0x7fff}, {0x7fa12345, 0x7f09}};
  for (const auto& [from, expected] : cases) {
    uint16_t bits = 0;
    convert_numbers(DType::kFloat, &from, DType::kFloat16, &bits, 1);
    EXPECT_EQ(bits, expected) << std::hex << from;
    const double same = std::bit_cast<float>(from);
    store_numbers(DType::kFloat16, &bits, 0, 1, &same);
    EXPECT_EQ(bits, expected) << std::hex << from;
  }
}

// Just above half-way between neighbours of the narrow type, by less than a float shows.
TEST(Convert, double_and_int64_are_rounded_once) {
  const double for_bfloat16 = 1 + 0x1p-8 + 0x1p-40, for_half = 1 + 0x1p-11 + 0x1p-40;
  uint16_t bits = 0;
  store_numbers(DType::kBFloat16, &bits, 0, 1, &for_bfloat16);
  EXPECT_EQ(static_cast<float>(BFloat16::from_bits(bits)), 1 + 0x1p-7f);
  store_numbers(DType::kFloat16, &bits, 0, 1, &for_half);
  EXPECT_EQ(static_cast<float>(Float16::from_bits(bits)), 1 + 0x1p-10f);
  const int64_t large = (int64_t{1} << 40) + (int64_t{1} << 32) + 1;
  store_numbers(DType::kBFloat16, &bits, 0, 1, &large);
  EXPECT_EQ(static_cast<float>(BFloat16::from_bits(bits)), 0x1p40f + 0x1p33f);
}

// Every finite half, the points half-way between neighbours (to even) and the doubles beside those.
TEST(Convert, doubles_round_to_the_nearest_half) {
  const auto half_of = [](double value) {
    uint16_t bits = 0;
    store_numbers(DType::kFloat16, &bits, 0, 1, &value);
    return bits;
  };
  const auto value_of = [](uint16_t bits) {
    double value = 0;
    load_numbers(DType::kFloat16, &bits, 0, 1, 1, &value);
    return value;
  };
  constexpr uint16_t kInfinite = 0x7c00, kNegative = 0x8000;
  for (uint16_t code = 0; code < kInfinite; ++code) {
    const auto next = static_cast<uint16_t>(code + 1);
    const double value = value_of(code), above = next == kInfinite ? 0x1p16 : value_of(next);
    const double middle = (value + above) / 2;
    ASSERT_EQ(half_of(value), code);
    ASSERT_EQ(half_of(-value), code | kNegative);
    ASSERT_EQ(half_of(middle), code % 2 == 0 ? code : next);
    ASSERT_EQ(half_of(std::nextafter(middle, 0)), code);
    ASSERT_EQ(half_of(std::nextafter(middle, kInf)), next);
  }
}

TEST(Convert, integers_wrap_and_floats_truncate) {
  const struct {
    double value;
    int64_t as_int8, as_uint8, as_int32, as_uint32, as_int64;
  } cases[] = {
      {-1.9, -1, 255, -1, 4294967295, -1},
      {200.7, -56, 200, 200, 200, 200},
      {3e9, 0, 0, std::numeric_limits<int32_t>::min(), 3000000000, 3000000000},
      {1e30, 0, 0, std::numeric_limits<int32_t>::min(), 0, std::numeric_limits<int64_t>::min()},
      {std::nan(""), 0, 0, std::numeric_limits<int32_t>::min(), 0,
       std::numeric_limits<int64_t>::min()},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.value);
    EXPECT_EQ(integer_from<int8_t>(c.value), c.as_int8);
    EXPECT_EQ(integer_from<uint8_t>(c.value), c.as_uint8);
    EXPECT_EQ(integer_from<int32_t>(c.value), c.as_int32);
    EXPECT_EQ(integer_from<uint32_t>(c.value), c.as_uint32);
    EXPECT_EQ(integer_from<int64_t>(c.value), c.as_int64);
  }
  EXPECT_EQ(integer_from<uint64_t>(0x1p63), uint64_t{1} << 63);
  EXPECT_EQ(integer_from<uint64_t>(-1.0), ~uint64_t{0});
}

TEST(Convert, packed_integers_keep_their_low_bits) {
  const struct {
    DType dtype;
    int64_t value;
    int stored;
  } cases[] = {{DType::kInt4, 7, 7},   {DType::kInt4, 8, -8}, {DType::kInt4, -9, 7},
               {DType::kUInt4, 17, 1}, {DType::kInt2, 2, -2}, {DType::kInt2, 1, 1},
               {DType::kUInt2, 7, 3},  {DType::kUInt2, -1, 3}};
  for (const auto& c : cases) {
    int8_t stored = 0;
    store_numbers(c.dtype, &stored, 0, 1, &c.value);
    EXPECT_EQ(stored, c.stored) << c.dtype << " " << c.value;
  }
}

}  // namespace
}  // namespace sardonyx
