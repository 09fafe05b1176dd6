// Convolutions from and to row-major images.
#include "providers/cpu/conv/conv_for_test.h"

namespace sardonyx::onednn {
namespace {

// Few output channels; widths that do and do not fill vectors. More than 2^19 products are worth
// it.
TEST(Planes, FewChannels) {
  for (const int64_t outputs : {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16}) {
    for (const int64_t width : {30, 57, 129}) {
      expect_conv({{2, 16, 90, width}, {outputs, 16, 5, 3}, window_attrs(1, {1, 1}, {2, 1, 2, 1})},
                  "planes", true);
    }
  }
  expect_conv({{1, 3, 120, 160}, {8, 3, 3, 3}, window_attrs(1, {1, 1}, {0, 0, 0, 0})}, "planes",
              false);
  expect_conv({{1, 37, 60, 61}, {6, 37, 3, 3}, window_attrs(1, {1, 1}, {1, 1, 1, 1})}, "planes",
              false);
}

TEST(Planes, OtherWindows) {
  const Shape x{1, 16, 90, 101};
  for (const auto& attrs :
       {window_attrs(1, {1, 1}, {0, 0, 0, 0}), window_attrs(1, {1, 1}, {3, 0, 1, 2}),
        window_attrs(1, {2, 1}, {1, 1, 1, 1}), window_attrs(1, {3, 1}, {1, 1, 1, 1}, {2, 3}),
        window_attrs(1, {1, 1}, {40, 50, 40, 50}, {20, 25}), window_attrs(1, {1, 1}, {7, 9, 8, 9}),
        window_attrs(1, {1, 1}, {-1, -2, 1, 2}), window_attrs(1, {1, 1}, {-3, -1, 0, 0})})
    expect_conv({x, {3, 16, 3, 3}, attrs}, "planes", true);
  expect_conv({x, {3, 16, 1, 9}, window_attrs(1, {1, 1}, {0, 4, 0, 4})}, "planes", true);
  expect_conv({x, {3, 16, 9, 1}, window_attrs(1, {1, 1}, {4, 0, 4, 0})}, "planes", true);
}

TEST(Planes, Lines) {
  for (const int64_t outputs : {1, 2, 16}) {
    expect_conv({{2, 32, 1900}, {outputs, 32, 17}, window_attrs(1, {1}, {8, 8}, {1})}, "planes",
                true);
    expect_conv({{2, 9, 9001}, {outputs, 9, 7}, window_attrs(1, {1}, {6, 0}, {2})}, "planes",
                false);
  }
}

TEST(Planes, ActivationsAndResiduals) {
  for (const auto& [name, params] : kActivations) {
    ConvLayer layer{{2, 32, 40, 50},
                    {5, 32, 3, 3},
                    window_attrs(1, {1, 1}, {1, 1, 1, 1}, {1, 1}, name, params)};
    expect_conv(layer, "planes", true);
    layer.has_residual = true;
    expect_conv(layer, "planes", true);
    layer.has_bias = false;
    expect_conv(layer, "planes", true);
  }
}

}  // namespace
}  // namespace sardonyx::onednn
