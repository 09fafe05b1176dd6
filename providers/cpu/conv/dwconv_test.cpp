// Depthwise convolution.
#include "providers/cpu/conv/conv_for_test.h"

namespace sardonyx::onednn {
namespace {

ConvLayer depthwise(int64_t channels, int64_t height, int64_t width, Ints kernel, AttrMap attrs) {
  return {{2, channels, height, width}, {channels, 1, kernel[0], kernel[1]}, std::move(attrs)};
}

TEST(Depthwise, DenseWindows) {
  for (const int64_t channels : {8, 16, 17, 24, 28, 64}) {
    for (const int64_t size : {3, 5}) {
      for (const int64_t stride : {1, 2}) {
        const int64_t pad = size / 2;
        const auto attrs = window_attrs(channels, {stride, stride}, {pad, pad, pad, pad});
        expect_conv(depthwise(channels, 9, 11, {size, size}, attrs), "depthwise", true);
        expect_conv(depthwise(channels, 40, 61, {size, size}, attrs), "depthwise", true);
        expect_conv(depthwise(channels, 7, 4, {size, size}, attrs), "depthwise", true);
      }
    }
  }
}

// A channel of the input that several of the output are computed from.
TEST(Depthwise, RepeatedChannels) {
  for (const int64_t times : {2, 4, 8}) {
    for (const int64_t channels : {2, 3, 5, 8, 16, 48}) {
      if (times * channels < 16 && times * channels != 8) continue;
      for (const int64_t stride : {1, 2}) {
        ConvLayer layer =
            depthwise(channels, 9, 11, {3, 3},
                      window_attrs(channels, {stride, stride}, {1, 1, 1, 1}, {1, 1}, "Relu"));
        layer.w[0] *= times;
        expect_conv(layer, "depthwise", true);
        layer.x = {2, channels, 1, 3};
        expect_conv(layer, "depthwise", true);
      }
      ConvLayer wide =
          depthwise(channels, 12, 7, {1, 5}, window_attrs(channels, {1, 1}, {0, 2, 0, 2}));
      wide.w[0] *= times;
      expect_conv(wide, "depthwise", true);
      ConvLayer dilated =
          depthwise(channels, 12, 17, {3, 3}, window_attrs(channels, {1, 1}, {2, 2, 2, 2}, {2, 2}));
      dilated.w[0] *= times;
      expect_conv(dilated, "depthwise", true);
    }
  }
}

TEST(Depthwise, SmallImages) {
  for (const Ints& size : {Ints{1, 1}, {1, 9}, {9, 1}, {2, 3}, {3, 2}, {2, 4}}) {
    expect_conv(depthwise(32, size[0], size[1], {3, 3}, window_attrs(32, {1, 1}, {1, 1, 1, 1})),
                "depthwise", true);
    expect_conv(depthwise(32, size[0], size[1], {5, 5}, window_attrs(32, {2, 2}, {2, 2, 2, 2})),
                "depthwise", true);
  }
}

TEST(Depthwise, OtherWindows) {
  expect_conv(depthwise(48, 12, 19, {7, 7}, window_attrs(48, {1, 1}, {3, 3, 3, 3})), "depthwise",
              true);
  expect_conv(depthwise(48, 12, 19, {1, 5}, window_attrs(48, {1, 1}, {0, 2, 0, 2})), "depthwise",
              true);
  expect_conv(depthwise(48, 12, 19, {3, 3}, window_attrs(48, {1, 1}, {2, 2, 2, 2}, {2, 2})),
              "depthwise", true);
  expect_conv(depthwise(48, 12, 19, {3, 3}, window_attrs(48, {1, 1}, {9, 9, 9, 9}, {9, 9})),
              "depthwise", true);
  expect_conv(depthwise(48, 33, 29, {3, 3}, window_attrs(48, {1, 1}, {4, 3, 4, 3}, {4, 3})),
              "depthwise", true);
  expect_conv(depthwise(48, 33, 29, {3, 3}, window_attrs(48, {1, 1}, {1, 0, 0, 2}, {3, 2})),
              "depthwise", true);
  expect_conv(depthwise(48, 33, 29, {5, 5}, window_attrs(48, {1, 1}, {8, 8, 8, 8}, {4, 4})),
              "depthwise", true);
  expect_conv(depthwise(48, 3, 2, {3, 3}, window_attrs(48, {1, 1}, {6, 6, 6, 6}, {6, 6})),
              "depthwise", true);
  expect_conv(depthwise(48, 33, 29, {3, 3}, window_attrs(48, {2, 2}, {2, 2, 2, 2}, {2, 2})),
              "depthwise", true);
  expect_conv(depthwise(48, 12, 19, {3, 3}, window_attrs(48, {2, 1}, {1, 1, 1, 1})), "depthwise",
              true);
  expect_conv(depthwise(48, 12, 19, {3, 3}, window_attrs(48, {3, 3}, {0, 0, 0, 0})), "depthwise",
              true);
  expect_conv(depthwise(48, 12, 19, {3, 3}, window_attrs(48, {1, 1}, {0, 1, 2, 3})), "depthwise",
              true);
  expect_conv(depthwise(48, 12, 19, {2, 2}, window_attrs(48, {2, 2}, {0, 0, 0, 1})), "depthwise",
              true);
  expect_conv(depthwise(48, 3, 3, {3, 3}, window_attrs(48, {1, 1}, {4, 5, 4, 5})), "depthwise",
              true);
}

TEST(Depthwise, Activations) {
  for (const auto& [name, params] :
       std::vector<std::pair<std::string, std::vector<float>>>{{"Relu", {}},
                                                               {"Clip", {-0.5f, 0.7f}},
                                                               {"HardSwish", {}},
                                                               {"Swish", {1.5f}},
                                                               {"Sigmoid", {}},
                                                               {"LeakyRelu", {0.1f}}}) {
    const auto attrs = window_attrs(24, {1, 1}, {1, 1, 1, 1}, {1, 1}, name, params);
    expect_conv(depthwise(24, 31, 33, {3, 3}, attrs), "depthwise", true);
    const auto blocks = window_attrs(32, {1, 1}, {1, 1, 1, 1}, {1, 1}, name, params);
    expect_conv(depthwise(32, 31, 33, {3, 3}, blocks), "depthwise", true);
  }
  ConvLayer bare = depthwise(32, 9, 9, {3, 3}, window_attrs(32, {1, 1}, {1, 1, 1, 1}));
  bare.has_bias = false;
  expect_conv(bare, "depthwise", true);
}

}  // namespace
}  // namespace sardonyx::onednn
