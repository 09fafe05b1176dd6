// Convolutions of windows of one element.
#include <cmath>

#include "providers/cpu/conv/conv_for_test.h"

namespace sardonyx::onednn {
namespace {

TEST(Pointwise, AnyChannels) {
  for (const int64_t inputs : {1, 3, 17, 64}) {
    for (const int64_t outputs : {1, 4, 8, 9, 16, 17, 24, 25, 31, 32, 34, 40, 41, 96, 130}) {
      expect_conv(pointwise(inputs, outputs, 5, 7, window_attrs(1, {1, 1}, {0, 0, 0, 0})),
                  "pointwise", false);
    }
  }
  expect_conv(pointwise(24, 40, 61, 37, window_attrs(1, {1, 1}, {0, 0, 0, 0})), "pointwise", false);
  expect_conv(pointwise(256, 320, 1, 1, window_attrs(1, {1, 1}, {0, 0, 0, 0})), "pointwise", false);
  expect_conv(pointwise(640, 1280, 7, 7, window_attrs(1, {1, 1}, {0, 0, 0, 0})), "pointwise",
              false);
}

TEST(Pointwise, Groups) {
  expect_conv(pointwise(6, 28, 14, 14, window_attrs(4, {1, 1}, {0, 0, 0, 0})), "pointwise", false);
  expect_conv(pointwise(34, 34, 9, 9, window_attrs(4, {1, 1}, {0, 0, 0, 0})), "pointwise", false);
  expect_conv(pointwise(3, 5, 9, 9, window_attrs(3, {2, 2}, {0, 0, 0, 0})), "pointwise", false);
}

TEST(Pointwise, Strides) {
  expect_conv(pointwise(24, 40, 8, 10, window_attrs(1, {2, 2}, {0, 0, 0, 0})), "pointwise", false);
  expect_conv(pointwise(24, 40, 9, 11, window_attrs(1, {2, 3}, {0, 0, 0, 0})), "pointwise", false);
}

TEST(Pointwise, OneSpatialAxis) {
  for (const int64_t stride : {1, 2}) {
    ConvLayer line{{2, 24, 37}, {40, 24, 1}, window_attrs(1, {stride}, {0, 0}, {1}, "Relu")};
    expect_conv(line, "pointwise", false);
    line.has_residual = true;
    expect_conv(line, "pointwise", false);
    expect_conv({{3, 12, 19}, {20, 6, 1}, window_attrs(2, {stride}, {0, 0}, {1})}, "pointwise",
                false);
  }
}

TEST(Pointwise, ResidualsAndActivations) {
  for (const auto& [name, params] :
       std::vector<std::pair<std::string, std::vector<float>>>{{"", {}},
                                                               {"Relu", {}},
                                                               {"Clip", {-0.5f, 0.7f}},
                                                               {"HardSwish", {}},
                                                               {"Swish", {1.5f}},
                                                               {"Gelu", {}}}) {
    for (const bool has_residual : {false, true}) {
      ConvLayer layer =
          pointwise(24, 44, 33, 31, window_attrs(1, {1, 1}, {0, 0, 0, 0}, {1, 1}, name, params));
      layer.has_residual = has_residual;
      expect_conv(layer, "pointwise", false);
      ConvLayer wide =
          pointwise(72, 200, 5, 3, window_attrs(1, {1, 1}, {0, 0, 0, 0}, {1, 1}, name, params));
      wide.has_residual = has_residual;
      wide.has_bias = false;
      expect_conv(wide, "pointwise", false);
    }
  }
}

// Row-major, for readers that want nothing else, on one thread and on two; the bits are those of
// the kernel for channels last.
void check_planes(const ConvLayer& layer) {
  const ConvCase c = conv_case_of(layer);
  SCOPED_TRACE(to_text(layer.x) + " by " + to_text(layer.w));
  RunOptions options;
  options.layouts = true;
  options.constants = 0b110;
  if (layer.has_residual) options.overwrite = 3;
  PreparedRun channels_last = prepared_conv(c, options);
  channels_last.run();
  const Tensor expected = channels_last.outputs()[0];
  expect_within(expected, c.expected, layer.tolerance, layer.tolerance);
  options.layout_readers = false;
  for (const int threads : {1, 2}) {
    options.threads = threads;
    PreparedRun planes = prepared_conv(c, options);
    EXPECT_EQ(planes.prepared().implementation, "pointwise planes");
    planes.run();
    EXPECT_TRUE(std::ranges::equal(planes.outputs()[0].values<float>(), expected.values<float>()));
  }
}

TEST(Pointwise, Planes) {
  for (const int64_t inputs : {1, 17, 300}) {
    for (const int64_t outputs : {1, 9, 14, 130}) {
      for (const int64_t width : {16, 19, 67})
        check_planes(pointwise(inputs, outputs, 7, width, window_attrs(1, {1, 1}, {0, 0, 0, 0})));
    }
  }
  for (const Ints& strides : {Ints{2, 2}, {1, 3}, {3, 1}, {2, 5}}) {
    check_planes(pointwise(17, 14, 25, 67, window_attrs(1, strides, {0, 0, 0, 0})));
    check_planes(pointwise(5, 11, 31, 60, window_attrs(3, strides, {0, 0, 0, 0})));
  }
  check_planes({{2, 20, 301}, {6, 10, 1}, window_attrs(2, {2}, {0, 0}, {1})});
  check_planes(pointwise(5, 11, 9, 9, window_attrs(3, {1, 1}, {0, 0, 0, 0})));
  ConvLayer deep = pointwise(2000, 40, 8, 9, window_attrs(1, {1, 1}, {0, 0, 0, 0}));
  deep.tolerance = 2e-4f;
  check_planes(deep);
  check_planes({{2, 20, 100}, {6, 10, 1}, window_attrs(2, {1}, {0, 0}, {1})});
  for (const auto& [name, params] : kActivations) {
    ConvLayer layer =
        pointwise(24, 44, 33, 31, window_attrs(1, {1, 1}, {0, 0, 0, 0}, {1, 1}, name, params));
    check_planes(layer);
    layer.has_residual = true;
    check_planes(layer);
    layer.has_bias = false;
    check_planes(layer);
  }
}

// A NaN stays one where results are clipped.
TEST(OwnConvolution, KeepsNan) {
  const auto relu = window_attrs(1, {1, 1}, {0, 0, 0, 0}, {1, 1}, "Relu", {});
  ConvCase c = conv_case_of(pointwise(16, 16, 3, 3, relu));
  c.inputs[0].mutable_values<float>()[0] = NAN;
  RunOptions options;
  options.layouts = true;
  options.constants = 0b110;
  PreparedRun run = prepared_conv(c, options);
  run.run();
  const Tensor got = run.outputs()[0];
  EXPECT_TRUE(std::isnan(got.values<float>()[0]));
  EXPECT_FALSE(std::isnan(got.values<float>()[1]));
}

}  // namespace
}  // namespace sardonyx::onednn
