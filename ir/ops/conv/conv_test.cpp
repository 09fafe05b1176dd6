#include "ir/ops/conv/conv.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/support/call_op.h"

namespace sardonyx::ops {
namespace {

using Ints = std::vector<int64_t>;

Tensor random_doubles(const Shape& shape, unsigned seed) {
  std::mt19937 generator(seed);
  Tensor tensor = Tensor::allocate(DType::kDouble, shape);
  for (double& value : tensor.mutable_values<double>()) {
    value = static_cast<double>(static_cast<int>(generator() % 17) - 8);
  }
  return tensor;
}

double dot(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (int64_t i = 0; i < a.count(); ++i) {
    sum += a.values<double>()[static_cast<size_t>(i)] * b.values<double>()[static_cast<size_t>(i)];
  }
  return sum;
}

struct Case {
  Shape x, w;
  int64_t group;
  Ints strides, dilations, pads;
  AttrMap attrs() const {
    return {{"group", group}, {"strides", strides}, {"dilations", dilations}, {"pads", pads}};
  }
};

const Case kCases[] = {
    {{1, 1, 5}, {1, 1, 3}, 1, {1}, {1}, {0, 0}},
    {{2, 4, 9}, {6, 2, 3}, 2, {2}, {2}, {3, 1}},
    {{1, 3, 6, 5}, {2, 3, 3, 2}, 1, {1, 1}, {1, 1}, {1, 0, 1, 1}},
    {{2, 4, 7, 8}, {4, 1, 2, 3}, 4, {2, 3}, {2, 1}, {0, 2, 1, 2}},
    {{1, 2, 5, 4, 6}, {2, 1, 2, 3, 2}, 2, {1, 2, 2}, {2, 1, 1}, {1, 1, 0, 0, 1, 1}},
    {{1, 1, 6}, {1, 1, 2}, 1, {1}, {1}, {-1, -2}},  // negative pads crop
};

// One output of a convolution by its definition, for tensors of rank 5.
double output_by_loops(const Tensor& x, const Tensor& w, const Case& c, const Shape& at) {
  const Shape &xs = x.shape(), &ws = w.shape();
  const int64_t group = at[1] / (ws[0] / c.group);
  double sum = 0;
  for (int64_t i = 0; i < w.count() / ws[0]; ++i) {
    int64_t rest = i, x_at = 0, step = 1;
    bool is_inside = true;
    for (size_t axis = 4; axis > 1; --axis) {
      const int64_t tap = rest % ws[axis];
      rest /= ws[axis];
      const int64_t position =
          at[axis] * c.strides[axis - 2] - c.pads[axis - 2] + tap * c.dilations[axis - 2];
      is_inside &= position >= 0 && position < xs[axis];
      x_at += position * step;
      step *= xs[axis];
    }
    if (!is_inside) continue;
    x_at += ((at[0] * xs[1]) + group * ws[1] + rest) * step;
    sum += x.values<double>()[static_cast<size_t>(x_at)] *
           w.values<double>()[static_cast<size_t>(at[1] * (w.count() / ws[0]) + i)];
  }
  return sum;
}

// The same convolution with axes of one element added before the spatial ones, up to three of them.
Case with_three_axes(Case c) {
  while (c.x.size() < 5) {
    c.x.insert(c.x.begin() + 2, 1);
    c.w.insert(c.w.begin() + 2, 1);
    c.strides.insert(c.strides.begin(), 1);
    c.dilations.insert(c.dilations.begin(), 1);
    c.pads.insert(c.pads.begin() + static_cast<int64_t>(c.pads.size() / 2), 0);
    c.pads.insert(c.pads.begin(), 0);
  }
  return c;
}

TEST(Convolution, IsTheSumOverTaps) {
  for (const Case& c : kCases) {
    const Case wide = with_three_axes(c);
    const Tensor x = random_doubles(c.x, 1), w = random_doubles(c.w, 2);
    const Tensor y = run_op("Conv", {x, w}, c.attrs())[0].tensor();
    const Tensor y_wide =
        run_op("Conv", {x.reshaped(wide.x), w.reshaped(wide.w)}, wide.attrs())[0].tensor();
    ASSERT_EQ(y.reshaped(y_wide.shape()), y_wide) << to_text(c.x);
    Shape at(5, 0);
    for (const double value : y_wide.values<double>()) {
      ASSERT_EQ(value, output_by_loops(x.reshaped(wide.x), w.reshaped(wide.w), wide, at))
          << to_text(c.x) << " at " << to_text(at);
      for (size_t axis = 5; axis-- > 0;) {
        if (++at[axis] < y_wide.shape()[axis]) break;
        at[axis] = 0;
      }
    }
  }
}

// <Conv(x), y> = <x, ConvTranspose(y)>: the one is the adjoint of the other.
TEST(Convolution, TransposeIsTheAdjoint) {
  for (const Case& c : kCases) {
    const Tensor x = random_doubles(c.x, 3), w = random_doubles(c.w, 4);
    const Tensor y = run_op("Conv", {x, w}, c.attrs())[0].tensor();
    const Tensor other = random_doubles(y.shape(), 5);
    AttrMap attrs = c.attrs();
    Ints padding;  // what Conv's stride left unread at the end
    for (size_t axis = 2; axis < c.x.size(); ++axis) {
      const size_t i = axis - 2;
      const int64_t natural = (y.shape()[axis] - 1) * c.strides[i] +
                              (c.w[axis] - 1) * c.dilations[i] + 1 - c.pads[i] -
                              c.pads[i + c.x.size() - 2];
      padding.push_back(c.x[axis] - natural);
    }
    attrs["output_padding"] = padding;
    const Tensor back = run_op("ConvTranspose", {other, w}, attrs)[0].tensor();
    ASSERT_EQ(back.shape(), c.x);
    EXPECT_EQ(dot(y, other), dot(x, back)) << to_text(c.x);
  }
}

TEST(Convolution, IntegersAreExact) {
  const Tensor x = Tensor::of(std::vector<uint8_t>{0, 255, 128, 7}, {1, 1, 4});
  const Tensor w = Tensor::of(std::vector<int8_t>{-128, 127}, {1, 1, 2});
  const Tensor x_zero = Tensor::scalar<uint8_t>(128), w_zero = Tensor::vector<int8_t>({1});
  const auto y = run_op("ConvInteger", {x, w, x_zero, w_zero});
  EXPECT_EQ(elements<int32_t>(y[0]),
            (std::vector<int32_t>{-128 * -129 + 127 * 126, 127 * -129, -121 * 126}));
}

TEST(Convolution, HalfPrecisionRoundsOnce) {
  const std::vector<Float16> ones(4096, Float16(1.0f));
  const auto y = run_op("Conv", {Tensor::of(ones, {1, 4096, 1}), Tensor::of(ones, {1, 4096, 1})});
  expect_near(y[0], {4096}, 0);  // a half can't count beyond 2048
}

// With offsets of 0 and a mask of ones, DeformConv is Conv.
TEST(Convolution, DeformConvWithoutOffsetsIsConv) {
  for (const Case& c : kCases) {
    const Tensor x = random_doubles(c.x, 6), w = random_doubles(c.w, 7);
    const Tensor y = run_op("Conv", {x, w}, c.attrs())[0].tensor();
    Shape offset_shape = y.shape();
    offset_shape[1] = w.count() / c.w[0] / c.w[1] * static_cast<int64_t>(c.x.size() - 2);
    const Tensor offset = Tensor::zeros(DType::kDouble, offset_shape);
    EXPECT_EQ(run_op("DeformConv", {x, w, offset}, c.attrs())[0].tensor(), y) << to_text(c.x);
  }
}

TEST(Convolution, Col2ImAddsOverlappingBlocks) {
  const Tensor blocks = Tensor::of(std::vector<float>(6, 1), {1, 2, 3});
  const Tensor image = Tensor::vector<int64_t>({4}), block = Tensor::vector<int64_t>({2});
  expect_near(run_op("Col2Im", {blocks, image, block})[0], {1, 2, 2, 1}, 0);
}

TEST(Convolution, SymbolicDims) {
  const Dim height = Dim::symbol("h"), batch = Dim::symbol("n");
  const InferInput inputs[] = {{Type::tensor(DType::kFloat, Dims{batch, 3, height, 8})},
                               {Type::tensor(DType::kFloat, Dims{16, 3, 3, 3})}};
  const OpDef& conv = op_named("Conv");
  const Attrs attrs =
      Attrs::parse(*conv.attrs, {{"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}});
  const auto out = infer(conv, attrs, inputs, 2, 1, [] { return Dim::symbol("?"); });
  EXPECT_EQ(*out[0].type.shape, (Dims{batch, 16, floor_div(height - 1, 2) + 1, 4}));
}

TEST(Convolution, Refuses) {
  const auto zeros = [](const Shape& shape) { return Tensor::zeros(DType::kFloat, shape); };
  const Tensor x = zeros({1, 4, 5, 5});
  EXPECT_NE(error_of("Conv", {x, zeros({3, 4, 3, 3}), zeros({2})}).find("input B"),
            std::string::npos);
  EXPECT_NE(error_of("Conv", {x, zeros({3, 2, 3, 3})}).find("channels"), std::string::npos);
  EXPECT_NE(error_of("Conv", {x, zeros({3, 2, 3, 3})}, {{"group", int64_t{2}}}).find("group"),
            std::string::npos);
  EXPECT_NE(error_of("Conv", {x, zeros({4, 4, 3, 3})}, {{"kernel_shape", Ints{3, 2}}})
                .find("kernel_shape"),
            std::string::npos);
  EXPECT_NE(error_of("Conv", {x, zeros({4, 4, 3})}).find("input W"), std::string::npos);
}

}  // namespace
}  // namespace sardonyx::ops
