#include "ir/core/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace sardonyx {
namespace {

// In one go or one by one, wherever they begin and end.
TEST(RandomStream, ManyAreTheSameAsSingleOnes) {
  const RandomStream stream(7);
  std::vector<double> many(60);
  for (const size_t first : {0, 1, 6, 15}) {
    for (const size_t count : {0, 1, 2, 7, 16, 45}) {
      stream.normals(first, count, many.data());
      for (size_t i = 0; i < count; ++i)
        EXPECT_EQ(many[i], stream.normal(first + i)) << first << "+" << i;
      stream.uniforms(first, count, many.data());
      for (size_t i = 0; i < count; ++i)
        EXPECT_EQ(many[i], stream.uniform(first + i)) << first << "+" << i;
    }
  }
}

// Box-Muller on the words of a block, by the functions of the standard library.
TEST(RandomStream, NormalsAreThoseOfTheirBlocks) {
  for (const uint64_t key : {uint64_t{7}, uint64_t{0xFEDCBA9876543210}}) {
    const RandomStream stream(key);
    for (uint64_t block = 0; block < 5000; ++block) {
      const auto words = stream.block(block);
      const uint64_t a = uint64_t{words[0]} << 32 | words[1];
      const uint64_t b = uint64_t{words[2]} << 32 | words[3];
      const double radius = std::sqrt(-2 * std::log((static_cast<double>(a >> 11) + 1) * 0x1p-53));
      const double angle = 2 * std::numbers::pi * (static_cast<double>(b >> 11) * 0x1p-53);
      EXPECT_NEAR(stream.normal(2 * block), radius * std::cos(angle), 4e-15 * radius) << block;
      EXPECT_NEAR(stream.normal(2 * block + 1), radius * std::sin(angle), 4e-15 * radius) << block;
      EXPECT_EQ(stream.uniform(block), static_cast<double>(a >> 11) * 0x1p-53) << block;
    }
  }
}

TEST(RandomStream, NormalsHaveMeanZeroAndDeviationOne) {
  constexpr size_t kCount = 200000;
  std::vector<double> values(kCount);
  RandomStream(11).normals(0, kCount, values.data());
  double sum = 0, squares = 0, neighbours = 0;
  for (size_t i = 0; i < kCount; ++i) {
    sum += values[i];
    squares += values[i] * values[i];
    if (i % 2 == 1) neighbours += values[i] * values[i - 1];
  }
  EXPECT_NEAR(sum / kCount, 0, 0.01);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
  EXPECT_NEAR(neighbours / (kCount / 2), 0, 0.02);
}

}  // namespace
}  // namespace sardonyx
