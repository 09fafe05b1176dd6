// Convolutions as products whose rows are gathered by pointers.
#include "ir/core/run_control.h"
#include "providers/cpu/conv/conv_for_test.h"
#include "tests/support/expect_error.h"

namespace sardonyx::onednn {
namespace {

TEST(Direct, AnyChannels) {
  for (const int64_t inputs : {1, 3, 15, 16, 17, 24, 32, 40}) {
    for (const int64_t outputs : {1, 4, 8, 9, 16, 17, 32, 33, 50, 64}) {
      expect_conv(direct(inputs, outputs, {5, 4}, {3, 3}, window_attrs(1, {1, 1}, {1, 1, 1, 1})),
                  "direct", true);
      expect_conv(direct(inputs, outputs, {5, 9}, {2, 3}, window_attrs(1, {2, 2}, {1, 0, 0, 1})),
                  "direct", true);
    }
  }
  expect_conv(direct(3, 40, {61, 67}, {7, 7}, window_attrs(1, {2, 2}, {3, 3, 3, 3})), "direct",
              true);
  expect_conv(direct(100, 50, {14, 14}, {3, 3}, window_attrs(1, {1, 1}, {1, 1, 1, 1})), "direct",
              true);
}

TEST(Direct, Widths) {
  for (int64_t width = 1; width <= 33; ++width) {
    expect_conv(direct(16, 16, {6, width}, {3, 3}, window_attrs(1, {1, 1}, {1, 1, 1, 1})), "direct",
                true);
    expect_conv(direct(16, 32, {7, width}, {3, 3}, window_attrs(1, {1, 1}, {1, 1, 1, 1})), "direct",
                true);
  }
}

// More elements in a window than are multiplied at once.
TEST(Direct, ManyElements) {
  for (const int64_t outputs : {32, 48, 130}) {
    ConvLayer layer = direct(160, outputs, {7, 7}, {3, 3}, window_attrs(1, {1, 1}, {1, 1, 1, 1}));
    expect_conv(layer, "direct", true);
    layer.has_residual = true;
    expect_conv(layer, "direct", true);
  }
  expect_conv(direct(16, 20, {3, 300}, {1, 80}, window_attrs(1, {1, 1}, {0, 40, 0, 39})), "direct",
              true);
}

TEST(Direct, OtherWindows) {
  const auto layer = [](Ints kernel, const AttrMap& attrs) {
    return direct(32, 24, {9, 13}, std::move(kernel), attrs);
  };
  expect_conv(layer({3, 3}, window_attrs(1, {1, 1}, {2, 2, 2, 2}, {2, 2})), "direct", true);
  expect_conv(layer({3, 3}, window_attrs(1, {1, 1}, {4, 3, 4, 3}, {4, 3})), "direct", true);
  expect_conv(layer({3, 3}, window_attrs(1, {3, 1}, {1, 1, 1, 1})), "direct", true);
  expect_conv(layer({3, 3}, window_attrs(1, {4, 5}, {0, 0, 0, 0})), "direct", true);
  expect_conv(layer({3, 3}, window_attrs(1, {1, 1}, {0, 1, 2, 3})), "direct", true);
  expect_conv(layer({1, 5}, window_attrs(1, {1, 1}, {0, 2, 0, 2})), "direct", true);
  expect_conv(layer({5, 1}, window_attrs(1, {1, 1}, {2, 0, 2, 0})), "direct", true);
  expect_conv(layer({2, 2}, window_attrs(1, {1, 1}, {0, 0, 0, 0})), "direct", true);
  expect_conv(layer({2, 2}, window_attrs(1, {2, 2}, {0, 0, 0, 1})), "direct", true);
  expect_conv(layer({3, 3}, window_attrs(1, {1, 1}, {9, 20, 20, 9})), "direct", true);
  expect_conv(direct(32, 24, {1, 1}, {3, 3}, window_attrs(1, {1, 1}, {1, 1, 1, 1})), "direct",
              true);
  expect_conv(direct(32, 24, {40, 1}, {3, 1}, window_attrs(1, {1, 1}, {1, 0, 1, 0})), "direct",
              true);
  expect_conv(direct(256, 96, {19, 20}, {1, 1}, window_attrs(1, {2, 2}, {0, 0, 0, 0})), "pointwise",
              false);
}

// Negative pads: the first windows begin behind what is cropped, whether of a copy or of the image.
TEST(Direct, PadsThatCrop) {
  for (const int64_t inputs : {4, 16, 24}) {
    for (const Ints& pads : {Ints{-1, 0, 1, 0}, Ints{0, -2, 0, 2}, Ints{-2, -1, 0, 0},
                             Ints{-1, -3, -2, -1}, Ints{1, -1, -2, 1}}) {
      expect_conv(direct(inputs, 24, {9, 13}, {3, 3}, window_attrs(1, {1, 1}, pads)), "direct",
                  true);
      expect_conv(direct(inputs, 24, {9, 13}, {3, 3}, window_attrs(1, {2, 3}, pads)), "direct",
                  true);
    }
    expect_conv(direct(inputs, 24, {9}, {3}, window_attrs(1, {1}, {-1, 1}, {1})), "direct", true);
    expect_conv(direct(inputs, 24, {9}, {5}, window_attrs(1, {2}, {-2, 0}, {1})), "direct", true);
  }
}

// Pixels as wide as a block, of which a group has a part: the last one ends with the image.
TEST(Direct, GroupsOfOneBlock) {
  for (const int64_t groups : {2, 4, 8}) {
    const Ints strides{1, 1}, pads{1, 1, 1, 1};
    const ConvLayer layer =
        direct(16 / groups, 8, {3, 4}, {3, 3}, window_attrs(groups, strides, pads));
    expect_conv(layer, "direct", true);
    expect_conv(direct(16 / groups, 8, {1, 33}, {1, 3}, window_attrs(groups, {1, 2}, {0, 1, 0, 1})),
                "direct", true);
  }
}

TEST(Direct, Groups) {
  for (const int64_t inputs : {3, 8, 16, 32}) {
    for (const int64_t outputs : {5, 16, 24}) {
      const auto layer =
          direct(inputs, outputs, {3, 4}, {3, 3}, window_attrs(3, {1, 1}, {1, 1, 1, 1}));
      expect_conv(layer, "direct", true);
    }
  }
}

TEST(Direct, OneSpatialAxis) {
  for (const int64_t stride : {1, 2}) {
    ConvLayer line = direct(24, 40, {37}, {5}, window_attrs(1, {stride}, {2, 2}, {1}, "Relu"));
    expect_conv(line, "direct", false);
    line.has_residual = true;
    expect_conv(line, "direct", false);
  }
}

TEST(Direct, ResidualsAndActivations) {
  for (const auto& [name, params] : kActivations) {
    for (const bool has_residual : {false, true}) {
      ConvLayer layer = direct(64, 48, {13, 17}, {3, 3},
                               window_attrs(1, {1, 1}, {1, 1, 1, 1}, {1, 1}, name, params));
      layer.has_residual = has_residual;
      expect_conv(layer, "direct", true);
      ConvLayer wide = direct(64, 200, {4, 3}, {3, 3},
                              window_attrs(1, {1, 1}, {1, 1, 1, 1}, {1, 1}, name, params));
      wide.has_residual = has_residual;
      wide.has_bias = false;
      expect_conv(wide, "direct", true);
    }
  }
}

// It takes a second or more as a whole.
TEST(Direct, EndsAtTheDeadline) {
  ConvLayer layer = direct(256, 512, {256, 256}, {3, 3}, window_attrs(1, {1, 1}, {1, 1, 1, 1}));
  layer.x[0] = 1;
  const OpDef& op = op_named(layer.op);
  const std::vector<Tensor> inputs{Tensor::zeros(DType::kFloat, layer.x),
                                   Tensor::zeros(DType::kFloat, layer.w)};
  RunOptions options;
  options.layouts = true;
  options.constants = 0b10;
  const Type type = Type::tensor(DType::kFloat, to_dims({1, 512, 256, 256}));
  PreparedRun run(op, Attrs::parse(*op.attrs, layer.attrs), inputs, {type}, options);
  EXPECT_EQ(run.prepared().implementation, "direct");
  const RunControl control{
      nullptr, std::chrono::steady_clock::now() + std::chrono::milliseconds(20), {}};
  const ControlScope scope(control);
  expect_refusal(ErrorCode::kDeadlineExceeded, "deadline", [&] { run.run(); });
}

}  // namespace
}  // namespace sardonyx::onednn
