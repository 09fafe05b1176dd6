// Rows of 8-bit integers: every length around whole vectors and blocks, ties, saturation, NaN and
// infinities, against their definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "ir/core/dtype_convert.h"
#include "providers/cpu/pooling/avg_pool_u8_kernel.h"
#include "providers/cpu/quantization/lut_u8.h"
#include "providers/cpu/quantization/qlinear_elementwise_kernel.h"
#include "providers/cpu/quantization/quantize_linear_kernel.h"

namespace sardonyx::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
const size_t kCounts[] = {0, 1, 3, 15, 16, 17, 49, 63, 64, 65, 127, 130, 700};

template <typename T>
std::vector<T> random_bytes(size_t count, uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<T> bytes(count);
  for (T& byte : bytes)
    byte = static_cast<T>(generator());
  return bytes;
}

template <typename T>
T code_of(float quotient, int32_t zero) {
  using Limits = std::numeric_limits<T>;
  const float steps = std::nearbyint(clamped_number(quotient, -1000.0f, 1000.0f));
  return static_cast<T>(
      std::clamp<int32_t>(static_cast<int32_t>(steps) + zero, Limits::min(), Limits::max()));
}

template <typename T>
struct ByteRows : testing::Test {};
using ByteTypes = testing::Types<uint8_t, int8_t>;
TYPED_TEST_SUITE(ByteRows, ByteTypes);

// Numbers within a byte's range, at ties of `scale` and beside them, and those that are none.
std::vector<float> numbers_for(float scale, size_t count) {
  std::mt19937 generator(3);
  std::uniform_real_distribution<float> steps(-300, 300);
  const float special[] = {0, -0.0f, kNaN, kInfinity, -kInfinity, 3e38f, -3e38f, 1e-40f};
  std::vector<float> numbers(count);
  for (size_t i = 0; i < count; ++i) {
    const float step = steps(generator);
    const float tie = (std::floor(step) + 0.5f) * scale;
    numbers[i] = i % 7 == 3   ? special[i / 7 % 8]
                 : i % 3 == 0 ? tie
                 : i % 3 == 1 ? std::nextafter(tie, i % 2 == 0 ? kInfinity : -kInfinity)
                              : step * scale;
  }
  return numbers;
}

TYPED_TEST(ByteRows, quantize_as_divisions_do) {
  const float scales[] = {0.0231f, 1,      0.5f, -0.1f,     3e-39f, 1e-36f,
                          3e36f,   1e-45f, 0,    kInfinity, kNaN,   1 / 3.0f};
  for (const float scale : scales) {
    for (const int32_t zero : {0, 3, int32_t{std::numeric_limits<TypeParam>::max()},
                               int32_t{std::numeric_limits<TypeParam>::min()}}) {
      for (const size_t count : kCounts) {
        const std::vector<float> in = numbers_for(scale, count);
        std::vector<TypeParam> got(count + 1, 7), expected(count + 1, 7);
        quantize_row(in.data(), scale, zero, got.data(), count);
        for (size_t i = 0; i < count; ++i)
          expected[i] = code_of<TypeParam>(in[i] / scale, zero);
        EXPECT_EQ(got, expected) << "scale " << scale << ", zero " << zero << ", " << count;
      }
    }
  }
}

template <typename T>
struct Operands {
  QLinearScales scales;
  std::vector<T> a, b;
  bool a_steps, b_steps;

  template <typename Join>
  std::vector<T> joined(size_t count, const Join& join) const {
    std::vector<T> codes(count);
    for (size_t i = 0; i < count; ++i) {
      const auto x = static_cast<float>(a[a_steps ? i : 0] - scales.a.zero) * scales.a.scale;
      const auto y = static_cast<float>(b[b_steps ? i : 0] - scales.b.zero) * scales.b.scale;
      // Of products, the rounding before a sum is what matters; a volatile keeps it.
      const volatile float first = x, second = y;
      codes[i] = code_of<T>(join(first, second) / scales.out.scale, scales.out.zero);
    }
    return codes;
  }
};

TYPED_TEST(ByteRows, joined_as_step_by_step_also_in_place) {
  struct Case {
    float a, b, out;
  };
  const Case cases[] = {{0.0213f, 0.0177f, 0.031f}, {0.5f, 0.5f, 1},       {0.02f, 0.02f, 0.02f},
                        {0.1f, 0.003f, 0.0007f},    {40, 30, 0.01f},       {1e30f, 1e30f, 1e-5f},
                        {1e-20f, 1e-25f, 1e-20f},   {0.11f, -0.07f, 0.2f}, {1, 1, 1e-38f}};
  constexpr int32_t kLow = std::numeric_limits<TypeParam>::min();
  for (const Case& c : cases) {
    for (const size_t count : kCounts) {
      for (const int single : {0, 1, 2}) {
        Operands<TypeParam> operands{{{c.a, 5}, {c.b, kLow}, {c.out, 77}},
                                     random_bytes<TypeParam>(count + 1, 1),
                                     random_bytes<TypeParam>(count + 1, 2),
                                     single != 1,
                                     single != 2};
        const auto sums = operands.joined(count, [](float x, float y) { return x + y; });
        const auto products = operands.joined(count, [](float x, float y) { return x * y; });
        auto out = operands.a_steps ? operands.a : operands.b;
        const TypeParam* a = operands.a_steps ? out.data() : operands.a.data();
        const TypeParam* b = operands.a_steps ? operands.b.data() : out.data();
        const TypeParam behind = out[count];
        qadd_row(operands.scales, a, operands.a_steps, b, operands.b_steps, out.data(), count);
        EXPECT_EQ(out[count], behind);
        out.resize(count);
        EXPECT_EQ(out, sums) << c.a << " + " << c.b << " to " << c.out << ", " << count;
        qdq_mul_row(operands.scales, operands.a.data(), operands.a_steps, operands.b.data(),
                    operands.b_steps, out.data(), count);
        EXPECT_EQ(out, products) << c.a << " * " << c.b << " to " << c.out << ", " << count;
      }
    }
  }
}

TYPED_TEST(ByteRows, products_rounded_once_also_in_place) {
  constexpr int32_t kLow = std::numeric_limits<TypeParam>::min();
  constexpr int32_t kHigh = std::numeric_limits<TypeParam>::max();
  for (const float out_scale : {0.031f, 0.5f, 1e-38f, 1e30f}) {
    const QLinearScales scales{{0.0213f, 5}, {0.5f, kLow}, {out_scale, 77}};
    const float factor = 0.0213f * 0.5f / out_scale;
    for (const size_t count : kCounts) {
      const auto a = random_bytes<TypeParam>(count, 1), b = random_bytes<TypeParam>(count, 2);
      std::vector<TypeParam> expected(count);
      for (size_t i = 0; i < count; ++i) {
        const auto product = static_cast<float>((a[i] - 5) * (b[i] - kLow));
        const float sum = std::nearbyint(product * factor + 77);
        expected[i] = static_cast<TypeParam>(
            std::clamp(sum, static_cast<float>(kLow), static_cast<float>(kHigh)));
      }
      auto out = a;
      qmul_row(scales, out.data(), true, b.data(), true, out.data(), count);
      EXPECT_EQ(out, expected) << out_scale << ", " << count;
    }
  }
}

TYPED_TEST(ByteRows, sums_and_windows) {
  for (const size_t count : kCounts) {
    const auto in = random_bytes<TypeParam>(count, 4);
    EXPECT_EQ(sum_of_bytes(in.data(), count), std::accumulate(in.begin(), in.end(), 0)) << count;
    std::vector<int32_t> sums(count + 1), expected(count + 1);
    std::iota(sums.begin(), sums.end(), -1000);
    std::iota(expected.begin(), expected.end(), -1000);
    for (size_t i = 0; i < count; ++i)
      expected[i] += in[i];
    add_bytes_to_sums(in.data(), sums.data(), count);
    EXPECT_EQ(sums, expected);
    for (const size_t kernel : {1, 2, 5}) {
      for (const size_t stride : {1, 2, 3}) {
        if (count < kernel) continue;
        const size_t outputs = (count - kernel) / stride + 1;
        std::vector<int32_t> windows((outputs - 1) * stride + 1), wanted(outputs);
        sum_windows(expected.data(), kernel, stride, outputs, windows.data());
        for (size_t k = 0; k < outputs; ++k)
          wanted[k] = std::accumulate(&expected[k * stride], &expected[k * stride] + kernel, 0);
        windows.resize(outputs);
        EXPECT_EQ(windows, wanted) << count << ", " << kernel << " by " << stride;
      }
    }
  }
}

TYPED_TEST(ByteRows, means_are_rounded_step_by_step) {
  const MeanScale scales[] = {{0, 0.25, 1, 3},        {1000, 0.0021 / 9, 0.002f, 120},
                              {-4000, 0.1, 0.5f, -7}, {0, 1e-300, 1e-30f, 0},
                              {0, 1e300, 1e30f, 0},   {7, 0.02 / 49, 0.011f, 0},
                              {0, 0.5, 0, 1},         {0, 0.5, kInfinity, 1}};
  for (const MeanScale& to : scales) {
    for (const size_t count : kCounts) {
      std::mt19937 generator(9);
      std::vector<int32_t> sums((count + kMeansAtOnce - 1) / kMeansAtOnce * kMeansAtOnce);
      for (int32_t& sum : sums)
        sum = static_cast<int32_t>(generator() % 20000) - 10000;
      std::vector<TypeParam> got(count + 1, 7), expected(count + 1, 7);
      quantize_means(sums.data(), to, got.data(), count);
      for (size_t i = 0; i < count; ++i) {
        const auto mean = static_cast<float>(static_cast<double>(sums[i] - to.zeros) * to.factor);
        expected[i] = code_of<TypeParam>(mean / to.scale, to.zero);
      }
      EXPECT_EQ(got, expected) << to.factor << " to " << to.scale << ", " << count;
    }
  }
}

TEST(ByteTable, looks_up_every_byte_also_in_place) {
  const auto table = random_bytes<uint8_t>(256, 5);
  for (size_t count : kCounts) {
    for (size_t begin : {0, 5}) {
      auto bytes = random_bytes<uint8_t>(begin + count + 1, 6);
      auto expected = bytes;
      for (size_t i = begin; i < begin + count; ++i)
        expected[i] = table[expected[i]];
      byte_table_row(table.data(), bytes.data() + begin, bytes.data() + begin, count);
      EXPECT_EQ(bytes, expected) << count;
    }
  }
}

TEST(ByteRange, holds_all_numbers_but_nan) {
  for (const size_t count : kCounts) {
    std::vector<float> in = numbers_for(0.02f, count);
    std::erase_if(in, [](float x) { return std::isinf(x); });
    float low = 0, high = 0, expected_low = 0, expected_high = 0;
    widen_range(in.data(), in.size(), low, high);
    for (const float x : in) {
      expected_low = x < expected_low ? x : expected_low;
      expected_high = x > expected_high ? x : expected_high;
    }
    EXPECT_EQ(low, expected_low) << count;
    EXPECT_EQ(high, expected_high) << count;
  }
}

}  // namespace
}  // namespace sardonyx::cpu
