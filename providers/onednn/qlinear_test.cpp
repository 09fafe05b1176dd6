// QLinearConv, QLinearMatMul and QGemm give the reference's integers.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "ir/reference_evaluator.h"
#include "tests/support/bytes.h"
#include "tests/support/kernel_runner.h"

namespace sardonyx::onednn {
namespace {

using Ints = std::vector<int64_t>;

Tensor random_ints(int64_t count, int limit, uint32_t seed) {
  Tensor tensor = Tensor::allocate(DType::kInt32, {count});
  std::mt19937 generator(seed);
  for (int32_t& value : tensor.mutable_values<int32_t>()) {
    value = static_cast<int32_t>(generator() % (2 * static_cast<uint32_t>(limit))) - limit;
  }
  return tensor;
}

Tensor scales(int64_t count, float base) {
  Tensor tensor = Tensor::allocate(DType::kFloat, {count});
  for (int64_t i = 0; i < count; ++i) {
    tensor.mutable_values<float>()[static_cast<size_t>(i)] =
        base * (1 + 0.01f * static_cast<float>(i));
  }
  return tensor;
}

LayoutPtr channels_last_of(const Tensor& tensor) {
  const size_t rank = tensor.rank();
  if (rank < 3 || rank > 5) return nullptr;
  return layout_of(channels_last_desc(data_type_of(tensor.dtype()), tensor.shape()));
}

// Elements that differ from the reference's, all of them by one.
int64_t differences(const std::string& op_name, const AttrMap& attributes,
                    const std::vector<Tensor>& inputs, uint32_t constants, bool layouts) {
  const OpDef& op = op_named(op_name);
  const Attrs attrs = Attrs::parse(*op.attrs, attributes);
  std::vector<Datum> data;
  for (const Tensor& input : inputs)
    data.push_back(input ? Datum(input) : Datum());
  const Tensor expected = evaluate(op, attrs, data, 1)[0].tensor();
  RunOptions options;
  options.layouts = layouts;
  for (size_t i = 0; layouts && i < inputs.size(); ++i) {
    const bool is_constant = constants >> i & 1u;
    options.incoming.push_back(is_constant ? nullptr : channels_last_of(inputs[i]));
  }
  options.threads = 2;
  options.constants = constants;
  PreparedRun run(op, attrs, inputs, {Datum(expected).type()}, options);
  run.run();
  const std::vector<double> got = run.outputs()[0].to_doubles(), wanted = expected.to_doubles();
  int64_t different = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_LE(std::abs(got[i] - wanted[i]), 1)
        << op_name << ", element " << i << " by " << run.prepared().implementation;
    different += got[i] != wanted[i];
  }
  return different;
}

struct ConvCase {
  Shape x, w;
  AttrMap attrs;
  bool per_channel, has_bias;
};

const std::vector<ConvCase> kConvs = {
    {{1, 3, 17, 19},
     {32, 3, 3, 3},
     {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}},
     true,
     true},
    {{2, 32, 9, 8},
     {32, 1, 3, 3},
     {{"group", int64_t{32}}, {"pads", Ints{1, 1, 1, 1}}},
     true,
     true},
    {{1, 64, 7, 7}, {48, 64, 1, 1}, {}, false, false},
    // Weights that are a square of 8 x 8.
    {{1, 64, 5, 4}, {8, 8, 1, 1}, {{"group", int64_t{8}}}, true, true},
    {{1, 32, 9}, {8, 8, 1}, {{"group", int64_t{4}}}, false, false},
    {{1, 32, 12, 11},
     {64, 8, 3, 3},
     {{"group", int64_t{4}}, {"pads", Ints{1, 0, 1, 2}}},
     true,
     true},
    {{2, 16, 21}, {24, 16, 5}, {{"dilations", Ints{2}}}, false, true},
    {{1, 16, 5, 6, 7}, {16, 16, 3, 3, 3}, {{"pads", Ints{1, 1, 1, 1, 1, 1}}}, true, false},
};

class Quantized : public testing::TestWithParam<std::tuple<DType, DType>> {
 protected:
  void SetUp() override {
    if (!has_exact_byte_products()) GTEST_SKIP() << "no VNNI";
  }
  DType x_type() const { return std::get<0>(GetParam()); }
  DType y_type() const { return std::get<1>(GetParam()); }
};

TEST_P(Quantized, conv_gives_the_integers_of_the_reference) {
  for (const ConvCase& c : kConvs) {
    const int64_t channels = c.w[0];
    const double taps = static_cast<double>(element_count(c.w) / channels);
    // A power of two as well: then many results are at ties.
    for (const float y_scale : {0.013f * static_cast<float>(std::sqrt(taps)), 0.5f}) {
      const float x_scale = y_scale == 0.5f ? 0.0625f : 0.021f;
      const float w_scale = y_scale == 0.5f ? 0.03125f : 0.011f;
      const std::vector<Tensor> inputs{
          random_bytes(x_type(), c.x, 1),
          Tensor::scalar(x_scale),
          byte_tensor(x_type(), 113),
          random_bytes(DType::kInt8, c.w, 2),
          c.per_channel ? scales(channels, w_scale) : Tensor::scalar(w_scale),
          c.per_channel ? Tensor::zeros(DType::kInt8, {channels}) : byte_tensor(DType::kInt8, 0),
          Tensor::scalar(y_scale),
          byte_tensor(y_type(), 101),
          c.has_bias ? random_ints(channels, 20000, 3) : Tensor()};
      for (const bool layouts : {false, true}) {
        EXPECT_EQ(differences("QLinearConv", c.attrs, inputs, 0b011111110, layouts), 0)
            << to_text(c.x) << " " << to_text(c.w) << " to " << y_scale;
      }
    }
  }
}

// oneDNN 2.6 has no code for few channels of a group, though it says so: that is no error of a run.
TEST_P(Quantized, conv_is_exact_or_left_to_others) {
  const std::vector<Tensor> inputs{random_bytes(x_type(), {2, 8, 13}, 1),
                                   Tensor::scalar(0.02f),
                                   byte_tensor(x_type(), 113),
                                   random_bytes(DType::kInt8, {8, 4, 1}, 2),
                                   scales(8, 0.01f),
                                   Tensor::zeros(DType::kInt8, {8}),
                                   Tensor::scalar(0.05f),
                                   byte_tensor(y_type(), 101)};
  for (const bool layouts : {false, true}) {
    try {
      EXPECT_EQ(differences("QLinearConv", {{"group", int64_t{2}}}, inputs, 0b011111110, layouts),
                0);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << error.what();
    }
  }
}

// The reference of products scales in double or in two steps: next to a tie they may differ.
TEST_P(Quantized, products_give_the_integers_of_the_reference) {
  const Shape a_shapes[] = {{33, 64}, {2, 5, 40}, {1, 100}};
  for (const Shape& a_shape : a_shapes) {
    const int64_t k = a_shape.back(), n = 48;
    const Tensor a = random_bytes(x_type(), a_shape, 4);
    const Tensor b = random_bytes(DType::kInt8, {k, n}, 5);
    const Tensor a_scale = Tensor::scalar(0.02f), a_zero = byte_tensor(x_type(), 77);
    const Tensor b_scale = scales(n, 0.01f), b_zero = Tensor::zeros(DType::kInt8, {n});
    const Tensor y_scale = Tensor::scalar(0.31f), y_zero = byte_tensor(y_type(), 99);
    EXPECT_LE(differences("QLinearMatMul", {},
                          {a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero}, 0xfe, true),
              1);
    if (a_shape.size() != 2) continue;
    const Tensor bias = random_ints(n, 10000, 6);
    EXPECT_LE(
        differences("com.microsoft::QGemm", {},
                    {a, a_scale, a_zero, b, b_scale, b_zero, bias, y_scale, y_zero}, 0x1fe, true),
        1);
    const Tensor transposed = random_bytes(DType::kInt8, {n, k}, 7);
    EXPECT_LE(differences("com.microsoft::QGemm", {{"transB", int64_t{1}}, {"alpha", 0.5f}},
                          {a, a_scale, a_zero, transposed, b_scale, b_zero, {}, y_scale, y_zero},
                          0x1fe, true),
              1);
  }
}

// A mean is taken of exact sums, the reference's of rounded products: next to a tie they may
// differ.
TEST_P(Quantized, pools_give_the_integers_of_the_reference) {
  const Tensor x_scale = Tensor::scalar(0.02f), x_zero = byte_tensor(x_type(), 60);
  const Tensor y_scale = Tensor::scalar(0.017f), y_zero = byte_tensor(x_type(), 70);
  const auto inputs = [&](const Shape& shape) {
    return std::vector{random_bytes(x_type(), shape, 8), x_scale, x_zero, y_scale, y_zero};
  };
  const AttrMap windows{{"kernel_shape", Ints{3, 3}},
                        {"strides", Ints{2, 2}},
                        {"pads", Ints{1, 1, 1, 1}},
                        {"ceil_mode", int64_t{1}}};
  AttrMap counting = windows;
  counting["count_include_pad"] = int64_t{1};
  counting["ceil_mode"] = int64_t{0};
  for (const bool layouts : {false, true}) {
    const auto check = [&](const char* op, const AttrMap& attrs, const Shape& shape) {
      EXPECT_LE(differences(op, attrs, inputs(shape), 0, layouts), 2) << op << to_text(shape);
    };
    check("com.microsoft::QLinearGlobalAveragePool", {{"channels_last", int64_t{0}}},
          {2, 300, 7, 7});
    check("com.microsoft::QLinearGlobalAveragePool", {{"channels_last", int64_t{1}}},
          {1, 9, 8, 40});
    check("com.microsoft::QLinearAveragePool", windows, {2, 40, 16, 15});
    check("com.microsoft::QLinearAveragePool", counting, {2, 40, 9, 10});
    check("com.microsoft::QLinearAveragePool", {{"kernel_shape", Ints{2}}}, {1, 5, 12});
    check("com.microsoft::QLinearAveragePool",
          {{"kernel_shape", Ints{1, 3, 2}},
           {"strides", Ints{1, 2, 3}},
           {"pads", Ints{0, 1, 1, 0, 1, 0}}},
          {1, 3, 4, 6, 150});
    check("com.microsoft::QLinearAveragePool",
          {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"channels_last", int64_t{1}}},
          {1, 9, 8, 300});
  }
}

TEST_P(Quantized, concat_gives_the_integers_of_the_reference) {
  const Tensor y_scale = Tensor::scalar(0.03f), y_zero = byte_tensor(y_type(), 20);
  for (const int64_t axis : {1, 2, 0}) {
    Shape other{2, 24, 5, 6};
    other[static_cast<size_t>(axis)] += 3;
    const std::vector<Tensor> inputs{y_scale,
                                     y_zero,
                                     random_bytes(x_type(), {2, 24, 5, 6}, 9),
                                     Tensor::scalar(0.05f),
                                     byte_tensor(x_type(), 7),
                                     random_bytes(y_type(), other, 10),
                                     y_scale,
                                     y_zero};
    for (const bool layouts : {false, true}) {
      EXPECT_EQ(differences("com.microsoft::QLinearConcat", {{"axis", axis}}, inputs, 0b11011011,
                            layouts),
                0)
          << "axis " << axis;
    }
    EXPECT_EQ(differences("Concat", {{"axis", axis}}, {inputs[5], inputs[5]}, 0, true), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Quantized,
                         testing::Combine(testing::Values(DType::kUInt8, DType::kInt8),
                                          testing::Values(DType::kUInt8, DType::kInt8)));

}  // namespace
}  // namespace sardonyx::onednn
