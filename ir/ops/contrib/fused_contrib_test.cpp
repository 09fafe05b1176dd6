#include <cmath>

#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

TEST(FusedConv, AddsThenActivates) {
  const Datum x = floats({1, 2, 3, 4}, {1, 1, 2, 2}), w = floats({1, -3}, {2, 1, 1, 1});
  const Datum b = floats({0, 1}, {2}), z = floats({0, 0, 0, 0, 1, 1, 1, 1}, {1, 2, 2, 2});
  expect_near(
      run_op("com.microsoft::FusedConv", {x, w, b, z},
             {{"activation", std::string("LeakyRelu")}, {"activation_params", Floats{0.5f}}})[0],
      {1, 2, 3, 4, -0.5, -2, -3.5, -5}, 1e-6);
  expect_near(
      run_op("com.microsoft::FusedConv", {x, w},
             {{"activation", std::string("Clip")}, {"activation_params", Floats{-4, 3}}})[0],
      {1, 2, 3, 3, -3, -4, -4, -4}, 1e-6);
  EXPECT_NE(error_of("com.microsoft::FusedConv", {x, w}, {{"activation", std::string("Mish9")}}),
            "");
}

TEST(FusedMatMul, TransposesMatricesAndBatches) {
  const Datum a = floats({1, 2, 3, 4}, {2, 2}), b = floats({1, 1, 0, 1}, {2, 2});
  expect_near(run_op("com.microsoft::FusedMatMul", {a, b},
                     {{"transA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", 2.f}})[0],
              {8, 6, 12, 8}, 1e-6);
  // A [2, 3, 1] with its first dim behind the batch dim: [3, 2, 1].
  const Datum c = floats({1, 2, 3, 4, 5, 6}, {2, 3, 1}), d = floats({10}, {1, 1});
  const auto out = run_op("com.microsoft::FusedMatMul", {c, d}, {{"transBatchA", int64_t{1}}});
  EXPECT_EQ(out[0].tensor().shape(), (Shape{3, 2, 1}));
  expect_near(out[0], {10, 40, 20, 50, 30, 60}, 1e-6);
}

TEST(WordConvEmbedding, GivesZerosForWordsWithoutCharacters) {
  const Datum words = Tensor::zeros(DType::kInt32, {2, 3, 0});
  const Datum filters = Tensor::zeros(DType::kFloat, {4, 1, 0, 2});
  const Datum table = floats({1, 2, 3, 4}, {2, 2});
  const auto out = run_op("com.microsoft::WordConvEmbedding",
                          {words, filters, floats({1, 1, 1, 1}, {4}), table});
  EXPECT_EQ(out[0].tensor().shape(), (Shape{2, 3, 4}));
  expect_near(out[0], std::vector<double>(24, 0.0), 0);
}

TEST(Gelus, Values) {
  const double x = 0.7, erf = 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  const double tanh = 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
  const Datum half = floats({0.35f}, {1}), whole = floats({0.7f}, {1});
  expect_near(run_op("com.microsoft::Gelu", {whole})[0], {erf}, 1e-6);
  expect_near(run_op("com.microsoft::BiasGelu", {half, half})[0], {erf}, 1e-6);
  expect_near(run_op("com.microsoft::FastGelu", {half, half})[0], {tanh}, 1e-6);
  expect_near(run_op("com.microsoft::QuickGelu", {whole})[0], {x / (1 + std::exp(-1.702 * x))},
              1e-6);
}

TEST(SkipLayerNormalization, GivesTheSumToo) {
  const Datum x = floats({1, 2}, {1, 1, 2}), skip = floats({1, 4}, {1, 1, 2});
  const Datum gamma = floats({2, 2}, {2}), beta = floats({1, 0}, {2}), bias = floats({0, 2}, {2});
  // The sum is (2, 8): mean 5, deviation 3.
  const auto out =
      run_op("com.microsoft::SkipLayerNormalization", {x, skip, gamma, beta, bias}, {}, 4);
  expect_near(out[0], {-1, 2}, 1e-5);
  expect_near(out[1], {5}, 1e-6);
  expect_near(out[2], {1.0 / 3}, 1e-6);
  expect_near(out[3], {2, 8}, 0);
  const auto simple =
      run_op("com.microsoft::SkipSimplifiedLayerNormalization", {x, skip, gamma, bias}, {}, 4);
  const double root = std::sqrt(34.0);  // of (4 + 64) / 2
  expect_near(simple[0], {4 / root, 16 / root}, 1e-5);
  expect_near(simple[2], {1 / root}, 1e-6);
  expect_near(simple[3], {2, 8}, 0);
}

TEST(EmbedLayerNormalization, SumsEmbeddingsAndCountsWords) {
  const Datum ids = Tensor::of<int32_t>({1, 0}, {1, 2}), mask = Tensor::of<int32_t>({1, 0}, {1, 2});
  const Datum words = floats({1, 0, 0, 3}, {2, 2}), places = floats({0, 0, 1, 2}, {2, 2});
  const Datum gamma = floats({1, 1}, {2}), beta = floats({0, 0}, {2});
  const auto out = run_op("com.microsoft::EmbedLayerNormalization",
                          {ids, Datum(), words, places, Datum(), gamma, beta, mask}, {}, 3);
  expect_near(out[2], {0, 3, 2, 2}, 0);  // the second sum is constant, so its normal form is 0
  expect_near(out[0], {-1, 1, 0, 0}, 1e-5);
  expect_near(out[1], {1}, 0);
}

// Words and beta count from zero points of their own.
TEST(QEmbedLayerNormalization, IsEmbedLayerNormalizationOnWhatTheIntegersStandFor) {
  const Datum ids = Tensor::of<int32_t>({1, 0}, {1, 2}), mask = Tensor::of<int32_t>({1, 0}, {1, 2});
  const auto bytes = [](const std::vector<uint8_t>& values, Shape shape) -> Datum {
    return Tensor::of(values, std::move(shape));
  };
  const auto scale = [](float value) -> Datum { return Tensor::of<float>({value}, {}); };
  const Datum zero = bytes({0}, {}), ten = bytes({10}, {}), o;
  const std::vector<Datum> inputs{ids,
                                  o,
                                  bytes({12, 10, 10, 16}, {2, 2}),
                                  bytes({0, 0, 1, 2}, {2, 2}),
                                  o,
                                  bytes({4, 4}, {2}),
                                  bytes({10, 14}, {2}),
                                  mask,
                                  scale(0.5f),
                                  scale(1),
                                  o,
                                  scale(0.25f),
                                  scale(0.5f),
                                  ten,
                                  zero,
                                  o,
                                  zero,
                                  ten};
  const auto out = run_op("com.microsoft::QEmbedLayerNormalization", inputs, {}, 2);
  expect_near(out[0], {-1, 1 + 2, 0, 2}, 1e-5);  // the sums are 0, 3 and 2, 2
  expect_near(out[1], {1}, 0);
  std::vector<Datum> segments = inputs;
  segments[1] = Tensor::of<int32_t>({1, 0}, {1, 2});
  segments[4] = bytes({3, 5, 2, 2}, {2, 2});  // minus 2, halved: 0.5, 1.5, 0, 0
  segments[10] = scale(0.5f);
  segments[15] = bytes({2}, {});
  const auto summed = run_op("com.microsoft::QEmbedLayerNormalization", segments, {}, 2);
  expect_near(summed[0], {-1, 1 + 2, -1, 1 + 2}, 1e-5);  // 0, 3 and 2.5, 3.5
}

TEST(Tokenizer, ExpressionsSeparatorsAndCharacters) {
  const Datum x = Tensor::vector<std::string>({"one, two", "\xC3\xA9t\xC3\xA9"});
  AttrMap base{{"mark", int64_t{0}}, {"mincharnum", int64_t{1}}, {"pad_value", std::string("#")}};
  AttrMap attrs = base;
  attrs["tokenexp"] = std::string("[a-z]+");
  auto out = run_op("com.microsoft::Tokenizer", {x}, attrs);
  EXPECT_EQ(out[0].tensor().shape(), (Shape{2, 2}));
  EXPECT_EQ(elements<std::string>(out[0]), (Strings{"one", "two", "t", "#"}));
  attrs = base;
  attrs["separators"] = Strings{", ", "t"};
  attrs["mark"] = int64_t{1};
  out = run_op("com.microsoft::Tokenizer", {x}, attrs);
  EXPECT_EQ(elements<std::string>(out[0]),
            (Strings{"\x02", "one", "wo", "\x03", "\x02", "\xC3\xA9", "\xC3\xA9", "\x03"}));
  attrs = base;
  attrs["separators"] = Strings{""};
  out = run_op("com.microsoft::Tokenizer",
               {Tensor::vector<std::string>({"\xC3\xA9"
                                             "a"})},
               attrs);
  EXPECT_EQ(elements<std::string>(out[0]), (Strings{"\xC3\xA9", "a"}));
  EXPECT_NE(error_of("com.microsoft::Tokenizer", {Tensor::vector<std::string>({"\xFF"})}, attrs)
                .find("UTF-8"),
            std::string::npos);
  attrs["separators"] = Strings{"("};
  EXPECT_NE(error_of("com.microsoft::Tokenizer", {x}, attrs).find("regular expression"),
            std::string::npos);
  EXPECT_NE(error_of("com.microsoft::Tokenizer", {x}, base), "");
}

// Characters alone are found without an expression, and matches at the start before all others.
TEST(Tokenizer, FindsTheSameByCharactersAndByExpressions) {
  const Datum x = Tensor::vector<std::string>({"", "oo",
                                               "foo\xC3\xA9"
                                               "boo\xC3\xA9",
                                               "\xC3\xA9\xC3\xA9 oooo", "no", "o\xC3\xA9o"});
  const auto tokens = [&](const Strings& separators, int64_t shortest) {
    const auto out = run_op("com.microsoft::Tokenizer", {x},
                            {{"mark", int64_t{0}},
                             {"mincharnum", shortest},
                             {"pad_value", std::string("#")},
                             {"separators", separators}});
    return elements<std::string>(out[0]);
  };
  for (const int64_t shortest : {1, 2}) {
    EXPECT_EQ(tokens({"oo"}, shortest), tokens({"o{2}"}, shortest));
    EXPECT_EQ(tokens({"\xC3\xA9", "oo"}, shortest), tokens({"(?:\xC3\xA9)", "[o][o]"}, shortest));
  }
  EXPECT_EQ(tokens({"o+"}, 1), tokens({"oo*"}, 1));
}

// Classes of ASCII characters are found byte by byte, the same in a group by the expression.
TEST(Tokenizer, FindsTheSameByClassesAndByExpressions) {
  const Datum x = Tensor::vector<std::string>(
      {"", "a1-b2", "--a\t\xC3\xA9-\xC3\xA9 c] 9_", "12 -^\\.", "\xC3\xA9", "aaa  \r\n"});
  const auto tokens = [&](const AttrMap& pattern, int64_t shortest) {
    AttrMap attrs = pattern;
    attrs["mark"] = int64_t{0};
    attrs["mincharnum"] = shortest;
    attrs["pad_value"] = std::string("#");
    const auto out = run_op("com.microsoft::Tokenizer", {x}, attrs);
    return std::pair(out[0].tensor().shape(), elements<std::string>(out[0]));
  };
  for (const std::string pattern :
       {"\\s", "\\d+", "\\w+", "\\S+", "[a-c]", "[a-]+", "[a\\-]", "[^a]+", "[\xC3\xA9 ]", "[\\]a]",
        "[\\s.-]+", "[\\\\.]", "[\\x31]", "[a][1]", "[[:alpha:]]+", "[a]+?", "[\\w\\n]+"}) {
    for (const int64_t shortest : {1, 2}) {
      EXPECT_EQ(tokens({{"tokenexp", pattern}}, shortest),
                tokens({{"tokenexp", "(?:" + pattern + ")"}}, shortest))
          << pattern;
      EXPECT_EQ(tokens({{"separators", Strings{pattern}}}, shortest),
                tokens({{"separators", Strings{"(?:" + pattern + ")"}}}, shortest))
          << pattern;
    }
  }
}

Datum byte(uint8_t value) {
  return Tensor::scalar(value);
}
Datum scale(float value) {
  return Tensor::scalar(value);
}

TEST(QLinearOps, Values) {
  const Datum a = Tensor::vector<uint8_t>({10, 20}), b = Tensor::vector<uint8_t>({5, 7});
  // a stands for (0, 1), b for (1, 2).
  const std::vector<Datum> pair{a,           scale(0.1f), byte(10),     b,
                                scale(0.5f), byte(3),     scale(0.25f), byte(1)};
  expect_near(run_op("com.microsoft::QLinearAdd", pair)[0], {5, 13}, 0);
  expect_near(run_op("com.microsoft::QLinearMul", pair)[0], {1, 9}, 0);
  // 25 * 61 * 0.02f is just below 30.5; the steps' roundings lead to just above.
  const std::vector<Datum> near_tie{byte(153),    scale(0.02f), byte(128),    byte(189),
                                    scale(0.02f), byte(128),    scale(0.02f), byte(128)};
  expect_near(run_op("com.microsoft::QLinearMul", near_tie)[0], {158}, 0);
  expect_near(run_op("sardonyx::QdqMul", near_tie)[0], {159}, 0);
  expect_near(
      run_op("com.microsoft::QLinearSigmoid", {a, scale(0.1f), byte(10), scale(0.01f), byte(0)})[0],
      {50, 73}, 0);
  expect_near(run_op("com.microsoft::QLinearConcat",
                     {scale(0.5f), byte(0), a, scale(0.1f), byte(10), b, scale(0.5f), byte(3)},
                     {{"axis", int64_t{0}}})[0],
              {0, 2, 2, 4}, 0);
  EXPECT_NE(error_of("com.microsoft::QLinearConcat", {scale(0.5f), byte(0), a, scale(0.1f)},
                     {{"axis", int64_t{0}}}),
            "");
}

TEST(QGemm, QuantizedAndReal) {
  const Datum a = Tensor::of<uint8_t>({1, 2}, {1, 2}), b = Tensor::of<uint8_t>({3, 4}, {2, 1});
  const Datum c = Tensor::vector<int32_t>({5});
  // (1-1)*(3-2) + (2-1)*(4-2) + 5 = 7
  expect_near(run_op("com.microsoft::QGemm", {a, scale(0.5f), byte(1), b, scale(2), byte(2), c})[0],
              {7}, 1e-6);
  const auto out = run_op("com.microsoft::QGemm", {a, scale(0.5f), byte(1), b, scale(2), byte(2), c,
                                                   scale(0.5f), byte(100)});
  EXPECT_EQ(elements<uint8_t>(out[0]), (std::vector<uint8_t>{114}));
}

}  // namespace
}  // namespace sardonyx
