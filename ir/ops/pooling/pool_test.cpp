#include "ir/ops/pooling/pool.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/support/call_op.h"

namespace sardonyx::ops {
namespace {

using Ints = std::vector<int64_t>;

Tensor counting(const Shape& shape) {
  Tensor tensor = Tensor::allocate(DType::kFloat, shape);
  const std::span<float> values = tensor.mutable_values<float>();
  std::iota(values.begin(), values.end(), 1.0f);
  return tensor;
}

TEST(Pool, AverageCountsWhatIsInside) {
  const Tensor x = counting({1, 1, 4});  // 1 2 3 4
  struct Case {
    AttrMap attrs;
    std::vector<double> expected;
  };
  const Case cases[] = {
      {{{"kernel_shape", Ints{3}}, {"pads", Ints{1, 1}}}, {1.5, 2, 3, 3.5}},
      {{{"kernel_shape", Ints{3}}, {"pads", Ints{1, 1}}, {"count_include_pad", int64_t{1}}},
       {1, 2, 3, 7.0 / 3}},
      // The last window reaches beyond input and padding; what is beyond counts for nothing.
      {{{"kernel_shape", Ints{3}},
        {"strides", Ints{2}},
        {"pads", Ints{0, 0}},
        {"ceil_mode", int64_t{1}},
        {"count_include_pad", int64_t{1}}},
       {2, 3.5}},
      {{{"kernel_shape", Ints{2}}, {"dilations", Ints{2}}}, {2, 3}},
      {{{"kernel_shape", Ints{3}}, {"strides", Ints{2}}, {"auto_pad", std::string("SAME_LOWER")}},
       {1.5, 3}},
  };
  for (const Case& c : cases)
    expect_near(run_op("AveragePool", {x}, c.attrs)[0], c.expected, 1e-6);
}

TEST(Pool, CeilModeTakesAWindowThatExceedsThePaddedInputByLessThanTheStride) {
  const Tensor square = counting({1, 1, 2, 2});  // 1 2 3 4
  const AttrMap larger{
      {"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"ceil_mode", int64_t{1}}};
  AttrMap padded = larger;
  padded["count_include_pad"] = int64_t{1};
  const auto pooled = [&](std::string_view op, const Tensor& x, const AttrMap& attrs) {
    const Tensor y = run_op(op, {x}, attrs)[0].tensor();
    EXPECT_EQ(y.shape(), Shape(x.rank(), 1));
    return y.to_doubles();
  };
  using Doubles = std::vector<double>;
  EXPECT_EQ(pooled("MaxPool", square, larger), Doubles{4});
  EXPECT_EQ(pooled("AveragePool", square, larger), Doubles{2.5});
  EXPECT_EQ(pooled("AveragePool", square, padded), Doubles{2.5});
  EXPECT_NEAR(pooled("LpPool", square, larger)[0], std::sqrt(30.0), 1e-6);
  const AttrMap pair{{"kernel_shape", Ints{2}}, {"strides", Ints{2}}, {"ceil_mode", int64_t{1}}};
  EXPECT_EQ(pooled("MaxPool", counting({1, 1, 1}), pair), Doubles{1});
}

// By ONNX's formula and in ONNX Runtime. Where they differ the pool is refused.
TEST(Pool, AWindowThatExceedsThePaddedInputByTheStrideHasNoPlace) {
  const Tensor square = counting({1, 1, 2, 2});
  for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) {
    for (const auto& [is_ceil, kernel] :
         std::vector<std::pair<bool, int64_t>>{{false, 4}, {true, 4}, {true, 5}}) {
      const AttrMap attrs{{"kernel_shape", Ints{kernel, kernel}},
                          {"strides", Ints{2, 2}},
                          {"ceil_mode", int64_t{is_ceil}}};
      EXPECT_EQ(run_op(op, {square}, attrs)[0].tensor().shape(), (Shape{1, 1, 0, 0})) << kernel;
    }
    for (const auto& [is_ceil, kernel] :
         std::vector<std::pair<bool, int64_t>>{{false, 3}, {false, 5}, {true, 6}}) {
      const AttrMap attrs{{"kernel_shape", Ints{kernel, kernel}},
                          {"strides", Ints{2, 2}},
                          {"ceil_mode", int64_t{is_ceil}}};
      EXPECT_NE(error_of(op, {square}, attrs).find("kernel: expected at most the padded"),
                std::string::npos)
          << kernel;
    }
  }
}

TEST(Pool, MaximumAndIndices) {
  const Tensor x = Tensor::of(std::vector<float>{3, 1, 2, 9, 9, 4, 0, 5, 7, 8, 6, 2}, {1, 2, 2, 3});
  const AttrMap rows{{"kernel_shape", Ints{2, 2}}};
  const auto by_rows = run_op("MaxPool", {x}, rows, 2);
  expect_near(by_rows[0], {9, 9, 8, 7}, 0);
  EXPECT_EQ(elements<int64_t>(by_rows[1]), (Ints{3, 4, 9, 8}));
  AttrMap columns = rows;
  columns["storage_order"] = int64_t{1};
  const auto by_columns = run_op("MaxPool", {x}, columns, 2);
  EXPECT_EQ(elements<int64_t>(by_columns[1]), (Ints{1, 3, 7, 10}));
}

TEST(Pool, NanLosesToNumbers) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = Tensor::of(std::vector<float>{nan, -1, nan, nan, nan, 2}, {1, 1, 6});
  const auto y = run_op("MaxPool", {x}, {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}});
  const std::vector<float> values = elements<float>(y[0]);
  EXPECT_EQ(values[0], -1);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_EQ(values[2], 2);
}

TEST(Pool, UnpoolUndoesMaxPool) {
  const AttrMap attrs{{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}};
  const Tensor x = counting({2, 2, 4, 4});
  const auto pooled = run_op("MaxPool", {x}, attrs, 2);
  // Indices count through all channels; MaxUnpool reads them the same way.
  const Tensor back = run_op("MaxUnpool", {pooled[0], pooled[1]}, attrs)[0].tensor();
  ASSERT_EQ(back.shape(), x.shape());
  for (size_t i = 0; i < 64; ++i) {
    const bool is_corner = i % 2 == 1 && i / 4 % 2 == 1;
    EXPECT_EQ(back.values<float>()[i], is_corner ? x.values<float>()[i] : 0) << i;
  }
}

TEST(Pool, Norms) {
  const Tensor x = Tensor::of(std::vector<float>{3, -4, 0, 2}, {1, 1, 4});
  expect_near(run_op("GlobalLpPool", {x}, {{"p", int64_t{1}}})[0], {9}, 1e-6);
  expect_near(run_op("LpPool", {x}, {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}})[0], {5, 2},
              1e-6);
  expect_near(run_op("GlobalLpPool", {x}, {{"p", int64_t{3}}})[0], {std::cbrt(27 + 64 + 8)}, 1e-5);
}

TEST(Pool, RegionsThatAreNoRegions) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = counting({1, 1, 4, 4});
  const Tensor batch = Tensor::vector<int64_t>({0});
  for (const float far : {infinity, -infinity, nan, 1e30f, -1e30f}) {
    for (int corner = 0; corner < 4; ++corner) {
      std::vector<float> roi{0, 0, 3, 3};
      roi[static_cast<size_t>(corner)] = far;
      const Tensor rois = Tensor::of(roi, {1, 4});
      const auto y = run_op("RoiAlign", {x, rois, batch}, {{"output_height", int64_t{2}}});
      EXPECT_EQ(y[0].tensor().shape(), (Shape{1, 1, 2, 1}));
      roi.insert(roi.begin(), 0);
      run_op("MaxRoiPool", {x, Tensor::of(roi, {1, 5})}, {{"pooled_shape", Ints{2, 2}}});
    }
  }
}

TEST(Pool, RoiAlignOfAPlane) {
  // Samples of a linear image are exact: the mean of a bin is the image at its middle.
  const Tensor x = counting({1, 1, 8, 8});
  const Tensor rois = Tensor::of(std::vector<float>{1.5f, 2.5f, 5.5f, 4.5f}, {1, 4});
  const auto y = run_op("RoiAlign", {x, rois, Tensor::vector<int64_t>({0})},
                        {{"output_height", int64_t{1}}, {"output_width", int64_t{2}}});
  // Middles: row 3.5 - 0.5, columns 2.5 - 0.5 and 4.5 - 0.5.
  expect_near(y[0], {1 + 3 * 8 + 2, 1 + 3 * 8 + 4}, 1e-5);
}

}  // namespace
}  // namespace sardonyx::ops
