#include <gmock/gmock.h>

#include <limits>

#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

using ::testing::HasSubstr;

std::vector<Datum> run_contrib(const std::string& name, const std::vector<Datum>& inputs,
                               const AttrMap& attrs = {}, size_t outputs = 1) {
  return run_op("com.microsoft::" + name, inputs, attrs, outputs);
}

TEST(OptimizedGraphs, SumsWithABias) {
  const Datum x = floats({1, 2, 3, 4}, {1, 1, 4}), bias = floats({0, 1, -3, -3}, {4});
  expect_near(run_contrib("BiasAdd", {x, bias, x})[0], {2, 5, 3, 5}, 1e-6);
  // (1, 3) * gelu(0, 1)
  expect_near(run_contrib("BiasSplitGelu", {x, bias})[0], {0, 3 * 0.84134475}, 1e-6);
  EXPECT_THAT(error_of("com.microsoft::BiasSplitGelu", {floats({1, 2, 3}, {3}), floats({0}, {1})}),
              HasSubstr("expected an even last dim"));
}

TEST(OptimizedGraphs, SoftmaxGoesOverAllDimsFromTheAxisOn) {
  const Datum x = floats({0, 1, 2, 3}, {1, 2, 2}), bias = floats({0, -1, -2, -3}, {2, 2});
  const AttrMap flat{{"axis", int64_t{1}}, {"is_inner_broadcast", int64_t{0}}};
  const AttrMap last{{"axis", int64_t{2}}, {"is_inner_broadcast", int64_t{0}}};
  expect_near(run_contrib("BiasSoftmax", {x, bias}, flat)[0], {0.25, 0.25, 0.25, 0.25}, 1e-6);
  expect_near(run_contrib("BiasSoftmax", {x, bias}, last)[0], {0.5, 0.5, 0.5, 0.5}, 1e-6);
}

TEST(OptimizedGraphs, DropoutKeepsAllOutsideOfTraining) {
  const Datum x = floats({1, 2}, {1, 2});
  const auto out = run_contrib("BiasDropout", {x, floats({10, 20}, {2}), x}, {}, 2);
  expect_near(out[0], {12, 24}, 0);
  expect_near(out[1], {1, 1}, 0);
}

// Channels 0 and 1 hold 0 and 2: mean 1, deviation 1.
TEST(OptimizedGraphs, NormalizesGroupsOfTheLastAxis) {
  const Datum x = floats({0, 2, 5, 7}, {1, 1, 1, 4}), gamma = floats({1, 1, 1, 2}, {4});
  const Datum beta = floats({0, 0, 0, 1}, {4});
  const auto attrs = [](int64_t activation) {
    return AttrMap{{"activation", activation}, {"groups", int64_t{2}}, {"epsilon", 0.0f}};
  };
  expect_near(run_contrib("GroupNorm", {x, gamma, beta}, attrs(0))[0], {-1, 1, -1, 3}, 1e-5);
  expect_near(run_contrib("GroupNorm", {x, gamma, beta}, attrs(1))[0],
              {-0.26894142, 0.73105858, -0.26894142, 3 * 0.95257413}, 1e-5);
  const Datum skip = floats({0, 0, 1, 1}, {1, 4}), bias = floats({1, 1, 0, 0}, {4});
  const auto out = run_contrib("SkipGroupNorm", {x, gamma, beta, skip, bias}, attrs(0), 2);
  expect_near(out[0], {-1, 1, -1, 3}, 1e-5);
  expect_near(out[1], {1, 3, 6, 8}, 1e-6);
  EXPECT_THAT(error_of("com.microsoft::GroupNorm", {x, gamma, beta}, attrs(2)),
              HasSubstr("attribute activation: expected 0 (none) or 1 (SiLU), got 2"));
}

TEST(OptimizedGraphs, FindsWhatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Datum good = floats({1, 2}, {2}), infinite = floats({infinity}, {1});
  const Datum nan = floats({std::numeric_limits<float>::quiet_NaN()}, {1});
  const auto is_good = [](const std::vector<Datum>& inputs, const AttrMap& attrs = {}) {
    return run_contrib("IsAllFinite", inputs, attrs)[0].tensor().values<bool>()[0];
  };
  const AttrMap infinities{{"isinf_only", int64_t{1}}}, nans{{"isnan_only", int64_t{1}}};
  EXPECT_TRUE(is_good({good, good}));
  EXPECT_FALSE(is_good({good, infinite}));
  EXPECT_FALSE(is_good({nan, good}));
  EXPECT_TRUE(is_good({nan}, infinities));
  EXPECT_FALSE(is_good({infinite}, infinities));
  EXPECT_TRUE(is_good({infinite}, nans));
}

// (1 + 2i)(3 + 4i) = -5 + 10i, and by the conjugate of 3 + 4i: 11 + 2i.
TEST(OptimizedGraphs, MultipliesComplexNumbers) {
  const Datum a = floats({1, 2}, {1, 2}), b = floats({3, 4}, {2});
  expect_near(run_contrib("ComplexMul", {a, b})[0], {-5, 10}, 0);
  expect_near(run_contrib("ComplexMulConj", {a, b})[0], {11, 2}, 0);
  EXPECT_THAT(error_of("com.microsoft::ComplexMul", {floats({1, 2, 3}, {3}), b}),
              HasSubstr("a real and an imaginary part"));
}

}  // namespace
}  // namespace sardonyx
