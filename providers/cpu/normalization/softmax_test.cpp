// Softmax of rows of any length, in place and not, and of what no sum survives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "providers/cpu/normalization/softmax_kernel.h"

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

TEST(SoftmaxRow, LogSumExpOfInfinitiesAndNans) {
  for (const size_t count : {size_t{1}, size_t{3}, size_t{16}, size_t{37}}) {
    std::vector<float> row(count, -INFINITY);
    EXPECT_EQ(log_sum_exp_row(row.data(), count), -INFINITY);
    row[count / 2] = INFINITY;
    EXPECT_EQ(log_sum_exp_row(row.data(), count), INFINITY);
    row[count - 1] = NAN;
    EXPECT_TRUE(std::isnan(log_sum_exp_row(row.data(), count)));
    row.assign(count, 1);
    row[count / 2] = NAN;
    EXPECT_TRUE(std::isnan(log_sum_exp_row(row.data(), count)));
  }
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
    EXPECT_NEAR(log_sum_exp_row(in.data(), count), largest + std::log(sum), 1e-5) << count;
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

// Rows of one call are what each is alone, up to the order of its sum, and to the bit the same
// among others.
TEST(SoftmaxShortRows, AgreeWithSingleRows) {
  std::mt19937 generator(6);
  using Rows = void(const float*, float*, size_t, size_t);
  const std::pair<Rows*, decltype(&softmax_row)> ways[] = {
      {softmax_short_rows, softmax_row}, {log_softmax_short_rows, log_softmax_row}};
  for (size_t length = 1; length <= kLongestShortRow; ++length) {
    for (const size_t rows : {1, 3, 15, 16, 17, 50}) {
      std::vector<float> in;
      for (size_t row = 0; row < rows; ++row) {
        const std::vector<float> drawn = drawn_row(generator, length);
        in.insert(in.end(), drawn.begin(), drawn.end());
      }
      in[generator() % in.size()] = NAN;
      for (const auto& [batched, alone] : ways) {
        std::vector<float> out(in.size() + 1, -7.f), one(length), in_place = in;
        batched(in.data(), out.data(), rows, length);
        batched(in_place.data(), in_place.data(), rows, length);
        EXPECT_EQ(out.back(), -7.f);
        EXPECT_EQ(std::memcmp(in_place.data(), out.data(), in.size() * sizeof(float)), 0);
        for (size_t row = 0; row < rows; ++row) {
          const float* made = out.data() + row * length;
          alone(in.data() + row * length, one.data(), length);
          for (size_t i = 0; i < length; ++i) {
            if (std::isnan(one[i]) || std::isinf(one[i]))
              EXPECT_TRUE(std::isnan(one[i]) ? std::isnan(made[i]) : made[i] == one[i]);
            else
              EXPECT_NEAR(made[i], one[i], 1e-6 * (1 + std::fabs(one[i])));
          }
          batched(in.data() + row * length, one.data(), 1, length);
          for (size_t i = 0; i < length; ++i)
            EXPECT_TRUE(one[i] == made[i] || (std::isnan(one[i]) && std::isnan(made[i])))
                << length << " x " << rows << ": " << one[i] << " instead of " << made[i];
        }
      }
    }
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
