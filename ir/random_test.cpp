#include "ir/random.h"

#include <gtest/gtest.h>

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
