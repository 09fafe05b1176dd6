// Winograd's algorithm for channels and sizes that fill its tiles and that do not.
#include "providers/cpu/conv/conv_for_test.h"

namespace sardonyx::onednn {
namespace {

ConvLayer winograd(int64_t inputs, int64_t outputs, Shape size, const std::string& activation = "",
                   std::vector<float> params = {}, Ints pads = {1, 1, 1, 1},
                   Ints dilations = {1, 1}) {
  AttrMap attrs =
      window_attrs(1, {1, 1}, std::move(pads), std::move(dilations), activation, std::move(params));
  attrs["allows_winograd"] = int64_t{1};
  ConvLayer layer = direct(inputs, outputs, std::move(size), {3, 3}, std::move(attrs));
  layer.tolerance = 1e-4f;
  return layer;
}

TEST(WinogradConvolution, AnyChannels) {
  for (const int64_t inputs : {16, 17, 24, 31, 32, 48}) {
    for (const int64_t outputs : {16, 17, 24, 32, 33, 50, 64, 80})
      expect_conv(winograd(inputs, outputs, {13, 11}), "winograd 4x3", true);
  }
}

TEST(WinogradConvolution, Sizes) {
  for (int64_t height = 8; height <= 21; ++height)
    expect_conv(winograd(32, 32, {height, 29 - height}), "winograd 4x3", true);
  expect_conv(winograd(16, 32, {2, 90}), "winograd 4x3", true);
  expect_conv(winograd(16, 32, {90, 3}), "winograd 4x3", true);
  expect_conv(winograd(16, 32, {61, 130}), "winograd 4x3", true);
}

TEST(WinogradConvolution, Pads) {
  for (const Ints& pads :
       {Ints{0, 0, 0, 0}, {0, 1, 2, 3}, {3, 2, 1, 0}, {7, 9, 9, 7}, {0, 2, 0, 0}}) {
    expect_conv(winograd(32, 40, {12, 14}, "", {}, pads), "winograd 4x3", true);
  }
}

// The outputs of each phase of the dilation are tiled on their own.
TEST(WinogradConvolution, Dilations) {
  const std::pair<Ints, Ints> forms[] = {{{2, 2}, {2, 2, 2, 2}}, {{2, 1}, {2, 1, 2, 1}},
                                         {{1, 3}, {1, 3, 1, 3}}, {{4, 4}, {4, 4, 4, 4}},
                                         {{3, 2}, {1, 0, 4, 5}}, {{2, 2}, {0, 0, 0, 0}},
                                         {{5, 3}, {7, 2, 5, 6}}};
  for (const auto& [dilations, pads] : forms) {
    for (const Shape& size : {Shape{30, 30}, {29, 33}}) {
      ConvLayer layer = winograd(32, 48, size, "", {}, pads, dilations);
      expect_conv(layer, "winograd 4x3", true);
      layer.has_residual = true;
      expect_conv(layer, "winograd 4x3", true);
      expect_conv(winograd(32, 40, size, "Elu", {1}, pads, dilations), "winograd 4x3", true);
    }
  }
  expect_conv(winograd(272, 432, {19, 19}, "Relu", {}, {2, 2, 2, 2}, {2, 2}), "winograd 2x3", true);
}

TEST(WinogradConvolution, SmallerTiles) {
  for (const auto& [height, width] : {std::pair{14, 14}, {11, 17}}) {
    ConvLayer layer = winograd(272, 432, {height, width}, "Relu");
    expect_conv(layer, "winograd 2x3", true);
    layer.has_residual = true;
    expect_conv(layer, "winograd 2x3", true);
  }
}

TEST(WinogradConvolution, ResidualsAndActivations) {
  for (const auto& [name, params] : kActivations) {
    for (const bool has_residual : {false, true}) {
      for (const int64_t outputs : {48, 50, 96}) {
        for (const Shape& size : {Shape{13, 17}, {40, 60}}) {
          ConvLayer layer = winograd(32, outputs, size, name, params);
          layer.has_residual = has_residual;
          layer.has_bias = outputs != 48;
          expect_conv(layer, "winograd 4x3", true);
        }
      }
    }
  }
}

}  // namespace
}  // namespace sardonyx::onednn
