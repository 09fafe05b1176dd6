#include "tools/onnx-run/op_cases/drawn_case.h"

#include <gtest/gtest.h>

#include <set>

namespace sardonyx::tool {
namespace {

TEST(DrawnCase, EqualSizesStayEqualAndSmallOnesStay) {
  const OpCase typical{"Conv", "", {input({1, 64, 56, 56}), weight({64, 64, 3, 3})}, {}};
  std::set<int64_t> channels;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto made = drawn_case(typical, seed);
    if (!made) continue;
    const Shape &x = made->operands[0].shape, &w = made->operands[1].shape;
    EXPECT_EQ(x[0], 1);
    EXPECT_EQ(x[2], x[3]);
    EXPECT_EQ(w, (Shape{x[1], x[1], 3, 3}));
    EXPECT_NE(made->variant.find(to_text(x)), std::string::npos);
    channels.insert(x[1]);
  }
  EXPECT_GT(channels.size(), 10u);
}

TEST(DrawnCase, IndicesStayBelowTheSizeThatTheyCount) {
  const OpCase typical{
      "Gather", "", {input({64, 128}), input({32}, DType::kInt64, 0, 63)}, {{"axis", int64_t{0}}}};
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto made = drawn_case(typical, seed);
    ASSERT_TRUE(made) << seed;
    EXPECT_LT(made->operands[1].high, static_cast<double>(made->operands[0].shape[0])) << seed;
  }
}

TEST(DrawnCase, SizesThatTheOpRefusesAreNone) {
  // The fixed shape holds for the typical size alone.
  const OpCase typical{"Reshape", "", {input({12, 12}), int64s({144})}, {}};
  for (uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_FALSE(drawn_case(typical, seed).has_value()) << seed;
}

}  // namespace
}  // namespace sardonyx::tool
