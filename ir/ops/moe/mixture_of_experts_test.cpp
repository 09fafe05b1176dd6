// Mixtures of experts: routing, gates and weights in few bits, with numbers worked out by hand.
#include <gmock/gmock.h>

#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

using std::string;

AttrMap mixture(const char* activation, int64_t k, AttrMap more = {}) {
  more["activation_type"] = string(activation);
  more["k"] = k;
  return more;
}

// Two experts of one unit: relu(x0 + x1) * (1, 2) and relu(2 x0 + x1) * (1, 0).
std::vector<Datum> two_experts(const Datum& logits) {
  return {floats({1, 2}, {1, 2}), logits, floats({1, 1, 2, 1}, {2, 1, 2}), Datum(),
          floats({1, 2, 1, 0}, {2, 2, 1})};
}

TEST(MixtureOfExperts, WeighsAnswersByTheSoftmaxOfAllLogits) {
  const Datum logits = floats({0, 1.0986123f}, {1, 2});  // shares 1/4 and 3/4
  const auto answer = [&](int64_t k, int64_t normalized) {
    return run_op("com.microsoft::MoE", two_experts(logits),
                  mixture("relu", k, {{"normalize_routing_weights", normalized}}))[0];
  };
  expect_near(answer(1, 0), {3, 0}, 1e-6);
  expect_near(answer(1, 1), {4, 0}, 1e-6);
  expect_near(answer(2, 0), {3.75, 1.5}, 1e-6);
  expect_near(answer(2, 1), {3.75, 1.5}, 1e-6);
}

TEST(MixtureOfExperts, TakesTheLastOfEqualLogits) {
  const Datum logits = floats({2, 2}, {1, 2});
  expect_near(run_op("com.microsoft::MoE", two_experts(logits), mixture("relu", 1))[0], {2, 0},
              1e-6);
}

// The first of the two is within 2 % of the highest, the third expert is not.
TEST(MixtureOfExperts, SparseMixerDropsWhatIsFarBelow) {
  const std::vector<Datum> inputs{floats({1}, {1, 1}), floats({1, 1.01f, 0.5f}, {1, 3}),
                                  floats({1, 10, 100}, {3, 1, 1}), Datum(),
                                  floats({1, 1, 1}, {3, 1, 1})};
  const AttrMap attrs = mixture("identity", 2, {{"use_sparse_mixer", int64_t{1}}});
  expect_near(run_op("com.microsoft::MoE", inputs, attrs)[0], {10 * 0.50249998 + 1}, 1e-5);
}

// FC1 gives 1 and 2 of the input 1: a gate and its partner.
TEST(MixtureOfExperts, GatesInEachLayout) {
  const Datum x = floats({1}, {1, 1}), logits = floats({0}, {1, 1});
  const Datum pair = floats({1, 2}, {1, 2, 1}), fc2 = floats({1}, {1, 1, 1});
  const Datum one = floats({1}, {1, 1, 1}), two = floats({2}, {1, 1, 1}), none;
  const auto swiglu = [](int64_t fusion, AttrMap more = {}) {
    more["swiglu_fusion"] = fusion;
    return mixture("swiglu", 1, std::move(more));
  };
  const auto run = [](const std::vector<Datum>& inputs, const AttrMap& attrs) {
    return run_op("com.microsoft::MoE", inputs, attrs)[0];
  };
  constexpr double kSigmoid1 = 0.73105858, kSigmoid1702 = 0.84579577;
  expect_near(run({x, logits, pair, none, fc2}, swiglu(1)), {2 * kSigmoid1}, 1e-6);
  expect_near(run({x, logits, pair, none, fc2}, swiglu(2)), {2 * kSigmoid1}, 1e-6);
  expect_near(run({x, logits, one, none, fc2, none, two}, swiglu(0)), {2 * kSigmoid1}, 1e-6);
  const AttrMap as_gpt_oss{{"activation_alpha", 1.702f}, {"activation_beta", 1.0f}};
  expect_near(run({x, logits, pair, none, fc2}, swiglu(1, as_gpt_oss)), {3 * kSigmoid1702}, 1e-5);
  expect_near(run({x, logits, pair, none, fc2}, swiglu(1, {{"swiglu_limit", 0.5f}})),
              {0.5 * 0.62245933 * 0.5}, 1e-6);
  expect_near(run({x, logits, one, none, fc2, none, two}, mixture("silu", 1)), {2 * kSigmoid1},
              1e-6);
  expect_near(run({x, logits, one, none, fc2}, mixture("gelu", 1)), {0.84119199}, 1e-6);
}

// 4 bits: FC1 is ((1, 0.5), (0, -1)), FC2 ((3, 0), (7, 0)).
std::vector<Datum> quantized_expert() {
  return {floats({2, 4}, {1, 2}),
          floats({0}, {1, 1}),
          Tensor::of<uint8_t>({0x9a, 0x78}, {1, 2, 1}),
          floats({0.5f, 1}, {1, 2}),
          Datum(),
          Tensor::of<uint8_t>({0x89, 0x8f}, {1, 2, 1}),
          floats({3, 1}, {1, 2}),
          Datum(),
          Datum(),
          Datum(),
          Datum(),
          Datum()};
}

TEST(QuantizedMixture, ReadsColumnsOfFewBits) {
  std::vector<Datum> inputs = quantized_expert();
  expect_near(run_op("com.microsoft::QMoE", inputs, mixture("relu", 1))[0], {12, 28}, 1e-6);
  // Zero points of the columns, one after the other: 9 and 8.
  inputs[11] = Tensor::of<uint8_t>({0x89}, {1, 1});
  expect_near(run_op("com.microsoft::QMoE", inputs, mixture("relu", 1))[0], {3, 7}, 1e-6);
}

TEST(QuantizedMixture, WeighsByOtherNumbersThanItChoosesBy) {
  std::vector<Datum> inputs = quantized_expert();
  inputs.resize(15);
  inputs[14] = floats({0.5f}, {1, 1});
  expect_near(run_op("com.microsoft::QMoE", inputs, mixture("relu", 1))[0], {6, 14}, 1e-6);
  const AttrMap normalized = mixture("relu", 1, {{"normalize_routing_weights", int64_t{1}}});
  expect_near(run_op("com.microsoft::QMoE", inputs, normalized)[0], {12, 28}, 1e-6);
}

TEST(MixtureOfExperts, RefusesWhatDoesNotGoTogether) {
  using ::testing::HasSubstr;
  const Datum logits = floats({0, 1}, {1, 2});
  const auto refusal = [&](const AttrMap& attrs) {
    return error_of("com.microsoft::MoE", two_experts(logits), attrs);
  };
  EXPECT_EQ(refusal(mixture("relu", 2)), "");
  EXPECT_THAT(refusal(mixture("relu", 3)), HasSubstr("at most the number of experts, 2, got 3"));
  EXPECT_THAT(refusal(mixture("relu", 0)), HasSubstr("attribute k: expected at least 1, got 0"));
  EXPECT_THAT(refusal(mixture("tanh", 1)), HasSubstr("expected relu, gelu, silu, swiglu"));
  EXPECT_THAT(refusal(mixture("swiglu", 1)), HasSubstr("needs the input fc3_experts_weights"));
  EXPECT_THAT(refusal(mixture("silu", 1, {{"swiglu_fusion", int64_t{1}}})),
              HasSubstr("where activation_type is not swiglu"));
  EXPECT_THAT(refusal(mixture("relu", 1, {{"use_sparse_mixer", int64_t{1}}})),
              HasSubstr("expected k 2, got 1"));
  EXPECT_THAT(refusal(mixture("relu", 1, {{"swiglu_limit", -1.0f}})),
              HasSubstr("expected a number from 0 on, got -1"));
  std::vector<Datum> wide = two_experts(logits);
  wide[2] = floats(std::vector<float>(6, 1), {2, 1, 3});
  EXPECT_THAT(error_of("com.microsoft::MoE", wide, mixture("relu", 1)),
              HasSubstr("expected shape [2, 1, 2] by the other inputs"));
}

TEST(QuantizedMixture, RefusesOtherQuantizationsByName) {
  using ::testing::HasSubstr;
  const auto refusal = [&](const AttrMap& more) {
    return error_of("com.microsoft::QMoE", quantized_expert(), mixture("relu", 1, more));
  };
  for (const char* type : {"fp4", "nvfp4", "fp8", "wfp4afp8"})
    EXPECT_THAT(refusal({{"quant_type", string(type)}}), HasSubstr("only 'int' is supported, got"));
  EXPECT_THAT(refusal({{"weights_prepacked", int64_t{1}}}),
              HasSubstr("attribute weights_prepacked: only 0 and -1"));
  EXPECT_EQ(refusal({{"weights_prepacked", int64_t{0}}}), "");
  EXPECT_THAT(refusal({{"expert_weight_bits", int64_t{3}}}),
              HasSubstr("expected 2, 4 or 8, got 3"));
  EXPECT_THAT(refusal({{"block_size", int64_t{16}}}),
              HasSubstr("expected a multiple of block_size, 16, got 2"));
  std::vector<Datum> bare = quantized_expert();
  bare[3] = Datum();
  EXPECT_THAT(error_of("com.microsoft::QMoE", bare, mixture("relu", 1)),
              HasSubstr("input fc1_scales: expected one"));
}

}  // namespace
}  // namespace sardonyx
