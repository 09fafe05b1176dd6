// Quantized convolutions by our own kernels give the reference's integers: at all borders, in parts
// of blocks, for all signs.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/reference_evaluator.h"
#include "providers/cpu/conv/igemm_u8s8.h"
#include "tests/support/bytes.h"
#include "tests/support/kernel_runner.h"

namespace sardonyx::onednn {
namespace {

using Ints = std::vector<int64_t>;

struct ByteCase {
  std::string implementation;
  Shape x, w;
  AttrMap attrs;
};

const ByteCase kByteCases[] = {
    // Channels of a group in quads.
    {"igemm_u8s8", {1, 64, 7, 7}, {48, 64, 1, 1}, {}},
    {"igemm_u8s8", {3, 8, 5, 4}, {17, 8, 1, 1}, {}},
    {"igemm_u8s8", {2, 12, 9, 31}, {33, 12, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}},
    {"igemm_u8s8",
     {1, 16, 40, 29},
     {100, 16, 3, 2},
     {{"strides", Ints{2, 3}}, {"pads", Ints{0, 1, 2, 0}}}},
    {"igemm_u8s8",
     {1, 32, 12, 11},
     {64, 8, 3, 3},
     {{"group", int64_t{4}}, {"dilations", Ints{1, 2}}, {"pads", Ints{1, 0, 1, 2}}}},
    {"igemm_u8s8", {2, 16, 21}, {24, 16, 5}, {{"dilations", Ints{2}}, {"pads", Ints{3, 4}}}},
    {"igemm_u8s8", {1, 64, 14, 1}, {32, 64, 1, 1}, {{"strides", Ints{2, 1}}}},
    {"igemm_u8s8", {1, 512, 3, 3}, {160, 512, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}},
    {"igemm_u8s8", {1, 4, 90, 150}, {16, 4, 5, 5}, {{"pads", Ints{2, 2, 2, 2}}}},
    {"igemm_u8s8", {2, 16, 9, 13}, {24, 16, 3, 3}, {{"pads", Ints{-1, -2, 1, 2}}}},
    {"igemm_u8s8", {2, 16, 9, 13}, {24, 16, 3, 3}, {{"pads", Ints{-2, -1, -1, 0}}}},
    {"igemm_u8s8", {1, 32, 9, 13}, {24, 32, 1, 1}, {{"pads", Ints{-1, -1, 1, 1}}}},
    // Windows that reach far outside, whose taps in the padding are left out; the last of them read
    // one tap, or none. Signed bytes are copied with their padding.
    {"igemm_u8s8 inside",
     {2, 16, 23, 19},
     {40, 16, 3, 3},
     {{"pads", Ints{8, 8, 8, 8}}, {"dilations", Ints{8, 8}}}},
    {"igemm_u8s8 inside",
     {1, 32, 20, 35},
     {48, 16, 3, 2},
     {{"pads", Ints{9, 14, 11, 13}},
      {"dilations", Ints{10, 15}},
      {"strides", Ints{2, 3}},
      {"group", int64_t{2}}}},
    {"igemm_u8s8 inside",
     {1, 16, 9, 13},
     {33, 16, 5, 3},
     {{"pads", Ints{30, 40, 30, 40}}, {"dilations", Ints{7, 20}}}},
    {"igemm_u8s8 inside",
     {2, 16, 50},
     {24, 16, 3},
     {{"pads", Ints{40, 40}}, {"dilations", Ints{40}}}},
    {"igemm_u8s8 inside",
     {1, 16, 30, 20},
     {24, 16, 3, 3},
     {{"pads", Ints{-3, 9, 20, 9}}, {"dilations", Ints{9, 9}}}},
    // Each channel alone: whole blocks, parts of them, several pixels in one.
    {"dwconv_u8s8",
     {2, 64, 9, 8},
     {64, 1, 3, 3},
     {{"group", int64_t{64}}, {"pads", Ints{1, 1, 1, 1}}}},
    {"dwconv_u8s8", {1, 144, 6, 7}, {144, 1, 3, 3}, {{"group", int64_t{144}}}},
    {"dwconv_u8s8",
     {2, 96, 11, 10},
     {96, 1, 3, 3},
     {{"group", int64_t{96}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}},
    {"dwconv_u8s8",
     {1, 32, 8, 13},
     {32, 1, 3, 3},
     {{"group", int64_t{32}}, {"pads", Ints{1, 1, 1, 1}}}},
    {"dwconv_u8s8",
     {2, 16, 5, 9},
     {16, 1, 5, 5},
     {{"group", int64_t{16}}, {"pads", Ints{2, 2, 2, 2}}}},
    {"dwconv_u8s8",
     {1, 7, 9, 20},
     {7, 1, 2, 3},
     {{"group", int64_t{7}}, {"pads", Ints{1, 2, 0, 1}}}},
    {"dwconv_u8s8",
     {1, 70, 12, 12},
     {70, 1, 3, 2},
     {{"group", int64_t{70}}, {"dilations", Ints{2, 1}}, {"pads", Ints{2, 0, 2, 1}}}},
    {"dwconv_u8s8",
     {1, 24, 30},
     {24, 1, 7},
     {{"group", int64_t{24}}, {"dilations", Ints{2}}, {"pads", Ints{6, 6}}}},
    {"dwconv_u8s8",
     {1, 40, 3, 2},
     {40, 1, 5, 5},
     {{"group", int64_t{40}}, {"pads", Ints{4, 4, 4, 4}}}},
    {"dwconv_u8s8",
     {1, 3, 9, 2},
     {3, 1, 3, 1},
     {{"group", int64_t{3}}, {"pads", Ints{1, 0, 1, 0}}}},
    {"dwconv_u8s8", {3, 20, 4, 5}, {20, 1, 1, 1}, {{"group", int64_t{20}}}},
    {"dwconv_u8s8",
     {2, 32, 9, 13},
     {32, 1, 3, 3},
     {{"group", int64_t{32}}, {"pads", Ints{-1, -3, 1, 2}}}},
    {"dwconv_u8s8",
     {2, 32, 9, 13},
     {32, 1, 3, 3},
     {{"group", int64_t{32}}, {"strides", Ints{2, 2}}, {"pads", Ints{0, -5, -1, 0}}}},
    // Odd numbers of channels, in planes.
    {"first_layer_u8s8",
     {1, 3, 17, 19},
     {32, 3, 3, 3},
     {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}},
    {"first_layer_u8s8",
     {2, 3, 60, 61},
     {20, 3, 7, 7},
     {{"strides", Ints{2, 2}}, {"pads", Ints{3, 3, 3, 3}}}},
    {"first_layer_u8s8", {1, 1, 9, 30}, {16, 1, 5, 5}, {{"pads", Ints{0, 4, 2, 4}}}},
    {"first_layer_u8s8",
     {1, 6, 8, 9},
     {50, 6, 3, 1},
     {{"dilations", Ints{3, 1}}, {"pads", Ints{3, 0, 3, 0}}}},
    {"first_layer_u8s8", {3, 7, 6, 5}, {32, 7, 1, 1}, {}},
    {"first_layer_u8s8", {2, 3, 17, 40}, {32, 3, 3, 3}, {{"pads", Ints{-2, -9, 1, 1}}}},
    {"first_layer_u8s8", {2, 3, 17, 40}, {32, 3, 3, 3}, {{"pads", Ints{1, -20, -3, 4}}}},
    {"first_layer_u8s8", {2, 2, 40}, {18, 2, 9}, {{"strides", Ints{4}}, {"pads", Ints{4, 4}}}},
};

// Any bytes, or those of the largest sums.
Tensor drawn_bytes(DType dtype, const Shape& shape, bool extreme, uint32_t seed) {
  Tensor tensor = random_bytes(dtype, shape, seed);
  if (!extreme) return tensor;
  auto* bytes = static_cast<uint8_t*>(tensor.raw());
  const int highest = dtype == DType::kInt8 ? 0x7f : 0xff, lowest = highest == 0x7f ? 0x80 : 0;
  for (int64_t i = 0; i < tensor.count(); ++i)
    bytes[i] = static_cast<uint8_t>(bytes[i] % 8 == 0 ? lowest : highest);
  return tensor;
}

class ByteConvolution : public testing::TestWithParam<std::tuple<DType, DType, bool>> {
 protected:
  void SetUp() override {
    if (!cpu::has_igemm_u8s8() || !has_exact_byte_products()) GTEST_SKIP() << "no VNNI";
    if (onednn_uses_amx()) GTEST_SKIP() << "tiles are faster";
  }
};

void expect_exact_bytes(const ByteCase& c, const std::vector<Tensor>& inputs, int threads) {
  const OpDef& op = op_named("QLinearConv");
  const Attrs attrs = Attrs::parse(*op.attrs, c.attrs);
  std::vector<Datum> data;
  for (const Tensor& input : inputs)
    data.push_back(input ? Datum(input) : Datum());
  const Tensor expected = evaluate(op, attrs, data, 1)[0].tensor();
  RunOptions options;
  options.layouts = true;
  options.threads = threads;
  options.constants = 0b111111110;
  PreparedRun run(op, attrs, inputs, {Datum(expected).type()}, options);
  const bool is_copied = inputs[0].dtype() == DType::kInt8;
  EXPECT_EQ(run.prepared().implementation,
            c.implementation == "igemm_u8s8 inside" && is_copied ? "igemm_u8s8" : c.implementation)
      << to_text(c.w);
  run.run();
  EXPECT_EQ(run.outputs()[0], expected)
      << c.implementation << ' ' << to_text(c.x) << ' ' << to_text(c.w);
}

TEST_P(ByteConvolution, gives_the_integers_of_the_reference) {
  const auto [x_type, y_type, extreme] = GetParam();
  for (const ByteCase& c : kByteCases) {
    const int64_t outputs = c.w[0];
    const auto terms = static_cast<float>(element_count(c.w) / outputs);
    Tensor bias = Tensor::allocate(DType::kInt32, {outputs});
    Tensor w_scales = Tensor::allocate(DType::kFloat, {outputs});
    for (int64_t i = 0; i < outputs; ++i) {
      bias.mutable_values<int32_t>()[static_cast<size_t>(i)] = static_cast<int32_t>(i * 977 - 9000);
      // Powers of two lead to ties.
      w_scales.mutable_values<float>()[static_cast<size_t>(i)] =
          i % 3 == 0 ? 0.03125f : 0.01f + 0.0003f * static_cast<float>(i % 50);
    }
    const std::vector<Tensor> inputs{drawn_bytes(x_type, c.x, extreme, 1),
                                     Tensor::scalar(0.0625f),
                                     byte_tensor(x_type, extreme ? 0 : 113),
                                     drawn_bytes(DType::kInt8, c.w, extreme, 2),
                                     w_scales,
                                     Tensor::zeros(DType::kInt8, {outputs}),
                                     Tensor::scalar(0.5f * std::sqrt(terms)),
                                     byte_tensor(y_type, 101),
                                     bias};
    for (const int threads : {1, 2})
      expect_exact_bytes(c, inputs, threads);
  }
}

// Weights of uint8 with a zero point, one scale for all, no bias, a scale that is negative.
TEST_P(ByteConvolution, takes_weights_without_sign) {
  const auto [x_type, y_type, extreme] = GetParam();
  for (const ByteCase& c : kByteCases) {
    Tensor w = drawn_bytes(DType::kUInt8, c.w, false, 3);
    auto* values = static_cast<uint8_t*>(w.raw());
    for (int64_t i = 0; i < w.count(); ++i)
      values[i] = static_cast<uint8_t>(values[i] % 200 + 20);
    const std::vector<Tensor> inputs{drawn_bytes(x_type, c.x, extreme, 4),
                                     Tensor::scalar(0.02f),
                                     byte_tensor(x_type, 5),
                                     w,
                                     Tensor::scalar(extreme ? -0.01f : 0.01f),
                                     byte_tensor(DType::kUInt8, 120),
                                     Tensor::scalar(0.3f),
                                     byte_tensor(y_type, 255),
                                     Tensor()};
    expect_exact_bytes(c, inputs, 2);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ByteConvolution,
                         testing::Combine(testing::Values(DType::kUInt8, DType::kInt8),
                                          testing::Values(DType::kUInt8, DType::kInt8),
                                          testing::Bool()));

}  // namespace
}  // namespace sardonyx::onednn
