#include "ir/core/strides.h"

#include <gtest/gtest.h>

#include <numeric>

namespace sardonyx {
namespace {

TEST(Strides, broadcasting_follows_numpy) {
  const struct {
    Shape a, b;
    std::optional<Shape> result;
  } cases[] = {
      {{2, 3}, {3}, Shape{2, 3}},
      {{}, {4}, Shape{4}},
      {{2, 1, 4}, {3, 1}, Shape{2, 3, 4}},
      {{0}, {1}, Shape{0}},
      {{2, 0}, {2, 1}, Shape{2, 0}},
      {{2}, {3}, std::nullopt},
      {{0}, {2}, std::nullopt},
      {{}, {}, Shape{}},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(try_broadcast(c.a, c.b), c.result) << to_text(c.a) << " " << to_text(c.b);
    EXPECT_EQ(try_broadcast(c.b, c.a), c.result) << to_text(c.b) << " " << to_text(c.a);
  }
}

TEST(Strides, symbolic_broadcasting_says_only_what_is_certain) {
  const Dim n = Dim::symbol("n"), m = Dim::symbol("m"), new_one = Dim::symbol("?");
  const auto unknown = [&] { return new_one; };
  const struct {
    Dims a, b, result;
  } cases[] = {
      {{n, 1}, {m}, {n, m}}, {{n}, {n}, {n}}, {{n}, {3}, {3}},
      {{n}, {m}, {new_one}}, {{n}, {1}, {n}},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(try_broadcast(c.a, c.b, unknown), c.result) << to_text(c.a) << " " << to_text(c.b);
    EXPECT_EQ(try_broadcast(c.b, c.a, unknown), c.result) << to_text(c.b) << " " << to_text(c.a);
  }
  EXPECT_EQ(try_broadcast(Dims{n, 2}, Dims{3}, unknown), std::nullopt);
}

// What a walk visits, as the offsets in each operand in order.
std::vector<std::vector<int64_t>> visited(const Shape& target, std::vector<Shape> shapes,
                                          int64_t* rows = nullptr, int64_t longest = 3) {
  const std::vector<std::span<const int64_t>> views(shapes.begin(), shapes.end());
  const RowWalk walk = broadcast_walk(target, views);
  std::vector<std::vector<int64_t>> offsets(shapes.size() + 1);
  walk.for_each(
      [&](const int64_t* at, int64_t length) {
        if (rows) ++*rows;
        for (size_t k = 0; k < offsets.size(); ++k) {
          for (int64_t i = 0; i < length; ++i)
            offsets[k].push_back(at[k] + i * walk.step(k));
        }
      },
      longest);
  return offsets;
}

TEST(Strides, a_walk_visits_every_element_in_order) {
  const auto at = visited({2, 2, 3}, {{2, 1, 3}, {2, 1}, {}});
  std::vector<int64_t> all(12);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(at[0], all);
  EXPECT_EQ(at[1], (std::vector<int64_t>{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(at[2], (std::vector<int64_t>{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(at[3], std::vector<int64_t>(12, 0));
}

TEST(Strides, a_walk_merges_dims_and_skips_empty_spaces) {
  int64_t rows = 0;
  visited({4, 5, 6}, {{4, 5, 6}, {}}, &rows, 1000);
  EXPECT_EQ(rows, 1);
  rows = 0;
  EXPECT_EQ(visited({}, {{}}, &rows)[0].size(), 1u);
  EXPECT_EQ(rows, 1);
  rows = 0;
  visited({3, 0, int64_t{1} << 40, int64_t{1} << 40}, {{}}, &rows);
  EXPECT_EQ(rows, 0);
}

}  // namespace
}  // namespace sardonyx
