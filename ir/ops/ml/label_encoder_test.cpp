#include <limits>

#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

Datum float_map(const Ints& keys, const Floats& values) {
  return Map{Tensor::vector(keys), Tensor::vector(values)};
}

TEST(ArrayFeatureExtractor, VectorsAndRows) {
  const Datum indices = Tensor::vector<int64_t>({2, 0});
  auto out = run_op("ai.onnx.ml::ArrayFeatureExtractor",
                    {Tensor::vector<std::string>({"a", "b", "c"}), indices});
  EXPECT_EQ(out[0].tensor().shape(), (Shape{1, 2}));
  EXPECT_EQ(elements<std::string>(out[0]), (Strings{"c", "a"}));
  out = run_op("ai.onnx.ml::ArrayFeatureExtractor",
               {Tensor::of<int32_t>({1, 2, 3, 4, 5, 6}, {2, 3}), indices});
  expect_near(out[0], {3, 1, 6, 4}, 0);
  for (const int64_t index : {3, -1}) {
    EXPECT_NE(error_of("ai.onnx.ml::ArrayFeatureExtractor",
                       {Tensor::vector<float>({1, 2, 3}), Tensor::vector<int64_t>({index})})
                  .find("is outside"),
              std::string::npos);
  }
}

TEST(CategoryMapper, BothWays) {
  AttrMap attrs{{"cats_int64s", Ints{5, 7}}, {"cats_strings", Strings{"five", "seven"}}};
  EXPECT_EQ(elements<std::string>(
                run_op("ai.onnx.ml::CategoryMapper", {Tensor::vector<int64_t>({7, 6})}, attrs)[0]),
            (Strings{"seven", "_Unused"}));
  EXPECT_EQ(elements<int64_t>(run_op("ai.onnx.ml::CategoryMapper",
                                     {Tensor::vector<std::string>({"five", "six"})}, attrs)[0]),
            (Ints{5, -1}));
  attrs["cats_int64s"] = Ints{5};
  EXPECT_NE(error_of("ai.onnx.ml::CategoryMapper", {Tensor::vector<int64_t>({7})}, attrs), "");
}

TEST(LabelEncoder, KeysOfAllKinds) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(elements<std::string>(run_op(
                "ai.onnx.ml::LabelEncoder", {Tensor::vector<float>({nan, 0.f, 2, -0.f})},
                {{"keys_floats", Floats{nan, -0.f}}, {"values_strings", Strings{"n", "z"}}})[0]),
            (Strings{"n", "z", "_Unused", "z"}));
  EXPECT_EQ(elements<int64_t>(run_op("ai.onnx.ml::LabelEncoder",
                                     {Tensor::vector<std::string>({"b", "x"})},
                                     {{"keys_strings", Strings{"a", "b", "b"}},
                                      {"values_int64s", Ints{1, 2, 3}},
                                      {"default_int64", int64_t{99}}})[0]),
            (Ints{2, 99}));
  EXPECT_EQ(elements<int16_t>(run_op("ai.onnx.ml::LabelEncoder", {Tensor::vector<double>({1, 3})},
                                     {{"keys_tensor", Tensor::vector<double>({1, 2})},
                                      {"values_tensor", Tensor::vector<int16_t>({10, 20})}})[0]),
            (std::vector<int16_t>{10, -1}));
}

// Dense integers index a list, others are hashed.
TEST(LabelEncoder, DenseAndSparseIntegers) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(),
                    kGreatest = std::numeric_limits<int64_t>::max();
  const auto encoded = [](const Ints& keys, const Ints& x) {
    Ints values(keys.size());
    for (size_t i = 0; i < keys.size(); ++i)
      values[i] = static_cast<int64_t>(i);
    return elements<int64_t>(run_op("ai.onnx.ml::LabelEncoder", {Tensor::vector(x)},
                                    {{"keys_int64s", keys}, {"values_int64s", values}})[0]);
  };
  EXPECT_EQ(encoded({5, -3, 5, 9, -3}, {-4, -3, -2, 5, 9, 10, kLeast, kGreatest}),
            (Ints{-1, 1, -1, 0, 3, -1, -1, -1}));
  EXPECT_EQ(encoded({kGreatest, kGreatest - 2}, {kGreatest - 1, kGreatest, kLeast, kGreatest - 2}),
            (Ints{-1, 0, -1, 1}));
  EXPECT_EQ(encoded({kLeast + 1, kLeast}, {kLeast, 0, kLeast + 1, kGreatest}),
            (Ints{1, -1, 0, -1}));
  EXPECT_EQ(encoded({kLeast, kGreatest, 0}, {0, kGreatest, 1, kLeast}), (Ints{2, 1, -1, 0}));
  EXPECT_EQ(elements<int16_t>(run_op("ai.onnx.ml::LabelEncoder",
                                     {Tensor::vector<int16_t>({32767, -32768, 32766})},
                                     {{"keys_tensor", Tensor::vector<int16_t>({32766, 32767})},
                                      {"values_tensor", Tensor::vector<int16_t>({1, 2})}})[0]),
            (std::vector<int16_t>{2, -1, 1}));
}

TEST(LabelEncoder, RefusesListsThatDoNotFit) {
  const Datum x = Tensor::vector<int64_t>({1});
  const std::vector<std::pair<AttrMap, std::string>> cases{
      {{{"keys_int64s", Ints{1}}}, "values_floats"},
      {{{"values_int64s", Ints{1}}}, "keys_floats"},
      {{{"keys_int64s", Ints{1}}, {"values_int64s", Ints{1, 2}}}, "as many values"},
      {{{"keys_int64s", Ints{1}}, {"keys_floats", Floats{1}}, {"values_int64s", Ints{1}}},
       "just one"},
      {{{"keys_strings", Strings{"1"}}, {"values_int64s", Ints{1}}}, "the type of the keys"},
      {{{"keys_int64s", Ints{1}},
        {"values_int64s", Ints{1}},
        {"default_tensor", Tensor::vector<float>({1})}},
       "default_tensor"}};
  for (const auto& [attrs, message] : cases) {
    EXPECT_NE(error_of("ai.onnx.ml::LabelEncoder", {x}, attrs).find(message), std::string::npos)
        << error_of("ai.onnx.ml::LabelEncoder", {x}, attrs);
  }
}

TEST(OneHotEncoder, UnknownCategories) {
  const Datum x = Tensor::vector<float>({2.9f, 1, -1e30f});
  AttrMap attrs{{"cats_int64s", Ints{1, 2}}};
  const auto out = run_op("ai.onnx.ml::OneHotEncoder", {x}, attrs);
  EXPECT_EQ(out[0].tensor().shape(), (Shape{3, 2}));
  expect_near(out[0], {0, 1, 1, 0, 0, 0}, 0);
  attrs["zeros"] = int64_t{0};
  EXPECT_NE(error_of("ai.onnx.ml::OneHotEncoder", {x}, attrs).find("no category"),
            std::string::npos);
}

// More elements than are looked up at once, of each type; the last one of equal categories counts.
TEST(OneHotEncoder, ManyElementsOfEachType) {
  const Ints categories{5, -3, 5, 1000000, 0};
  const AttrMap attrs{{"cats_int64s", categories},
                      {"cats_strings", Strings{"5", "-3", "5", "1000000", "0"}}};
  Ints numbers;
  for (int64_t i = 0; i < 700; ++i)
    numbers.push_back(i % 7 < 5 ? categories[static_cast<size_t>(i % 7)] : i);
  const auto check = [&](const auto& elements) {
    const Tensor y =
        run_op("ai.onnx.ml::OneHotEncoder", {Tensor::vector(elements)}, attrs)[0].tensor();
    ASSERT_EQ(y.shape(), (Shape{700, 5}));
    for (size_t i = 0; i < numbers.size(); ++i) {
      for (size_t k = 0; k < 5; ++k) {
        const bool is_it = numbers[i] == categories[k] && k != 0;
        ASSERT_EQ(y.values<float>()[i * 5 + k], is_it ? 1.f : 0.f) << i << ", " << k;
      }
    }
  };
  check(numbers);
  check(std::vector<float>(numbers.begin(), numbers.end()));
  check(std::vector<double>(numbers.begin(), numbers.end()));
  check(std::vector<int32_t>(numbers.begin(), numbers.end()));
  Strings names;
  for (const int64_t number : numbers)
    names.push_back(std::to_string(number));
  check(names);
}

TEST(FeatureVectorizer, CutsAndPads) {
  const Datum a = Tensor::of<int64_t>({1, 2, 3, 4}, {2, 2});
  const Datum b = Tensor::of<int64_t>({5, 6}, {2, 1});
  expect_near(run_op("ai.onnx.ml::FeatureVectorizer", {a, b}, {{"inputdimensions", Ints{1, 2}}})[0],
              {1, 5, 0, 3, 6, 0}, 0);
  expect_near(run_op("ai.onnx.ml::FeatureVectorizer", {a, b})[0], {1, 2, 5, 3, 4, 6}, 0);
  const Datum c = Tensor::of<float>({7, 8, 9, 10}, {2, 2}), d = Tensor::of<float>({5, 6}, {2, 1});
  expect_near(run_op("ai.onnx.ml::FeatureVectorizer", {c, d}, {{"inputdimensions", Ints{3, 1}}})[0],
              {7, 8, 0, 5, 9, 10, 0, 6}, 0);
  EXPECT_NE(error_of("ai.onnx.ml::FeatureVectorizer", {a, b}, {{"inputdimensions", Ints{1}}}), "");
  EXPECT_NE(error_of("ai.onnx.ml::FeatureVectorizer", {a, Tensor::vector<int64_t>({1, 2, 3})}), "");
}

TEST(CastMap, DenseAndSparse) {
  const Datum x = float_map({4, 0, 2}, {4.5f, 0.5f, -2.5f});
  expect_near(run_op("ai.onnx.ml::CastMap", {x})[0], {0.5, -2.5, 4.5}, 0);
  expect_near(run_op("ai.onnx.ml::CastMap", {x},
                     {{"map_form", std::string("SPARSE")},
                      {"max_map", int64_t{4}},
                      {"cast_to", std::string("TO_INT64")}})[0],
              {0, 0, -2, 0}, 0);
  EXPECT_EQ(elements<std::string>(run_op("ai.onnx.ml::CastMap", {float_map({1}, {0.25f})},
                                         {{"cast_to", std::string("TO_STRING")}})[0]),
            (Strings{"0.250000"}));
  const Datum words =
      Map{Tensor::vector<int64_t>({1, 2}), Tensor::vector<std::string>({" 1.5", "x"})};
  EXPECT_NE(error_of("ai.onnx.ml::CastMap", {words}).find("expected a number, got 'x'"),
            std::string::npos);
  EXPECT_NE(error_of("ai.onnx.ml::CastMap", {float_map({-1}, {1})},
                     {{"map_form", std::string("SPARSE")}}),
            "");
}

TEST(DictVectorizer, MissingKeysAreZero) {
  const Datum x = Map{Tensor::vector<std::string>({"b", "a"}), Tensor::vector<double>({2, 1})};
  expect_near(run_op("ai.onnx.ml::DictVectorizer", {x},
                     {{"string_vocabulary", Strings{"a", "c", "b", "a"}}})[0],
              {1, 0, 2, 1}, 0);
  EXPECT_NE(error_of("ai.onnx.ml::DictVectorizer", {x}, {{"int64_vocabulary", Ints{1}}}), "");
}

TEST(ZipMap, OneMapForEachRow) {
  const Datum x = Tensor::of<float>({1, 2, 3, 4}, {2, 2});
  const auto out = run_op("ai.onnx.ml::ZipMap", {x}, {{"classlabels_strings", Strings{"b", "a"}}});
  const Sequence& maps = out[0].sequence();
  ASSERT_EQ(maps.items.size(), 2u);
  EXPECT_EQ(elements<std::string>(maps.items[1].map().keys), (Strings{"a", "b"}));
  expect_near(maps.items[1].map().values, {4, 3}, 0);
  EXPECT_NE(error_of("ai.onnx.ml::ZipMap", {x}, {{"classlabels_int64s", Ints{1, 2, 3}}}), "");
}

TEST(ZipMap, OfEqualLabelsTheLastCounts) {
  const Datum x = Tensor::of<float>({1, 2, 3, 4}, {1, 4});
  const auto out = run_op("ai.onnx.ml::ZipMap", {x}, {{"classlabels_int64s", Ints{7, 5, 7, 6}}});
  const Map& map = out[0].sequence().items.at(0).map();
  EXPECT_EQ(elements<int64_t>(map.keys), (Ints{5, 6, 7}));
  expect_near(map.values, {2, 4, 3}, 0);
}

}  // namespace
}  // namespace sardonyx
