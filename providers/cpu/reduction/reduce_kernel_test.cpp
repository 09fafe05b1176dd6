// Reductions of rows of any length and number, and of NaNs.
#include "providers/cpu/reduction/reduce_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <vector>

namespace sardonyx::cpu {
namespace {

constexpr ReduceOp kAll[] = {ReduceOp::kSum, ReduceOp::kMean,      ReduceOp::kMax,
                             ReduceOp::kMin, ReduceOp::kSumSquare, ReduceOp::kL1,
                             ReduceOp::kL2,  ReduceOp::kProduct,   ReduceOp::kLogSum};

double expected(ReduceOp op, std::span<const float> row) {
  double sum = 0, squares = 0, magnitudes = 0, product = 1;
  for (const double x : row) {
    sum += x;
    squares += x * x;
    magnitudes += std::abs(x);
    product *= x;
  }
  switch (op) {
    case ReduceOp::kSum:
      return sum;
    case ReduceOp::kMean:
      return sum / static_cast<double>(row.size());
    case ReduceOp::kMax:
      return *std::ranges::max_element(row);
    case ReduceOp::kMin:
      return *std::ranges::min_element(row);
    case ReduceOp::kSumSquare:
      return squares;
    case ReduceOp::kL1:
      return magnitudes;
    case ReduceOp::kL2:
      return std::sqrt(squares);
    case ReduceOp::kProduct:
      return product;
    case ReduceOp::kLogSum:
      return std::log(sum);
  }
  return 0;
}

TEST(ReduceRows, AgreeWithTheDefinition) {
  std::mt19937 generator(3);
  std::uniform_real_distribution<float> near_one(0.8f, 1.2f);
  for (size_t count : {1, 2, 3, 4, 5, 7, 8, 10, 15, 16, 17, 33, 63, 64, 65, 100, 200}) {
    for (const size_t rows : {1, 3, 16, 37}) {
      std::vector<float> in(rows * count), out(rows + 1, -7.f);
      for (float& x : in)
        x = near_one(generator);
      for (const ReduceOp op : kAll) {
        reduce_rows(op, in.data(), rows, count, out.data());
        for (size_t row = 0; row < rows; ++row) {
          const double wanted = expected(op, {in.data() + row * count, count});
          EXPECT_NEAR(out[row], wanted, 1e-5 * std::abs(wanted) + 1e-6)
              << static_cast<int>(op) << ": row " << row << " of " << rows << " x " << count;
        }
        EXPECT_EQ(out[rows], -7.f);
      }
    }
  }
}

// A NaN is the result of its own row, and of no other.
TEST(ReduceRows, NansAndInfinities) {
  constexpr size_t kRows = 20;
  for (const size_t count : {1, 4, 6, 21, 90}) {
    for (size_t at = 0; at < count; ++at) {
      for (const ReduceOp op : {ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kSum}) {
        std::vector<float> in(kRows * count, 1), out(kRows);
        in[3 * count + at] = NAN;
        in[5 * count + at] = op == ReduceOp::kMin ? -INFINITY : INFINITY;
        reduce_rows(op, in.data(), kRows, count, out.data());
        for (size_t row = 0; row < kRows; ++row) {
          EXPECT_EQ(std::isnan(out[row]), row == 3) << row << ": " << count;
          EXPECT_EQ(std::isinf(out[row]), row == 5) << row << ": " << count;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx::cpu
