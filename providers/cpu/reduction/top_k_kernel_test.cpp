// Extremes and first elements against their definitions, with ties, NaNs and infinities.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "ir/ops/reduction/arg_max_top_k.h"
#include "ir/ops/reference/arg_extreme.h"
#include "providers/cpu/reduction/radix_sort.h"
#include "providers/cpu/reduction/reduce_kernel.h"
#include "providers/cpu/reduction/top_k_kernel.h"

namespace sardonyx::cpu {
namespace {

// A few different values, so that there are ties.
std::vector<float> draw(std::mt19937& generator, size_t count, bool has_nans) {
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(generator() % 9) - 4;
    if (generator() % 16 == 0) value = generator() % 2 == 0 ? INFINITY : -INFINITY;
    if (has_nans && generator() % 8 == 0) value = NAN;
  }
  return values;
}

TEST(OrderRows, FindsTheExtremeOfARow) {
  std::mt19937 generator(3);
  for (size_t count = 1; count < 150; ++count) {
    for (const bool has_nans : {false, true}) {
      const std::vector<float> row = draw(generator, count, has_nans);
      const auto size = static_cast<int64_t>(count);
      for (const bool last : {false, true}) {
        const float most = reduce_row(ReduceOp::kMax, row.data(), count);
        const float least = reduce_row(ReduceOp::kMin, row.data(), count);
        EXPECT_EQ(find_in_row(row.data(), count, most, last),
                  ops::find_extreme<true>(row.data(), size, 1, last));
        EXPECT_EQ(find_in_row(row.data(), count, least, last),
                  ops::find_extreme<false>(row.data(), size, 1, last));
      }
      EXPECT_EQ(find_in_row(row.data(), count, 77, false), -1);
      EXPECT_EQ(find_in_row(row.data(), count, 77, true), -1);
    }
  }
}

TEST(OrderRows, FindsTheExtremesOfColumns) {
  std::mt19937 generator(4);
  for (const size_t width : {1, 3, 16, 37, 256}) {
    for (const size_t rows : {1, 2, 7, 40}) {
      const size_t step = width + 2;
      const std::vector<float> table = draw(generator, rows * step, rows > 2);
      std::vector<int64_t> found(width);
      for (const bool is_max : {false, true}) {
        for (const bool last : {false, true}) {
          find_in_columns(is_max, table.data(), rows, step, width, last, found.data());
          for (size_t i = 0; i < width; ++i) {
            const auto count = static_cast<int64_t>(rows), apart = static_cast<int64_t>(step);
            EXPECT_EQ(found[i],
                      is_max ? ops::find_extreme<true>(table.data() + i, count, apart, last)
                             : ops::find_extreme<false>(table.data() + i, count, apart, last));
          }
        }
      }
    }
  }
}

TEST(OrderRows, TakesTheFirstElementsInOrder) {
  std::mt19937 generator(5);
  for (const size_t count : {1, 2, 5, 16, 17, 40, 100, 257}) {
    for (const size_t wanted : {size_t{1}, size_t{3}, size_t{33}, kMaxAtTop}) {
      if (wanted > count) continue;
      const std::vector<float> row = draw(generator, count, false);
      for (const bool largest : {false, true}) {
        std::vector<float> values(wanted);
        std::vector<int64_t> positions(wanted), expected(wanted);
        ASSERT_TRUE(take_top(row.data(), count, wanted, largest, values.data(), positions.data()));
        ops::find_first(row.data(), static_cast<int64_t>(count), 1, largest, std::span(expected));
        EXPECT_EQ(positions, expected);
        for (size_t i = 0; i < wanted; ++i)
          EXPECT_EQ(values[i], row[static_cast<size_t>(positions[i])]);
      }
    }
  }
}

TEST(OrderRows, GivesUpOnNans) {
  for (const size_t place : {size_t{0}, size_t{3}, size_t{20}, size_t{36}}) {
    std::vector<float> row(37, 1.f), values(4);
    std::vector<int64_t> positions(4);
    row[place] = NAN;
    EXPECT_FALSE(take_top(row.data(), row.size(), 4, true, values.data(), positions.data()));
    EXPECT_FALSE(take_top(row.data(), row.size(), 4, false, values.data(), positions.data()));
  }
}

TEST(KeyOrder, IsThatOfTheReference) {
  std::mt19937 generator(6);
  std::uniform_real_distribution<float> numbers(-1, 1);
  for (const size_t count : {1, 2, 63, 64, 100, 1000, 2100, 5000, 20000}) {
    for (const int kind : {0, 1, 2, 3}) {
      std::vector<float> row = draw(generator, count, kind == 1);  // many ties
      for (size_t i = 0; i < count && kind >= 2; ++i)
        row[i] = kind == 2 ? numbers(generator) : i % 3 == 0 ? -0.0f : 0.0f;
      // What samples don't show: all that is wanted are adjacent.
      for (size_t i = count / 2; i < count && kind == 2 && count == 5000; ++i)
        row[i] = i % 9 == 1 ? 5 : row[i];
      for (const size_t wanted : {size_t{1}, size_t{65}, count / 9, count / 2, count}) {
        if (wanted == 0 || wanted > count) continue;
        for (const bool largest : {false, true}) {
          std::vector<int64_t> expected(wanted), found(wanted);
          ops::find_first(row.data(), static_cast<int64_t>(count), 1, largest, std::span(expected));
          std::vector<uint64_t> scratch(key_order_scratch(count) / 8);
          order_by_keys(row.data(), count, wanted, largest,
                        reinterpret_cast<std::byte*>(scratch.data()), found.data());
          EXPECT_EQ(found, expected) << wanted << " of " << count << ", kind " << kind;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx::cpu
