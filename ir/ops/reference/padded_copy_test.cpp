#include "ir/ops/reference/padded_copy.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "ir/ops/data_movement/concat_split.h"

namespace sardonyx {
namespace {

std::vector<int32_t> filled_then_copied(const Shape& from, const Shape& to,
                                        std::span<const ops::PadAmount> pads,
                                        const std::vector<int32_t>& in) {
  std::vector<int32_t> out(static_cast<size_t>(element_count(to)), -1);
  if (auto kept = ops::pad_block(from, to, pads))
    copy_strided(DType::kInt32, in.data(), out.data(), std::move(*kept));
  return out;
}

TEST(PaddedCopy, in_any_number_of_parts_is_a_copy_into_what_was_filled) {
  std::mt19937 random(7);
  const auto drawn = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int round = 0; round < 500; ++round) {
    const auto rank = static_cast<size_t>(drawn(0, 4));
    Shape from, to;
    std::vector<ops::PadAmount> pads;
    for (size_t i = 0; i < rank; ++i) {
      from.push_back(drawn(1, 5));
      const bool is_padded = drawn(0, 1) == 1;
      const int64_t before = is_padded ? drawn(-3, 3) : 0;
      const int64_t after = is_padded ? drawn(std::max<int64_t>(-3, -from[i] - before), 3) : 0;
      pads.push_back({before, after});
      to.push_back(from[i] + before + after);
    }
    std::vector<int32_t> in(static_cast<size_t>(element_count(from)));
    std::iota(in.begin(), in.end(), 0);
    const std::vector<int32_t> expected = filled_then_copied(from, to, pads, in);
    const PaddedCopy copy(DType::kInt32, element_count(to), ops::pad_block(from, to, pads));
    const int32_t value = -1;
    for (const int64_t parts : {1, 2, 7}) {
      std::vector<int32_t> out(expected.size(), -2);
      for (int64_t part = parts; part-- > 0;)
        copy.run_part(in.data(), &value, out.data(), part, parts);
      EXPECT_EQ(out, expected) << to_text(from) << " to " << to_text(to) << ", " << parts;
    }
  }
}

}  // namespace
}  // namespace sardonyx
