// Softmax of rows of any length, in place and not, and of what no sum survives.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "providers/cpu/softmax_rows.h"

namespace sardonyx::cpu {
namespace {

TEST(SoftmaxRow, AgreesWithTheDefinition) {
  std::mt19937 generator(5);
  std::normal_distribution<float> normal(0, 20);
  for (size_t count = 1; count < 140; ++count) {
    std::vector<float> in(count), out(count + 1, -7.f);
    for (float& value : in)
      value = normal(generator);
    in[generator() % count] = -INFINITY;
    in[generator() % count] = 3;
    softmax_row(in.data(), out.data(), count);
    double largest = -INFINITY, sum = 0;
    for (const float value : in)
      largest = std::max<double>(largest, value);
    for (const float value : in)
      sum += std::exp(value - largest);
    for (size_t i = 0; i < count; ++i) {
      const double expected = std::exp(in[i] - largest) / sum;
      // The difference is rounded to float before its exponential is taken.
      const double rounding = std::isinf(in[i]) ? 0 : 6e-8 * (largest - in[i]);
      EXPECT_NEAR(out[i], expected, (1e-6 + rounding) * expected + 1e-37) << count << ": " << i;
    }
    EXPECT_EQ(out[count], -7.f);
    softmax_row(in.data(), in.data(), count);
    out.pop_back();
    EXPECT_EQ(in, out);
  }
}

TEST(SoftmaxRow, NansAndInfinities) {
  for (const size_t count : {1, 5, 16, 40}) {
    for (const float special : {NAN, INFINITY}) {
      std::vector<float> row(count, 1.f);
      row[count / 2] = special;
      softmax_row(row.data(), row.data(), count);
      for (const float value : row)
        EXPECT_TRUE(std::isnan(value)) << count;
    }
    std::vector<float> row(count, -INFINITY);
    softmax_row(row.data(), row.data(), count);
    for (const float value : row)
      EXPECT_TRUE(std::isnan(value)) << count;
  }
}

}  // namespace
}  // namespace sardonyx::cpu
