#include <cmath>

#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

using Floats = std::vector<float>;

Datum bytes(const std::vector<uint8_t>& values, Shape shape) {
  return Tensor::of<uint8_t>(values, std::move(shape));
}

// Two rows of 17 weights in blocks of 16: the second block of each holds one.
TEST(MatMulNBits, FourBits) {
  std::vector<uint8_t> packed(2 * 2 * 8, 0x88);  // 8 everywhere, which is 0 by default
  packed[0] = 0x9A;                              // row 0: 10, 9
  packed[8] = 0x8C;                              // its second block: 12
  packed[16 + 8] = 0x87;                         // row 1, second block: 7
  Floats x(17, 0);
  x[0] = 1;
  x[1] = 2;
  x[16] = 3;
  const AttrMap attrs{{"K", int64_t{17}}, {"N", int64_t{2}}, {"block_size", int64_t{16}}};
  const Datum b = bytes(packed, {2, 2, 8}), scales = floats({0.5f, 2, 1, 10}, {2, 2});
  // row 0: (2 * 1 + 1 * 2) * 0.5 + 4 * 3 * 2; row 1: -1 * 3 * 10
  expect_near(run_op("com.microsoft::MatMulNBits", {floats(x, {1, 17}), b, scales}, attrs)[0],
              {26, -30}, 1e-5);
  const Datum packed_points = bytes({0x98, 0x78}, {2, 1});  // row 0: 8, 9; row 1: 8, 7
  const Datum bias = floats({1, 2}, {2});
  expect_near(run_op("com.microsoft::MatMulNBits",
                     {floats(x, {1, 17}), b, scales, packed_points, Datum(), bias}, attrs)[0],
              {2 + 3 * 3 * 2 + 1, 2}, 1e-5);
  const Datum real_points = floats({8, 9, 8, 7}, {2, 2});
  expect_near(
      run_op("com.microsoft::MatMulNBits", {floats(x, {1, 17}), b, scales, real_points}, attrs)[0],
      {20, 0}, 1e-5);
  AttrMap wrong = attrs;
  wrong["N"] = int64_t{3};
  EXPECT_NE(error_of("com.microsoft::MatMulNBits", {floats(x, {1, 17}), b, scales}, wrong), "");
  wrong["N"] = int64_t{1} << 62;
  EXPECT_NE(error_of("com.microsoft::MatMulNBits", {floats(x, {1, 17}), b, scales}, wrong), "");
  wrong = attrs;
  wrong["bits"] = int64_t{0};
  EXPECT_NE(error_of("com.microsoft::MatMulNBits", {floats(x, {1, 17}), b, scales}, wrong), "");
}

TEST(MatMulNBits, EightBits) {
  std::vector<uint8_t> weights(16, 128);
  weights[3] = 130;
  Floats x(16, 1);
  expect_near(run_op("com.microsoft::MatMulNBits",
                     {floats(x, {16}), bytes(weights, {1, 1, 16}), floats({0.25f}, {1})},
                     {{"K", int64_t{16}},
                      {"N", int64_t{1}},
                      {"block_size", int64_t{16}},
                      {"bits", int64_t{8}}})[0],
              {0.5}, 1e-6);
}

TEST(GatherBlockQuantized, PackedRowsAndIndicesOutside) {
  std::vector<uint8_t> packed(2 * 16, 0x88);  // 2 rows of 32 values of 4 bits
  packed[16] = 0x8A;                          // row 1: 10 first
  packed[31] = 0xF8;                          // and 15 last
  const auto out = run_op(
      "com.microsoft::GatherBlockQuantized",
      {bytes(packed, {2, 16}), Tensor::vector<int64_t>({-1, 7}), floats({1, 1, 0.5f, 2}, {2, 2})},
      {{"block_size", int64_t{16}}});
  EXPECT_EQ(out[0].tensor().shape(), (Shape{2, 32}));
  std::vector<double> wanted(64, 0);
  wanted[0] = 1;
  wanted[31] = 14;
  expect_near(out[0], wanted, 1e-6);
}

// One head of size 2 for query and key: the rotation and softmax can be done by hand.
TEST(GroupQueryAttention, PromptThenToken) {
  const AttrMap attrs{{"num_heads", int64_t{2}}, {"kv_num_heads", int64_t{1}}, {"scale", 1.f}};
  const Datum query = floats({1, 0, 0, 1, 2, 0, 0, 2}, {1, 2, 4});
  const Datum key = floats({1, 0, 0, 1}, {1, 2, 2}), value = floats({1, 2, 3, 4}, {1, 2, 2});
  const Datum last = Tensor::vector<int32_t>({1}), total = Tensor::vector<int32_t>({2});
  const auto prompt = run_op("com.microsoft::GroupQueryAttention",
                             {query, key, value, Datum(), Datum(), last, total}, attrs, 3);
  const double a = std::exp(2.0) / (std::exp(2.0) + 1), b = 1 - a;
  expect_near(prompt[0], {1, 2, 1, 2, a * 1 + b * 3, a * 2 + b * 4, b * 1 + a * 3, b * 2 + a * 4},
              1e-5);
  expect_near(prompt[1], {1, 0, 0, 1}, 0);
  // The second token alone, the first one cached.
  const auto token =
      run_op("com.microsoft::GroupQueryAttention",
             {floats({2, 0, 0, 2}, {1, 1, 4}), floats({0, 1}, {1, 1, 2}), floats({3, 4}, {1, 1, 2}),
              floats({1, 0}, {1, 1, 1, 2}), floats({1, 2}, {1, 1, 1, 2}), last, total},
             attrs, 3);
  expect_near(token[0], {a * 1 + b * 3, a * 2 + b * 4, b * 1 + a * 3, b * 2 + a * 4}, 1e-5);
  expect_near(token[2], {1, 2, 3, 4}, 0);
  // A window of one key sees the newest alone; a sink takes half of what it gives.
  AttrMap window = attrs;
  window["local_window_size"] = int64_t{1};
  expect_near(run_op("com.microsoft::GroupQueryAttention",
                     {query, key, value, Datum(), Datum(), last, total}, window)[0],
              {1, 2, 1, 2, 3, 4, 3, 4}, 1e-5);
  const Datum none;
  const Datum sink = floats({0, 0}, {2});
  const auto sunk =
      run_op("com.microsoft::GroupQueryAttention",
             {query, key, value, none, none, last, total, none, none, none, none, sink}, window);
  EXPECT_NEAR(sunk[0].tensor().values<float>()[4], 3 * 0.5, 1e-5);  // score 0 against the sink's 0
}

TEST(GroupQueryAttention, RefusesLengthsThatDoNotFit) {
  const AttrMap attrs{{"num_heads", int64_t{1}}, {"kv_num_heads", int64_t{1}}};
  const Datum x = floats({1, 1}, {1, 1, 2}), past = floats({1, 1}, {1, 1, 1, 2});
  for (const auto& [last, total] : std::vector<std::pair<int32_t, int32_t>>{
           {5, 2}, {-1, 2}, {2, 3}, {0, 0}, {2147483647, 2147483647}}) {
    EXPECT_NE(error_of("com.microsoft::GroupQueryAttention",
                       {x, x, x, past, past, Tensor::vector<int32_t>({last}),
                        Tensor::vector<int32_t>({total})},
                       attrs),
              "")
        << last << " " << total;
  }
  AttrMap uneven = attrs;
  uneven["kv_num_heads"] = int64_t{2};
  EXPECT_NE(error_of("com.microsoft::GroupQueryAttention",
                     {x, x, x, Datum(), Datum(), Tensor::vector<int32_t>({0}),
                      Tensor::vector<int32_t>({1})},
                     uneven),
            "");
}

TEST(ContribTensorOps, Values) {
  expect_near(run_op("com.microsoft::CDist", {floats({0, 0, 3, 4}, {2, 2}), floats({0, 1}, {1, 2})},
                     {{"metric", std::string("euclidean")}})[0],
              {1, std::sqrt(18.0)}, 1e-6);
  expect_near(run_op("com.microsoft::Inverse", {floats({0, 2, 4, 0}, {2, 2})})[0],
              {0, 0.25, 0.5, 0}, 1e-6);
  const auto unique = run_op("com.microsoft::Unique", {floats({2, 1, 2}, {3})}, {}, 3);
  expect_near(unique[0], {2, 1}, 0);
  expect_near(unique[1], {0, 1, 0}, 0);
  expect_near(unique[2], {2, 1}, 0);
  EXPECT_EQ(
      run_op("com.microsoft::ExpandDims", {floats({1, 2}, {2}), Tensor::scalar<int32_t>(-1)})[0]
          .tensor()
          .shape(),
      (Shape{2, 1}));
  expect_near(run_op("com.microsoft::Pad",
                     {floats({1}, {1}), Tensor::of<int64_t>({1, 0}, {1, 2}), floats({7}, {1})})[0],
              {7, 1}, 0);
}

TEST(CropAndResize, CornersAreAligned) {
  const Datum x = floats({0, 1, 2, 3, 4, 5, 6, 7, 8}, {1, 1, 3, 3});
  const Datum boxes = floats({0, 0, 1, 1, 0.5f, 0.5f, 2, 1}, {2, 4});
  const Datum batches = Tensor::vector<int32_t>({0, 0}), size = Tensor::vector<int32_t>({2, 2});
  expect_near(run_op("com.microsoft::CropAndResize", {x, boxes, batches, size},
                     {{"extrapolation_value", -1.f}})[0],
              {0, 2, 6, 8, 4, 5, -1, -1}, 1e-6);
  const auto nearest =
      run_op("com.microsoft::CropAndResize",
             {Tensor::of<double>({1 + 0x1p-40, HUGE_VAL, 2, 3}, {1, 1, 2, 2}),
              Tensor::of<double>({0, 0, 1, 1}, {1, 4}), Tensor::vector<int32_t>({0}), size},
             {{"mode", std::string("nearest")}});
  EXPECT_EQ(elements<double>(nearest[0]), (std::vector<double>{1 + 0x1p-40, HUGE_VAL, 2, 3}));
  EXPECT_NE(
      error_of("com.microsoft::CropAndResize", {x, boxes, Tensor::vector<int32_t>({0, 1}), size}),
      "");
}

}  // namespace
}  // namespace sardonyx
