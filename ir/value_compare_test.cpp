#include "ir/value_compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

namespace sardonyx {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Datum floats(std::vector<float> values) {
  return Tensor::vector(values);
}

struct Case {
  const char* what;
  Datum got, expected;
  Tolerance tolerance;
  const char* reason;  // a part of it; null: they agree
};

TEST(CompareTest, Rule) {
  const Tolerance exact{0, 0, 0};
  const Case cases[] = {
      {"equal", floats({1, 2}), floats({1, 2}), exact, nullptr},
      {"within atol", floats({1.05f}), floats({1}), {0, 0.1, 0}, nullptr},
      {"beyond atol", floats({1.2f}), floats({1}), {0, 0.1, 0}, "1.2"},
      {"rtol scales with expected", floats({101}), floats({100}), {0.01, 0, 0}, nullptr},
      {"rtol of zero is zero", floats({0.001f}), floats({0}), {0.5, 0, 0}, "expected 0"},
      {"relative to the maximum", floats({0.5f, 100}), floats({0, 100}), {0, 0, 0.01}, nullptr},
      {"an infinity is no maximum",
       floats({0.5f, kInf}),
       floats({0, kInf}),
       {0, 0, 1},
       "element [0]"},
      {"NaN equals NaN", floats({kNan}), floats({kNan}), exact, nullptr},
      {"NaN is no number", floats({kNan}), floats({1}), {1, 1, 1}, "nan"},
      {"a number is no NaN", floats({1}), floats({kNan}), {1, 1, 1}, "expected nan"},
      {"infinities agree", floats({-kInf}), floats({-kInf}), exact, nullptr},
      {"signs of infinities count", floats({-kInf}), floats({kInf}), {1, 1, 1}, "-inf"},
      {"a number is not infinite", floats({1e30f}), floats({kInf}), {1, 1, 1}, "expected inf"},
      {"shape", floats({1, 2}), floats({1}), exact, "shape [2], expected [1]"},
      {"element type", floats({1}), Tensor::vector<double>({1}), exact, "element type float"},
      {"integers are exact",
       Tensor::vector<int32_t>({7}),
       Tensor::vector<int32_t>({8}),
       {1, 1, 1},
       "is 7, expected 8"},
      {"largest unsigned", Tensor::vector<uint64_t>({UINT64_MAX}),
       Tensor::vector<uint64_t>({UINT64_MAX}), exact, nullptr},
      {"strings",
       Tensor::vector<std::string>({"a"}),
       Tensor::vector<std::string>({"b"}),
       {1, 1, 1},
       "\"a\""},
      {"nothing is no tensor", Datum(), floats({1}), exact, "empty optional"},
      {"kinds", Datum(Sequence{}), floats({1}), exact, "got seq"},
  };
  for (const Case& one : cases) {
    const Comparison result = compare(one.got, one.expected, one.tolerance);
    if (one.reason)
      EXPECT_NE(result.reason.find(one.reason), std::string::npos) << one.what << result.reason;
    else
      EXPECT_EQ(result.reason, "") << one.what;
  }
}

TEST(CompareTest, ComplexByMagnitude) {
  using C = std::complex<float>;
  const Datum expected = Tensor::vector<C>({C(3, 4)});
  EXPECT_TRUE(compare(Tensor::vector<C>({C(3, 4.4f)}), expected, {0.1, 0, 0}));
  EXPECT_FALSE(compare(Tensor::vector<C>({C(3, 4.6f)}), expected, {0.1, 0, 0}));
}

TEST(CompareTest, PackedIntegers) {
  Tensor a = Tensor::zeros(DType::kInt4, {3});
  Tensor b = Tensor::zeros(DType::kInt4, {3});
  EXPECT_TRUE(compare(a, b, {}));
  set_packed(DType::kInt4, b.raw(), 2, 7);
  EXPECT_FALSE(compare(a, b, {}));
}

TEST(CompareTest, SequencesItemByItem) {
  const Type element = Type::tensor(DType::kFloat);
  const Datum two(Sequence{element, {floats({1}), floats({2})}});
  EXPECT_TRUE(compare(two, two, {}));
  const Datum other(Sequence{element, {floats({1}), floats({3})}});
  EXPECT_EQ(compare(other, two, {}).reason.substr(0, 7), "item 1:");
  const Datum shorter(Sequence{element, {floats({1})}});
  EXPECT_EQ(compare(shorter, two, {}).reason, "sequence of 1 items, expected 2");
}

TEST(CompareTest, MapsByKey) {
  const Tensor values = Tensor::vector<float>({1, 2});
  const Datum a(Map{Tensor::vector<int64_t>({5, 3}), values});
  const Datum swapped(Map{Tensor::vector<int64_t>({3, 5}), Tensor::vector<float>({2, 1})});
  EXPECT_TRUE(compare(a, swapped, {0, 0, 0}));
  const Datum wrong(Map{Tensor::vector<int64_t>({3, 5}), values});
  EXPECT_FALSE(compare(a, wrong, {0, 0, 0}));
  const Datum keys(Map{Tensor::vector<int64_t>({3, 6}), values});
  EXPECT_NE(compare(a, keys, {}).reason.find("key"), std::string::npos);
}

TEST(CompareTest, OptionalsAreWhatTheyHold) {
  const Type element = Type::tensor(DType::kFloat);
  const Datum full(OptionalDatum{element, {floats({1})}});
  const Datum empty(OptionalDatum{element, {}});
  EXPECT_TRUE(compare(full, floats({1}), {}));
  EXPECT_TRUE(compare(floats({1}), full, {}));
  EXPECT_TRUE(compare(empty, empty, {}));
  EXPECT_FALSE(compare(full, empty, {}));
}

TEST(CompareTest, DeviationIsMeasured) {
  const Comparison result = compare(floats({1, 2.5f, 4}), floats({1, 2, 4}), {0, 0.1, 0});
  EXPECT_EQ(result.deviation.elements, 3);
  EXPECT_EQ(result.deviation.mismatches, 1);
  EXPECT_DOUBLE_EQ(result.deviation.max_absolute, 0.5);
  EXPECT_DOUBLE_EQ(result.deviation.mean_absolute, 0.5 / 3);
  EXPECT_DOUBLE_EQ(result.deviation.max_relative, 0.25);
  EXPECT_DOUBLE_EQ(result.deviation.max_expected, 4);
}

TEST(CompareTest, TypesAlone) {
  EXPECT_TRUE(compare_types(floats({1}), floats({2})));
  EXPECT_FALSE(compare_types(floats({1}), floats({2, 3})));
}

}  // namespace
}  // namespace sardonyx
