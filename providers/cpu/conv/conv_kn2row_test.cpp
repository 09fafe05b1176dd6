// Dilated convolutions computed tap by tap: parts of the padding are skipped.
#include "providers/cpu/conv/conv_for_test.h"

namespace sardonyx::onednn {
namespace {

// Sums of some thousand products in another order than the reference's.
ConvLayer far(int64_t inputs, int64_t outputs, Shape size, Ints kernel, AttrMap attrs) {
  ConvLayer layer = direct(inputs, outputs, std::move(size), std::move(kernel), std::move(attrs));
  layer.tolerance = 1e-4f;
  return layer;
}

TEST(Kn2row, Dilations) {
  for (const int64_t dilation : {6, 12, 40}) {  // the last reads padding but for one tap
    const Ints dilations{dilation, dilation}, pads(4, dilation);
    for (const Shape& size : {Shape{24, 26}, {13, 17}, {5, 40}}) {
      ConvLayer layer = far(448, 48, size, {3, 3}, window_attrs(1, {1, 1}, pads, dilations));
      expect_conv(layer, "kn2row", true);
      layer.has_residual = true;
      expect_conv(layer, "kn2row", true);
    }
  }
}

// Small images that most taps miss, though their padded tiles would fit a cache.
TEST(Kn2row, SmallImages) {
  for (const Shape& size : {Shape{11, 11}, {4, 4}, {1, 1}, {3, 14}}) {
    for (const auto& [inputs, outputs] : {std::pair{96, 123}, {150, 20}}) {
      expect_conv(
          far(inputs, outputs, size, {3, 3}, window_attrs(1, {1, 1}, {12, 12, 12, 12}, {12, 12})),
          "kn2row", true);
    }
  }
}

TEST(Kn2row, AnyWindows) {
  const auto layer = [](Ints kernel, Ints strides, Ints pads, Ints dilations) {
    return far(288, 40, {21, 30}, std::move(kernel),
               window_attrs(1, std::move(strides), std::move(pads), std::move(dilations)));
  };
  expect_conv(layer({3, 3}, {2, 2}, {12, 12, 12, 12}, {12, 12}), "kn2row", true);
  expect_conv(layer({3, 3}, {3, 2}, {13, 9, 11, 15}, {12, 12}), "kn2row", true);
  expect_conv(layer({2, 2}, {1, 1}, {0, 0, 20, 20}, {20, 20}), "kn2row", true);
  expect_conv(layer({5, 5}, {1, 1}, {8, 8, 8, 8}, {4, 4}), "kn2row", true);
  expect_conv(layer({3, 1}, {1, 1}, {18, 0, 18, 0}, {18, 1}), "kn2row", true);
  expect_conv(layer({3, 3}, {1, 1}, {-1, -2, 30, 30}, {12, 12}), "kn2row", true);
}

TEST(Kn2row, Lines) {
  for (const int64_t stride : {1, 2}) {
    expect_conv(far(448, 48, {300}, {3}, window_attrs(1, {stride}, {256, 256}, {256})), "kn2row",
                true);
    expect_conv(far(448, 48, {40}, {3}, window_attrs(1, {stride}, {512, 0}, {256})), "kn2row",
                true);
  }
}

TEST(Kn2row, GroupsAndChannels) {
  for (const auto& [inputs, outputs] : {std::pair{100, 20}, {112, 16}, {112, 33}, {128, 48}}) {
    const ConvLayer layer =
        far(inputs, outputs, {20, 30}, {3, 3}, window_attrs(2, {1, 1}, {24, 24, 24, 24}, {24, 24}));
    expect_conv(layer, "kn2row", true);
  }
}

TEST(Kn2row, ResidualsAndActivations) {
  for (const auto& [name, params] : kActivations) {
    for (const bool has_residual : {false, true}) {
      for (const int64_t outputs : {48, 50}) {
        ConvLayer layer = far(320, outputs, {13, 17}, {3, 3},
                              window_attrs(1, {1, 1}, {12, 12, 12, 12}, {12, 12}, name, params));
        layer.has_residual = has_residual;
        layer.has_bias = outputs != 48;
        expect_conv(layer, "kn2row", true);
      }
    }
  }
}

// Few channels, or tiles that a cache holds with their padding, are left to the implicit GEMM.
TEST(Kn2row, IsLeftAloneWhereItGainsNothing) {
  expect_conv(far(32, 24, {9, 13}, {3, 3}, window_attrs(1, {1, 1}, {2, 2, 2, 2}, {2, 2})), "direct",
              true);
  expect_conv(far(24, 24, {33, 33}, {3, 3}, window_attrs(1, {1, 1}, {24, 24, 24, 24}, {24, 24})),
              "direct", true);
}

}  // namespace
}  // namespace sardonyx::onednn
