// Integer convolutions and products are the reference's, in every combination of signs, zero
// points, strides, groups and transpositions.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/reference_evaluator.h"
#include "providers/cpu/provider.h"
#include "tests/support/bytes.h"

namespace sardonyx {
namespace {

using Ints = std::vector<int64_t>;

// Runs the op by this provider in all ways; the number of elements that differ from the
// reference's.
int64_t differences(const char* name, const AttrMap& attributes,
                    const std::vector<Tensor>& inputs) {
  const OpDef& op = op_named(name);
  const Attrs attrs = Attrs::parse(*op.attrs, attributes);
  std::vector<Datum> data;
  for (const Tensor& input : inputs)
    data.push_back(input ? Datum(input) : Datum());
  const Tensor expected = evaluate(op, attrs, data, 1)[0].tensor();
  int64_t different = 0;
  for (const bool constants : {false, true}) {
    for (const int threads : {1, 2}) {
      std::vector<KernelTensor> in;
      for (const Tensor& input : inputs)
        in.push_back(
            {input.dtype(), input.shape(), nullptr, constants && input ? &input : nullptr});
      in[0].constant = nullptr;
      const KernelTensor out[] = {{expected.dtype(), expected.shape()}};
      KernelRequest request{op, attrs, in, out};
      request.threads = threads;
      for (const KernelEntry& entry : cpu_provider().kernels) {
        if (entry.op != name) continue;
        const Prepared prepared = entry.prepare(request);
        if (!prepared.kernel) {
          ADD_FAILURE() << name << " is refused: " << prepared.refusal;
          return -1;
        }
        std::vector<const void*> sources;
        for (size_t i = 0; i < inputs.size(); ++i)
          sources.push_back(prepared.unread_inputs >> i & 1u ? nullptr : inputs[i].raw());
        const Tensor got = Tensor::allocate(expected.dtype(), expected.shape());
        void* targets[] = {got.raw()};
        const auto scratch = Buffer::allocate(prepared.kernel->scratch_bytes());
        prepared.kernel->run({sources.data(), targets, scratch->data()});
        const auto a = got.to_doubles(), b = expected.to_doubles();
        for (size_t i = 0; i < a.size(); ++i)
          different += a[i] != b[i];
      }
    }
  }
  return different;
}

class IntegerKernels : public testing::TestWithParam<std::tuple<DType, DType>> {
 protected:
  DType x_type() const { return std::get<0>(GetParam()); }
  DType w_type() const { return std::get<1>(GetParam()); }
  Tensor x(const Shape& shape) const { return random_bytes(x_type(), shape, 1); }
  Tensor w(const Shape& shape) const { return random_bytes(w_type(), shape, 2); }
  Tensor x_zero(const Shape& shape = {}) const { return random_bytes(x_type(), shape, 3); }
  Tensor w_zero(const Shape& shape = {}) const { return random_bytes(w_type(), shape, 4); }
};

TEST_P(IntegerKernels, convolutions) {
  const struct {
    Shape x, w;
    AttrMap attrs;
  } cases[] = {
      {{1, 3, 28, 30}, {9, 3, 5, 5}, {{"auto_pad", std::string("SAME_UPPER")}}},
      {{2, 4, 9, 70}, {6, 2, 3, 3}, {{"group", int64_t{2}}, {"strides", Ints{2, 1}}}},
      {{1, 6, 11, 13}, {6, 1, 3, 2}, {{"group", int64_t{6}}, {"dilations", Ints{2, 3}}}},
      {{2, 3, 140}, {5, 3, 7}, {{"pads", Ints{6, 2}}, {"strides", Ints{3}}}},
      {{1, 2, 5, 6, 7}, {3, 2, 3, 2, 3}, {{"pads", Ints{1, 0, 2, 1, 1, 0}}}},
      {{1, 20, 9, 16}, {17, 20, 3, 3}, {{"pads", Ints{1, 1, 1, 1}}}},
      {{1, 8, 9, 9}, {4, 8, 1, 1}, {{"strides", Ints{2, 2}}}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(to_text(c.x) + to_text(c.w));
    const int64_t channels = c.w[0];
    EXPECT_EQ(differences("ConvInteger", c.attrs, {x(c.x), w(c.w), x_zero(), w_zero()}), 0);
    EXPECT_EQ(differences("ConvInteger", c.attrs, {x(c.x), w(c.w), {}, w_zero({channels})}), 0);
    EXPECT_EQ(differences("ConvInteger", c.attrs, {x(c.x), w(c.w)}), 0);
    std::vector<float> scales;
    std::vector<int32_t> bias;
    for (int64_t i = 0; i < channels; ++i) {
      scales.push_back(0.004f + 0.0001f * static_cast<float>(i));
      bias.push_back(static_cast<int32_t>(i * 1000 - 2000));
    }
    const Tensor y_zero = random_bytes(x_type(), {}, 5);
    EXPECT_EQ(differences("QLinearConv", c.attrs,
                          {x(c.x), Tensor::scalar(0.02f), x_zero(), w(c.w), Tensor::vector(scales),
                           w_zero({channels}), Tensor::scalar(0.1f), y_zero, Tensor::vector(bias)}),
              0);
  }
}

TEST_P(IntegerKernels, products) {
  const std::pair<Shape, Shape> cases[] = {
      {{5, 17}, {17, 70}}, {{70, 64}, {64, 64}}, {{2, 3, 9, 33}, {3, 33, 5}}, {{1, 256}, {256, 10}},
      {{40}, {40, 7}},     {{3, 40}, {40}},      {{4, 1, 6, 8}, {2, 8, 9}}};
  for (const auto& [a, b] : cases) {
    SCOPED_TRACE(to_text(a) + to_text(b));
    EXPECT_EQ(differences("MatMulInteger", {}, {x(a), w(b), x_zero(), w_zero()}), 0);
    EXPECT_EQ(differences("MatMulInteger", {}, {x(a), w(b)}), 0);
    if (a.size() != 2 || b.size() != 2) continue;
    EXPECT_EQ(differences("MatMulInteger", {}, {x(a), w(b), x_zero({a[0]}), w_zero({b[1]})}), 0);
    std::vector<float> row;
    std::vector<int32_t> bias;
    for (int64_t i = 0; i < b[1]; ++i) {
      row.push_back(0.004f + 0.0001f * static_cast<float>(i));
      bias.push_back(static_cast<int32_t>(i * 1000 - 2000));
    }
    const Tensor scale = Tensor::scalar(0.02f), scales = Tensor::vector(row);
    EXPECT_EQ(differences("com.microsoft::MatMulIntegerToFloat", {},
                          {x(a), w(b), scale, scales, x_zero(), w_zero({b[1]}), scales}),
              0);
    // The references of these scale in double or in two steps: next to a tie they may differ.
    const Tensor y_scale = Tensor::scalar(0.3f), y_zero = random_bytes(x_type(), {}, 5);
    const int64_t most = element_count(a) * b[1] / 1000 + 4;
    EXPECT_LE(differences("QLinearMatMul", {},
                          {x(a), scale, x_zero(), w(b), scales, w_zero({b[1]}), y_scale, y_zero}),
              most);
    EXPECT_LE(differences("com.microsoft::QGemm",
                          {{"transA", int64_t{1}}, {"transB", int64_t{1}}, {"alpha", 0.5f}},
                          {x({a[1], a[0]}), scale, x_zero(), w({b[1], b[0]}), scales,
                           w_zero({b[1]}), Tensor::vector(bias), y_scale, y_zero}),
              most);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, IntegerKernels,
                         testing::Combine(testing::Values(DType::kUInt8, DType::kInt8),
                                          testing::Values(DType::kUInt8, DType::kInt8)));

// Sums of two bytes at a rounding tie, and sizes past whole vectors.
TEST(QuantizedRows, add_and_multiply_round_as_the_reference) {
  for (const DType dtype : {DType::kUInt8, DType::kInt8}) {
    const Tensor a = random_bytes(dtype, {3, 1, 257}, 6), b = random_bytes(dtype, {5, 257}, 7);
    const Tensor zero = random_bytes(dtype, {}, 8);
    for (const float scale : {0.5f, 0.37f}) {
      const Tensor s = Tensor::scalar(scale), y = Tensor::scalar(2 * scale);
      const std::vector<Tensor> inputs{a, s, zero, b, s, zero, y, zero};
      EXPECT_EQ(differences("com.microsoft::QLinearAdd", {}, inputs), 0) << scale;
      EXPECT_EQ(differences("com.microsoft::QLinearMul", {}, inputs), 0) << scale;
      EXPECT_EQ(differences("sardonyx::QdqMul", {}, inputs), 0) << scale;
    }
  }
}

}  // namespace
}  // namespace sardonyx
