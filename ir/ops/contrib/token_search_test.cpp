// com.microsoft: hashes, searches of tokens, windows and what else has another form than in ONNX.
#include <gmock/gmock.h>

#include <limits>

#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

using Ints = std::vector<int64_t>;
using Strings = std::vector<std::string>;

Datum int64s(const Ints& values, Shape shape) {
  return Tensor::of<int64_t>(values, std::move(shape));
}

// Numbers that scikit-learn's murmurhash3_32 gives.
TEST(MurmurHash3, IsThatOfScikitLearn) {
  const char* op = "com.microsoft::MurmurHash3";
  const Datum words = Tensor::of<std::string>(Strings{"foo"}, {1});
  const Datum three = Tensor::vector<int32_t>({3});
  const AttrMap is_signed{{"positive", int64_t{0}}};
  const AttrMap seeded{{"positive", int64_t{0}}, {"seed", int64_t{42}}};
  EXPECT_EQ(elements<int32_t>(run_op(op, {words}, is_signed)[0])[0], -156908512);
  EXPECT_EQ(elements<int32_t>(run_op(op, {words}, seeded)[0])[0], -1322301282);
  EXPECT_EQ(elements<uint32_t>(run_op(op, {words})[0])[0], 4138058784u);
  EXPECT_EQ(elements<int32_t>(run_op(op, {three}, is_signed)[0])[0], 847579505);
  EXPECT_EQ(elements<uint32_t>(run_op(op, {three}, {{"seed", int64_t{42}}})[0])[0], 2471885347u);
}

TEST(NGramRepeatBlock, BansWhatWouldEndAnNgramAgain) {
  const char* op = "com.microsoft::NGramRepeatBlock";
  const Datum scores = floats({1, 2, 3, 4, 1, 2, 3, 4}, {2, 4});
  const Datum ids = int64s({0, 1, 2, 0, 1, 3, 2, 1, 0, 3}, {2, 5});
  constexpr float kBanned = -std::numeric_limits<float>::infinity();
  EXPECT_EQ(elements<float>(run_op(op, {ids, scores}, {{"ngram_size", int64_t{3}}})[0]),
            (std::vector<float>{1, 2, kBanned, 4, 1, 2, 3, 4}));
  // Of one word, all that are there; of more words than there are, none.
  EXPECT_EQ(elements<float>(run_op(op, {ids, scores}, {{"ngram_size", int64_t{1}}})[0]),
            (std::vector<float>{kBanned, kBanned, kBanned, 4, kBanned, kBanned, kBanned, kBanned}));
  EXPECT_EQ(elements<float>(run_op(op, {ids, scores}, {{"ngram_size", int64_t{9}}})[0]),
            elements<float>(scores));
  EXPECT_THAT(
      error_of(op, {int64s({7, 7}, {1, 2}), floats({1, 2}, {1, 2})}, {{"ngram_size", int64_t{2}}}),
      ::testing::HasSubstr("token 7 is not in [0, 2)"));
}

TEST(BifurcationDetector, TakesPredictionsUpToTheFirstThatDiffers) {
  const char* op = "com.microsoft::BifurcationDetector";
  const AttrMap sizes{{"min_ngram_size", int64_t{1}}, {"max_ngram_size", int64_t{3}}};
  const Datum source = int64s({1, 5, 3, 4, 2}, {5}), begin = int64s({0}, {});
  const auto taken =
      run_op(op, {source, int64s({2}, {1}), begin, int64s({1, 5, 3, 7, 1, 1}, {6})}, sizes, 2);
  EXPECT_EQ(elements<int64_t>(taken[0]), (Ints{2, 1, 5, 3, 7}));
  EXPECT_EQ(elements<int64_t>(taken[1]), (Ints{-1}));
  const auto found = run_op(op, {source, int64s({5, 3}, {2}), begin}, sizes, 2);
  EXPECT_EQ(elements<int64_t>(found[0]), (Ints{5, 3}));
  EXPECT_EQ(elements<int64_t>(found[1]), (Ints{3}));
  const auto twice = run_op(op, {int64s({1, 2, 1, 3}, {4}), int64s({1}, {1}), begin}, sizes, 2);
  EXPECT_EQ(elements<int64_t>(twice[1]), (Ints{-1}));
  EXPECT_THAT(error_of(op, {source, source, int64s({6}, {}), source}, sizes, 2),
              ::testing::HasSubstr("prev_suffix_match_idx: expected 0 to 5"));
  EXPECT_THAT(error_of(op, {source, source, begin, source}, sizes, 2),
              ::testing::HasSubstr("pred_tokens: expected 6 tokens"));
}

TEST(DynamicTimeWarping, FollowsTheCheapestPath) {
  const Datum costs = floats({3, 8, 5, 1, 9,  //
                              2, 6, 7, 4, 1,  //
                              4, 5, 8, 3, 2},
                             {3, 5});
  const Tensor path = run_op("com.microsoft::DynamicTimeWarping", {costs})[0].tensor();
  EXPECT_EQ(path.shape(), (Shape{2, 6}));
  EXPECT_EQ(elements<int32_t>(path), (std::vector<int32_t>{0, 0, 0, 0, 1, 2, 0, 1, 2, 3, 4, 4}));
}

TEST(UnfoldTensor, GivesTheWindowsOfOneAxis) {
  const char* op = "com.microsoft::UnfoldTensor";
  const auto with = [](int64_t dim, int64_t size, int64_t step) {
    return AttrMap{{"dim", dim}, {"size", size}, {"step", step}};
  };
  const auto windows = run_op(op, {floats({0, 1, 2, 3, 4, 5, 6}, {7})}, with(0, 3, 2));
  EXPECT_EQ(windows[0].tensor().shape(), (Shape{3, 3}));
  expect_near(windows[0], {0, 1, 2, 2, 3, 4, 4, 5, 6}, 0);
  const auto rows = run_op(op, {floats({0, 1, 2, 3, 4, 5}, {3, 2})}, with(0, 2, 1));
  EXPECT_EQ(rows[0].tensor().shape(), (Shape{2, 2, 2}));
  expect_near(rows[0], {0, 2, 1, 3, 2, 4, 3, 5}, 0);
  EXPECT_THAT(error_of(op, {floats({0, 1}, {2})}, with(0, 3, 1)),
              ::testing::HasSubstr("attribute size: expected at most the size of dim 0, 2, got 3"));
}

TEST(ContribRange, GoesByOneWhereNoStepIsGiven) {
  const Datum begin = Tensor::scalar<int16_t>(2), end = Tensor::vector<int16_t>({5});
  EXPECT_EQ(elements<int16_t>(run_op("com.microsoft::Range", {begin, end})[0]),
            (std::vector<int16_t>{2, 3, 4}));
}

TEST(ContribQLinearConv, OfChannelsLastIsThatOfChannelsFirst) {
  const std::vector<uint8_t> x{0, 9, 200, 4, 17, 60, 31, 8, 254, 90, 12, 7}, w{3, 0, 5, 1, 2, 250};
  const auto input = [&](Shape shape) { return Datum(Tensor::of<uint8_t>(x, std::move(shape))); };
  const auto conv = [&](const Datum& image, const AttrMap& attrs) {
    return run_op("com.microsoft::QLinearConv",
                  {image, floats({0.5f}, {}), Tensor::scalar<uint8_t>(3),
                   Tensor::of<uint8_t>(w, {3, 2, 1, 1}), floats({0.1f, 0.2f, 0.3f}, {3}), Datum(),
                   floats({2}, {}), Tensor::scalar<uint8_t>(100)},
                  attrs)[0];
  };
  const auto transposed = [](const Datum& image, const Ints& permutation) {
    return run_op("Transpose", {image}, {{"perm", permutation}})[0];
  };
  const Datum last = conv(input({1, 3, 2, 2}), {{"channels_last", int64_t{1}}});
  const Datum first = conv(transposed(input({1, 3, 2, 2}), {0, 3, 1, 2}), {});
  EXPECT_EQ(elements<uint8_t>(transposed(last, {0, 3, 1, 2})), elements<uint8_t>(first));
  EXPECT_EQ(last.tensor().shape(), (Shape{1, 3, 2, 3}));
}

TEST(MatMulInteger16, SumsBeyondSixteenBits) {
  const Datum a = Tensor::of<int16_t>({32767, -32768}, {1, 2});
  const Datum b = Tensor::of<int16_t>({2, 1}, {2, 1});
  EXPECT_EQ(elements<int32_t>(run_op("com.microsoft::MatMulInteger16", {a, b})[0]),
            (std::vector<int32_t>{32766}));
}

// Pads that are a constant, and that only a run knows.
TEST(ConvTransposeWithDynamicPads, CutsWhatThePadsSay) {
  const Datum x = floats({1, 2, 3, 4}, {1, 1, 2, 2}), w = floats({1, 1, 1, 1}, {1, 1, 2, 2});
  const AttrMap attrs{{"strides", Ints{2, 2}}};
  const auto y = run_op("com.microsoft::ConvTransposeWithDynamicPads",
                        {x, w, int64s({1, 0, 0, 1}, {4})}, attrs);
  EXPECT_EQ(y[0].tensor().shape(), (Shape{1, 1, 3, 3}));
  expect_near(y[0], {1, 1, 2, 3, 3, 4, 3, 3, 4}, 0);
}

}  // namespace
}  // namespace sardonyx
