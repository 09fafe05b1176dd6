#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "ir/core/tensor.h"
#include "ir/ops/reference/strided_copy.h"

namespace sardonyx {
namespace {

// Element by element, by the definition.
std::vector<int64_t> copied(const std::vector<int64_t>& from, const StridedBlock& block,
                            size_t to_size) {
  std::vector<int64_t> to(to_size, -1);
  std::vector<int64_t> index(block.sizes.size(), 0);
  const int64_t count = element_count(Shape(block.sizes.begin(), block.sizes.end()));
  for (int64_t n = 0; n < count; ++n) {
    int64_t rest = n, a = block.from_offset, b = block.to_offset;
    for (size_t i = block.sizes.size(); i-- > 0; rest /= block.sizes[i]) {
      a += rest % block.sizes[i] * block.from_strides[i];
      b += rest % block.sizes[i] * block.to_strides[i];
    }
    to[static_cast<size_t>(b)] = from[static_cast<size_t>(a)];
  }
  return to;
}

TEST(StridedCopyTest, AgreesWithTheDefinition) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const size_t rank = random() % 5;
    Shape sizes;
    for (size_t i = 0; i < rank; ++i)
      sizes.push_back(static_cast<int64_t>(random() % (round % 10 == 0 ? 70 : 6)) +
                      (round % 7 ? 1 : 0));
    std::vector<size_t> order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    if (element_count(sizes) > 200000) continue;
    StridedBlock block{DimValues(sizes.begin(), sizes.end()), Strides(rank),
                       row_major_strides(sizes)};
    int64_t step = 1;  // the reading side is laid out in a random order of axes, some reversed
    for (const size_t axis : order) {
      block.from_strides[axis] = step;
      step *= std::max<int64_t>(sizes[axis], 1);
      if (random() % 4 == 0 && sizes[axis] > 0) {
        block.from_offset += (sizes[axis] - 1) * block.from_strides[axis];
        block.from_strides[axis] *= -1;
      }
    }
    std::vector<int64_t> from(static_cast<size_t>(step));
    std::iota(from.begin(), from.end(), 0);
    std::vector<int64_t> to(static_cast<size_t>(element_count(sizes)), -1);
    copy_strided(DType::kInt64, from.data(), to.data(), block);
    ASSERT_EQ(to, copied(from, block, to.size())) << to_text(sizes);
  }
}

// Blocks that repeat, whole and in parts, without gaps where they are written and with some.
TEST(StridedCopyTest, RepeatsBlocks) {
  const std::vector<std::pair<DimValues, Strides>> reads{{{3, 5, 4, 7}, {0, 7, 0, 1}},
                                                         {{3, 5, 4, 7}, {0, 1, 0, 5}},
                                                         {{4, 3, 2, 2, 3}, {0, 3, 0, 0, 1}},
                                                         {{2, 3, 40, 3, 40}, {0, 0, 40, 0, 1}},
                                                         {{2, 400, 3, 500}, {0, 500, 0, 1}}};
  for (const auto& [sizes, from_strides] : reads) {
    for (const int64_t gap : {0, 3}) {
      StridedBlock block{sizes, from_strides, row_major_strides(Shape(sizes.begin(), sizes.end()))};
      for (size_t axis = 0; axis + 1 < sizes.size(); ++axis)
        block.to_strides[axis] += gap * (axis == 1 ? 1 : 0);
      if (gap > 0) block.to_strides[0] = block.to_strides[1] * sizes[1] + gap;
      std::vector<int64_t> from(200000);
      std::iota(from.begin(), from.end(), 0);
      const size_t size = static_cast<size_t>(block.to_strides[0] * sizes[0]);
      const std::vector<int64_t> wanted = copied(from, block, size);
      const BlockCopy copy(DType::kInt64, block);
      for (const int64_t parts : {1, 2, 7}) {
        std::vector<int64_t> to(size, -1);
        for (int64_t part = 0; part < parts; ++part)
          copy.run_part(from.data(), to.data(), part, parts);
        ASSERT_EQ(to, wanted) << parts << " parts, gaps of " << gap;
      }
    }
  }
}

template <typename T>
void check_transpositions(DType dtype) {
  for (const int64_t columns : {1, 2, 3, 4, 5, 17, 33}) {
    for (const int64_t rows : {1, 3, 4, 5, 8, 9, 16, 70}) {
      std::vector<T> from(static_cast<size_t>(2 * rows * columns));
      std::iota(from.begin(), from.end(), T{0});
      std::vector<T> to(from.size() + 4, T{7});
      const StridedBlock block{
          {2, rows, columns}, {rows * columns, 1, rows}, {rows * columns, columns, 1}};
      copy_strided(dtype, from.data(), to.data(), block);
      std::vector<T> expected;
      for (int64_t n = 0; n < 2 * rows * columns; ++n) {
        const int64_t image = n / (rows * columns), place = n % (rows * columns);
        expected.push_back(
            static_cast<T>(image * rows * columns + place % columns * rows + place / columns));
      }
      expected.resize(to.size(), T{7});
      EXPECT_EQ(to, expected) << rows << " x " << columns << " of " << sizeof(T) << " bytes";
    }
  }
}

// Whole squares of each width, what is left beside them, and nothing beyond the end.
TEST(StridedCopyTest, TranspositionsOfAllWidths) {
  check_transpositions<uint8_t>(DType::kUInt8);
  check_transpositions<uint16_t>(DType::kUInt16);
  check_transpositions<float>(DType::kFloat);
  check_transpositions<int64_t>(DType::kInt64);
}

// One column that is repeated looks like a transposition.
TEST(StridedCopyTest, RepeatsAColumn) {
  const std::vector<float> from{1, 2, 3, 4, 5};
  std::vector<float> to(50);
  copy_strided(DType::kFloat, from.data(), to.data(), {{5, 10}, {1, 0}, {10, 1}});
  for (size_t i = 0; i < to.size(); ++i)
    EXPECT_EQ(to[i], from[i / 10]);
}

template <typename T>
void check_every_second(DType dtype) {
  for (const int64_t count : {2, 3, 16, 17, 33, 40}) {
    std::vector<T> from(static_cast<size_t>(2 * count - 1));  // none behind the last one
    std::iota(from.begin(), from.end(), T{0});
    std::vector<T> to(static_cast<size_t>(count) + 4, T{7});
    copy_strided(dtype, from.data(), to.data(), {{count}, {2}, {1}});
    for (size_t i = 0; i < to.size(); ++i)
      EXPECT_EQ(to[i], i < static_cast<size_t>(count) ? static_cast<T>(2 * i) : T{7});
  }
}

TEST(StridedCopyTest, EverySecondOfAllWidths) {
  check_every_second<uint8_t>(DType::kUInt8);
  check_every_second<uint16_t>(DType::kUInt16);
  check_every_second<float>(DType::kFloat);
  check_every_second<int64_t>(DType::kInt64);
}

// Longer than the block that is filled element by element.
TEST(StridedCopyTest, RepeatsManyTimes) {
  for (const int64_t count : {255, 256, 257, 1000}) {
    std::vector<float> to(static_cast<size_t>(count) + 1, 7);
    const float value = 3;
    fill_run(DType::kFloat, &value, to.data(), 0, count);
    EXPECT_EQ(std::count(to.begin(), to.end() - 1, 3.0f), count);
    EXPECT_EQ(to.back(), 7);
  }
}

TEST(StridedCopyTest, StringsAndRepeats) {
  const std::vector<std::string> from{"a", "a string too long to be kept inside"};
  std::vector<std::string> to(4);
  copy_strided(DType::kString, from.data(), to.data(), {{2, 2}, {0, 1}, {2, 1}});
  EXPECT_EQ(to, (std::vector<std::string>{from[0], from[1], from[0], from[1]}));
}

}  // namespace
}  // namespace sardonyx
