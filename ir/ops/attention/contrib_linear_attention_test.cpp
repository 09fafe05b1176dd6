// com.microsoft's operators of layers with linear attention, with numbers worked out by hand.
#include <gmock/gmock.h>

#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

using ::testing::HasSubstr;

AttrMap linear(int64_t heads, int64_t kv_heads, int64_t window) {
  return {{"q_num_heads", heads},
          {"kv_num_heads", kv_heads},
          {"update_rule", std::string("linear")},
          {"scale", 1.0f},
          {"state_window", window}};
}

// One head of size 1: the state is the running sum of key * value.
TEST(ContribLinearAttention, KeepsTheStatesOfTheLastPositions) {
  const Datum query = floats({1, 1, 2}, {1, 3, 1}), key = floats({1, 2, 1}, {1, 3, 1});
  const Datum value = floats({3, 4, 5}, {1, 3, 1});
  const auto run = [&](const Datum& past, int64_t window) {
    return run_op("com.microsoft::LinearAttention", {query, key, value, past}, linear(1, 1, window),
                  2);
  };
  expect_near(run(Datum(), 0)[0], {3, 11, 32}, 1e-6);
  expect_near(run(Datum(), 2)[0], {3, 11, 32}, 1e-6);
  expect_near(run(Datum(), 2)[1], {11, 16}, 1e-6);
  EXPECT_EQ(run(Datum(), 2)[1].tensor().shape(), (Shape{2, 1, 1, 1, 1}));
  expect_near(run(Datum(), 5)[1], {0, 0, 3, 11, 16}, 1e-6);
  // The last slot of the past is where it goes on from.
  const Datum past = floats({7, 100}, {2, 1, 1, 1, 1});
  expect_near(run(past, 2)[0], {103, 111, 232}, 1e-5);
  expect_near(run(past, 2)[1], {111, 116}, 1e-5);
  EXPECT_THAT(error_of("com.microsoft::LinearAttention", {query, key, value}, linear(1, 1, 9), 2),
              HasSubstr("attribute state_window: expected 0 to 8, got 9"));
}

TEST(ContribLinearAttention, SharesQueriesAndKeysAmongValueHeads) {
  const Datum one = floats({2}, {1, 1, 1}), values = floats({3, 5}, {1, 1, 2});
  const auto out = run_op("com.microsoft::LinearAttention", {one, one, values}, linear(1, 2, 0), 2);
  expect_near(out[0], {12, 20}, 1e-6);
  expect_near(out[1], {6, 10}, 1e-6);
  EXPECT_THAT(
      error_of("com.microsoft::LinearAttention",
               {floats({1, 1}, {1, 1, 2}), floats({1, 1}, {1, 1, 2}), floats({1, 1, 1}, {1, 1, 3})},
               linear(2, 3, 0), 2),
      HasSubstr("expected a divisor of kv_num_heads (3), got 2"));
}

TEST(ContribLinearAttention, Gates) {
  const auto gates = run_op("com.microsoft::LinearAttentionGate",
                            {floats({0, 1}, {1, 1, 2}), floats({0, -1}, {2}), floats({-1, 2}, {2}),
                             floats({0, 1}, {1, 1, 2})},
                            {}, 2);
  constexpr double kLog2 = 0.69314718;
  expect_near(gates[0], {-kLog2, 2 * kLog2}, 1e-6);
  expect_near(gates[1], {0.5, 0.73105858}, 1e-6);
  EXPECT_THAT(error_of("com.microsoft::LinearAttentionGate",
                       {floats({0, 1}, {1, 1, 2}), floats({0}, {1}), floats({0, 1}, {2})}),
              HasSubstr("input dt_bias: expected one element for each head"));
}

// Groups (3, 4) and (6, 8) have root mean squares 5 / sqrt(2) and 10 / sqrt(2).
TEST(ContribLinearAttention, GatedNormalizationGoesGroupByGroup) {
  const Datum x = floats({3, 4, 6, 8}, {1, 4}), scale = floats({1, 2}, {2});
  const Datum gate = floats({0, 1, 1, 0}, {1, 4});
  const auto run = [&](const char* activation) {
    return run_op("com.microsoft::GatedRMSNorm", {x, scale, gate},
                  {{"epsilon", 0.0f}, {"activation", std::string(activation)}})[0];
  };
  constexpr double kFirst = 0.84852814, kSecond = 2 * 1.13137085, kOpen = 0.73105858;
  expect_near(run("silu"), {0, kSecond * kOpen, kFirst * kOpen, 0}, 1e-5);
  expect_near(run("sigmoid"), {kFirst / 2, kSecond * kOpen, kFirst * kOpen, kSecond / 2}, 1e-5);
  EXPECT_THAT(error_of("com.microsoft::GatedRMSNorm", {x, floats({1, 1, 1}, {3}), gate}),
              HasSubstr("expected a multiple of the length of scale, 3"));
}

TEST(ContribLinearAttention, GatedSum) {
  const Datum x = floats({1, 2, 3, 4}, {2, 2}), y = floats({1, 1, 1, 1}, {2, 2});
  expect_near(run_op("com.microsoft::GatedAdd", {x, y, floats({10, -1}, {2, 1})})[0],
              {11, 12, 2, 3}, 0);
  EXPECT_THAT(error_of("com.microsoft::GatedAdd", {x, y, floats({1, 1}, {2})}),
              HasSubstr("input gate: expected shape [2, 1]"));
}

// y[t] = x[t - 2] + 10 x[t], of a past (1, 2).
TEST(ContribCausalConv, SkipsPositionsAndKeepsStates) {
  const Datum x = floats({3, 4, 5}, {1, 1, 3}), taps = floats({1, 10}, {1, 1, 2});
  const auto run = [&](const std::vector<Datum>& inputs, int64_t window, int64_t last = 0) {
    return run_op("com.microsoft::CausalConvWithState", inputs,
                  {{"dilation", int64_t{2}}, {"state_window", window}, {"channels_last", last}}, 2);
  };
  const auto out = run({x, taps, Datum(), floats({1, 2}, {1, 1, 2})}, 0);
  expect_near(out[0], {31, 42, 53}, 1e-5);
  expect_near(out[1], {4, 5}, 0);
  const auto windowed = run({x, taps}, 4);
  expect_near(windowed[0], {30, 40, 53}, 1e-5);
  expect_near(windowed[1], {0, 0, 0, 3, 3, 4, 4, 5}, 0);
  EXPECT_EQ(windowed[1].tensor().shape(), (Shape{4, 1, 1, 2}));
  // Two channels in the last dim, of which each has its own taps.
  const auto last =
      run({floats({3, 6, 4, 7}, {1, 2, 2}), floats({1, 10, 1, 100}, {2, 1, 2})}, 0, 1);
  expect_near(last[0], {30, 600, 40, 700}, 1e-4);
  expect_near(last[1], {3, 6, 4, 7}, 0);
  EXPECT_EQ(last[1].tensor().shape(), (Shape{1, 2, 2}));
}

TEST(ContribCausalConv, RefusesOtherDims) {
  const Datum x = floats({3, 4, 5}, {1, 1, 3}), taps = floats({1, 10}, {1, 1, 2});
  const auto refusal = [&](const AttrMap& attrs) {
    return error_of("com.microsoft::CausalConvWithState", {x, taps}, attrs, 2);
  };
  EXPECT_THAT(refusal({{"ndim", int64_t{2}}}), HasSubstr("attribute ndim: only 1 is supported"));
  EXPECT_THAT(refusal({{"dilation", int64_t{0}}}), HasSubstr("attribute dilation: expected 1"));
  EXPECT_THAT(refusal({{"state_window", int64_t{-1}}}), HasSubstr("expected 0 to 8, got -1"));
}

// Two sequences of 1 and 2 tokens in rows of 2; one head of size 1, whose scores are all 0: each
// token gets the mean of its sequence's values.
TEST(PackedAttention, SeesItsOwnSequence) {
  const Datum zeros = floats({0, 0, 0}, {3, 1}), value = floats({5, 1, 3}, {3, 1});
  const Datum offset = Tensor::of<int32_t>({0, 2, 3, 1}, {2, 2});
  const Datum ends = Tensor::of<int32_t>({0, 1, 3}, {3});
  const AttrMap attrs{{"num_heads", int64_t{1}}};
  const auto run = [&](const std::vector<Datum>& inputs) {
    return run_op("com.microsoft::PackedMultiHeadAttention", inputs, attrs)[0];
  };
  expect_near(run({zeros, zeros, value, Datum(), offset, ends}), {5, 2, 2}, 1e-6);
  expect_near(run({zeros, zeros, value, floats({0, 0, 10}, {3}), offset, ends}), {15, 12, 12},
              1e-5);
  // The bias makes the last key three times as heavy as the first.
  const Datum bias = floats({0, 1.0986123f, 0, 1.0986123f}, {1, 1, 2, 2});
  expect_near(run({zeros, zeros, value, Datum(), offset, ends, bias}), {5, 2.5, 2.5}, 1e-5);
  const Datum packed = floats({0, 0, 5, 0, 0, 1, 0, 0, 3}, {3, 1, 3, 1});
  expect_near(run({packed, Datum(), Datum(), Datum(), offset, ends}), {5, 2, 2}, 1e-6);
  EXPECT_THAT(error_of("com.microsoft::PackedMultiHeadAttention",
                       {zeros, Datum(), Datum(), Datum(), offset, ends}, attrs),
              HasSubstr("where key and value are left out"));
}

}  // namespace
}  // namespace sardonyx
