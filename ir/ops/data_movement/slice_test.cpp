#include <gtest/gtest.h>

#include <limits>

#include "ir/ops/data_movement/concat_split.h"

namespace sardonyx::ops {
namespace {

// The elements that a slice selects, found by stepping.
std::vector<int64_t> selected(int64_t size, int64_t start, int64_t end, int64_t step) {
  const auto clamp = [&](int64_t at, int64_t low, int64_t high) {
    return std::min(std::max(at < 0 ? at + size : at, low), high);
  };
  std::vector<int64_t> result;
  if (size == 0) return result;
  if (step > 0) {
    for (int64_t i = clamp(start, 0, size); i < clamp(end, 0, size); i += step)
      result.push_back(i);
  } else {
    for (int64_t i = clamp(start, 0, size - 1); i > clamp(end, -1, size - 1); i += step)
      result.push_back(i);
  }
  return result;
}

TEST(SliceRangeTest, AgreesWithStepping) {
  for (int64_t size = 0; size <= 5; ++size) {
    for (int64_t start = -8; start <= 8; ++start) {
      for (int64_t end = -8; end <= 8; ++end) {
        for (const int64_t step : {-7, -3, -2, -1, 1, 2, 3, 7}) {
          const auto expected = selected(size, start, end, step);
          const SliceRange range = slice_range(size, start, end, step);
          ASSERT_EQ(range.length, std::ssize(expected))
              << size << " " << start << " " << end << " " << step;
          for (int64_t i = 0; i < range.length; ++i)
            ASSERT_EQ(range.start + i * step, expected[static_cast<size_t>(i)]);
          const Dim symbolic =
              sliced_size(Dim::symbol("n"), start, end, step, [] { return Dim::symbol("?"); });
          const Dim bound = symbolic.substitute([&](std::string_view name) {
            return name == "n" ? std::optional<Dim>(size) : std::nullopt;
          });
          if (bound.is_known()) {
            ASSERT_EQ(bound.value(), range.length)
                << size << " " << start << " " << end << " " << step << " " << symbolic;
          }
        }
      }
    }
  }
}

// Bounds that depend on sizes may be negative in a run, and then count from the end, or exceed the
// size.
TEST(SliceRangeTest, BoundsOfSizesAgreeWithStepping) {
  const Dim n = Dim::symbol("n"), m = Dim::symbol("m");
  const std::vector<Dim> bounds{0,     2,     5,     -1,    -3,    n,     m,
                                n - 1, n - 2, n - 3, m - 1, m - 3, n * 2, n + 2};
  const auto at = [](const Dim& dim, int64_t n_value, int64_t m_value) {
    return dim.substitute([&](std::string_view name) {
      return name == "n"   ? std::optional<Dim>(n_value)
             : name == "m" ? std::optional<Dim>(m_value)
                           : std::nullopt;
    });
  };
  for (const Dim& start : bounds) {
    for (const Dim& end : bounds) {
      for (const int64_t step : {1, 2, -1}) {
        const Dim size = sliced_size(n, start, end, step, [] { return Dim::symbol("?"); });
        for (int64_t i = 0; i < 49; ++i) {
          const Dim known = at(size, i / 7, i % 7);
          if (!known.is_known()) continue;
          const auto expected =
              selected(i / 7, at(start, i / 7, i % 7).value(), at(end, i / 7, i % 7).value(), step);
          ASSERT_EQ(known.value(), std::ssize(expected))
              << start << ":" << end << ":" << step << " n " << i / 7 << " m " << i % 7 << " "
              << size;
        }
      }
    }
  }
}

TEST(SliceRangeTest, ExtremesDoNotOverflow) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(slice_range(5, kMin, kMax, 1).length, 5);
  EXPECT_EQ(slice_range(5, kMax, kMin, -1).length, 5);
  EXPECT_EQ(slice_range(5, kMax, kMin, kMin).length, 1);
  EXPECT_EQ(slice_range(5, kMin, kMax, kMax).length, 1);
  EXPECT_EQ(slice_range(kMax, 0, kMax, 1).length, kMax);
  EXPECT_EQ(slice_range(kMax, -1, kMin, kMin).length, 1);
}

TEST(PadAmountsTest, RefusesWhatDoesNotFit) {
  using Ints = std::vector<int64_t>;
  EXPECT_THROW(pad_amounts(2, Ints{1, 2}, std::nullopt), Error);
  EXPECT_THROW(pad_amounts(2, Ints{1, 2}, Ints{2}), Error);
  EXPECT_THROW(pad_amounts(2, Ints{1, 1, 2, 2}, Ints{0, -2}), Error);
  EXPECT_EQ(pad_amounts(2, Ints{1, 2}, Ints{-1})[1].after, 2);
}

}  // namespace
}  // namespace sardonyx::ops
