// Softmax of rows of any length, in place and not, and of what no sum survives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "providers/cpu/softmax_rows.h"

namespace sardonyx::cpu {
namespace {

// A row with a few special elements, and its largest.
std::vector<float> drawn_row(std::mt19937& generator, size_t count) {
  std::normal_distribution<float> normal(0, 20);
  std::vector<float> row(count);
  for (float& value : row)
    value = normal(generator);
  row[generator() % count] = -INFINITY;
  row[generator() % count] = 3;
  return row;
}

TEST(SoftmaxRow, AgreesWithTheDefinition) {
  std::mt19937 generator(5);
  for (size_t count = 1; count < 140; ++count) {
    std::vector<float> in = drawn_row(generator, count), out(count + 1, -7.f), logs = out;
    softmax_row(in.data(), out.data(), count);
    log_softmax_row(in.data(), logs.data(), count);
    const double largest = std::ranges::max(in);
    double sum = 0;
    for (const float value : in)
      sum += std::exp(value - largest);
    for (size_t i = 0; i < count; ++i) {
      const double expected = std::exp(in[i] - largest) / sum;
      // The difference is rounded to float before its exponential is taken.
      const double rounding = std::isinf(in[i]) ? 0 : 6e-8 * (largest - in[i]);
      EXPECT_NEAR(out[i], expected, (1e-6 + rounding) * expected + 1e-37) << count << ": " << i;
      const double log = in[i] - largest - std::log(sum);
      if (std::isinf(log))
        EXPECT_EQ(logs[i], -INFINITY);
      else
        EXPECT_NEAR(logs[i], log, 1e-6 - 1.2e-7 * log) << count << ": " << i;
    }
    EXPECT_EQ(out[count], -7.f);
    EXPECT_EQ(logs[count], -7.f);
    out.pop_back();
    logs.pop_back();
    std::vector<float> in_place = in;
    softmax_row(in_place.data(), in_place.data(), count);
    EXPECT_EQ(in_place, out);
    log_softmax_row(in.data(), in.data(), count);
    EXPECT_EQ(in, logs);
  }
}

TEST(SoftmaxRow, NansAndInfinities) {
  for (const auto function : {softmax_row, log_softmax_row}) {
    for (const size_t count : {1, 5, 16, 40}) {
      const auto expect_nans = [&](std::vector<float> row) {
        function(row.data(), row.data(), count);
        for (const float value : row)
          EXPECT_TRUE(std::isnan(value)) << count;
      };
      for (const float special : {NAN, INFINITY}) {
        std::vector<float> row(count, 1.f);
        row[count / 2] = special;
        expect_nans(std::move(row));
      }
      expect_nans(std::vector<float>(count, -INFINITY));
    }
  }
}

}  // namespace
}  // namespace sardonyx::cpu
