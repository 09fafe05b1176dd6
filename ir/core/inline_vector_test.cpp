#include "ir/core/inline_vector.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace sardonyx {
namespace {

using Few = InlineVector<int, 4>;

Few counted(size_t count) {
  Few values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

bool is_counted(const Few& values, size_t count) {
  std::vector<int> expected(count);
  std::iota(expected.begin(), expected.end(), 0);
  return std::equal(values.begin(), values.end(), expected.begin(), expected.end());
}

bool is_inline(const Few& values) {
  const auto* begin = reinterpret_cast<const char*>(&values);
  const auto* data = reinterpret_cast<const char*>(values.data());
  return data >= begin && data < begin + sizeof values;
}

TEST(InlineVector, grows_out_of_itself) {
  Few values;
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(is_inline(values), values.size() <= 4);
    values.push_back(i);
    EXPECT_TRUE(is_counted(values, static_cast<size_t>(i) + 1));
  }
  values.resize(2);
  EXPECT_TRUE(is_counted(values, 2));
  values.resize(7, values.back());  // an element of itself
  EXPECT_EQ(values, (Few{0, 1, 1, 1, 1, 1, 1}));
}

TEST(InlineVector, copies_and_moves_keep_the_elements) {
  for (const size_t from : {0u, 3u, 4u, 5u, 30u}) {
    for (const size_t to : {0u, 3u, 4u, 5u, 30u}) {
      const Few source = counted(from);
      Few copied = counted(to);
      copied = source;
      EXPECT_EQ(copied, source);
      Few moved = counted(to);
      moved = std::move(copied);
      EXPECT_TRUE(is_counted(moved, from));
      copied = counted(to);  // usable again
      EXPECT_TRUE(is_counted(copied, to));
      const Few made = std::move(moved);
      EXPECT_TRUE(is_counted(made, from));
      moved.push_back(7);
      EXPECT_EQ(moved, Few{7});
    }
  }
}

TEST(InlineVector, assigning_to_itself_changes_nothing) {
  for (const size_t count : {2u, 9u}) {
    Few values = counted(count);
    const Few& same = values;
    values = same;
    EXPECT_TRUE(is_counted(values, count));
  }
}

}  // namespace
}  // namespace sardonyx
