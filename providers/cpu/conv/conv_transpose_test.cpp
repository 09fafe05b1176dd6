// Transposed convolutions.
#include "providers/cpu/conv/conv_for_test.h"

namespace sardonyx::onednn {
namespace {

// Groups of `inputs` and `outputs` channels each.
ConvLayer transposed(int64_t inputs, int64_t outputs, Shape size, Ints kernel, AttrMap attrs) {
  const int64_t group = std::get<int64_t>(attrs.at("group"));
  ConvLayer layer{{2, inputs * group}, {inputs * group, outputs}, std::move(attrs)};
  layer.x.insert(layer.x.end(), size.begin(), size.end());
  layer.w.insert(layer.w.end(), kernel.begin(), kernel.end());
  layer.op = "sardonyx::FusedConvTranspose";
  return layer;
}

TEST(Transposed, WindowsSideBySide) {
  for (const int64_t outputs : {1, 3, 12, 16, 40}) {
    for (const Shape& size : {Shape{5, 7}, {20, 61}, {1, 1}, {3, 130}}) {
      const auto attrs = window_attrs(1, {2, 2}, {0, 0, 0, 0});
      expect_conv(transposed(24, outputs, size, {2, 2}, attrs), "transposed", false);
    }
  }
  expect_conv(transposed(6, 5, {7, 50}, {3, 4}, window_attrs(1, {3, 4}, {0, 0, 0, 0})),
              "transposed", false);
  expect_conv(transposed(200, 130, {5, 7}, {2, 2}, window_attrs(1, {2, 2}, {0, 0, 0, 0})),
              "transposed", false);
}

TEST(Transposed, WindowsThatOverlap) {
  for (const int64_t outputs : {1, 3, 15, 16, 24, 70}) {
    for (const Shape& size : {Shape{1, 1}, {4, 4}, {9, 5}, {33, 29}}) {
      expect_conv(transposed(17, outputs, size, {4, 4}, window_attrs(1, {2, 2}, {1, 1, 1, 1})),
                  "transposed", false);
      expect_conv(transposed(17, outputs, size, {3, 3}, window_attrs(1, {2, 2}, {1, 1, 1, 1})),
                  "transposed", false);
      expect_conv(transposed(17, outputs, size, {5, 3}, window_attrs(1, {1, 3}, {2, 0, 1, 1})),
                  "transposed", false);
    }
  }
}

TEST(Transposed, OtherWindows) {
  expect_conv(transposed(8, 20, {1, 1}, {4, 4}, window_attrs(1, {1, 1}, {0, 0, 0, 0})),
              "transposed", false);
  expect_conv(transposed(8, 20, {6, 5}, {3, 3}, window_attrs(1, {1, 1}, {4, 4, 4, 4}, {2, 3})),
              "transposed", false);
  expect_conv(transposed(8, 4, {6, 5}, {2, 3}, window_attrs(1, {3, 5}, {0, 1, 0, 0}, {2, 2})),
              "transposed", false);
  expect_conv(transposed(8, 4, {6, 5}, {1, 1}, window_attrs(1, {2, 3}, {0, 0, 0, 0})), "transposed",
              false);
  expect_conv(transposed(8, 20, {6, 5}, {16, 16}, window_attrs(1, {8, 8}, {4, 4, 4, 4})),
              "transposed", false);
  AttrMap padded = window_attrs(1, {2, 2}, {1, 1, 1, 1});
  padded["output_padding"] = Ints{1, 1};
  expect_conv(transposed(8, 20, {6, 5}, {3, 3}, padded), "transposed", false);
  expect_conv(transposed(8, 2, {6, 5}, {3, 3}, padded), "transposed", false);
  AttrMap tiled = window_attrs(1, {3, 3}, {0, 0, 0, 0});
  tiled["output_padding"] = Ints{2, 1};
  expect_conv(transposed(8, 20, {6, 5}, {3, 3}, tiled), "transposed", false);
  AttrMap grown = window_attrs(1, {2, 2}, {});
  grown.erase("pads");
  grown["output_shape"] = Ints{15, 13};  // more than the windows cover
  expect_conv(transposed(8, 20, {6, 5}, {2, 2}, grown), "transposed", false);
  ConvLayer bare = transposed(8, 20, {6, 5}, {4, 4}, window_attrs(1, {2, 2}, {1, 1, 1, 1}));
  bare.has_bias = false;
  expect_conv(bare, "transposed", false);
}

TEST(Transposed, Groups) {
  expect_conv(transposed(6, 10, {7, 9}, {4, 4}, window_attrs(3, {2, 2}, {1, 1, 1, 1})),
              "transposed", false);
  expect_conv(transposed(4, 8, {7, 9}, {2, 2}, window_attrs(2, {2, 2}, {0, 0, 0, 0})), "transposed",
              false);
  expect_conv(transposed(1, 1, {7, 9}, {4, 4}, window_attrs(19, {2, 2}, {1, 1, 1, 1})),
              "transposed", false);
  expect_conv(transposed(1, 1, {17, 40}, {3, 3}, window_attrs(32, {1, 1}, {1, 1, 1, 1})),
              "transposed", false);
  expect_conv(transposed(1, 2, {7, 9}, {4, 4}, window_attrs(19, {2, 2}, {1, 1, 1, 1})),
              "transposed", false);
}

TEST(Transposed, OneSpatialAxis) {
  for (const int64_t outputs : {1, 20, 64}) {
    expect_conv(transposed(32, outputs, {50}, {16}, window_attrs(1, {8}, {4, 4}, {1})),
                "transposed", false);
    expect_conv(transposed(32, outputs, {200}, {4}, window_attrs(1, {4}, {0, 0}, {1})),
                "transposed", false);
    expect_conv(transposed(32, outputs, {9}, {3}, window_attrs(1, {1}, {2, 2}, {2})), "transposed",
                false);
  }
  expect_conv(transposed(1, 1, {50}, {12}, window_attrs(24, {2}, {5, 5}, {1})), "transposed",
              false);
}

TEST(Transposed, Activations) {
  for (const auto& [name, params] :
       std::vector<std::pair<std::string, std::vector<float>>>{{"Relu", {}},
                                                               {"Clip", {-0.5f, 0.7f}},
                                                               {"LeakyRelu", {0.1f}},
                                                               {"Tanh", {}},
                                                               {"Sigmoid", {}}}) {
    for (const int64_t outputs : {1, 3, 40, 300}) {
      const auto overlapping = window_attrs(1, {2, 2}, {1, 1, 1, 1}, {1, 1}, name, params);
      expect_conv(transposed(16, outputs, {8, 8}, {4, 4}, overlapping), "transposed", false);
      const auto tiled = window_attrs(1, {2, 2}, {0, 0, 0, 0}, {1, 1}, name, params);
      expect_conv(transposed(16, outputs, {9, 50}, {2, 2}, tiled), "transposed", false);
    }
  }
}

// Row-major, for readers that want nothing else; the bits are those of the kernel for channels
// last.
void check_transposed_planes(const ConvLayer& layer) {
  const ConvCase c = conv_case_of(layer);
  SCOPED_TRACE(to_text(layer.x) + " by " + to_text(layer.w));
  RunOptions options;
  options.layouts = true;
  options.constants = 0b110;
  PreparedRun channels_last = prepared_conv(c, options);
  EXPECT_EQ(channels_last.prepared().implementation, "transposed");
  channels_last.run();
  Tensor expected = channels_last.outputs()[0];
  options.layout_readers = false;
  for (const int threads : {1, 2}) {
    options.threads = threads;
    PreparedRun planes = prepared_conv(c, options);
    EXPECT_EQ(planes.prepared().implementation, "transposed planes");
    planes.run();
    const Tensor got = planes.outputs()[0];
    expect_within(got, c.expected, layer.tolerance, layer.tolerance);
    const bool is_grouped = std::get<int64_t>(layer.attrs.at("group")) > 1;
    if (is_grouped && threads == 1) expected = got;
    EXPECT_TRUE(std::ranges::equal(got.values<float>(), expected.values<float>()));
  }
}

TEST(Transposed, Planes) {
  for (const int64_t outputs : {1, 3, 16, 45}) {
    for (const Shape& size : {Shape{8, 8}, {5, 67}, {70, 3}, {20, 130}}) {
      const auto attrs = window_attrs(1, {2, 2}, {0, 0, 0, 0});
      check_transposed_planes(transposed(24, outputs, size, {2, 2}, attrs));
    }
  }
  for (const Ints& kernel : {Ints{1, 1}, {1, 3}, {3, 4}, {4, 1}, {2, 7}, {16, 16}}) {
    const auto attrs = window_attrs(1, kernel, {0, 0, 0, 0});
    check_transposed_planes(transposed(6, 5, {7, 19}, kernel, attrs));
  }
  check_transposed_planes(
      transposed(300, 7, {16, 16}, {2, 2}, window_attrs(1, {2, 2}, {0, 0, 0, 0})));
  check_transposed_planes(transposed(4, 8, {9, 9}, {2, 2}, window_attrs(2, {2, 2}, {0, 0, 0, 0})));
  check_transposed_planes(transposed(12, 5, {200}, {4}, window_attrs(1, {4}, {0, 0}, {1})));
  ConvLayer bare = transposed(8, 20, {16, 5}, {2, 2}, window_attrs(1, {2, 2}, {0, 0, 0, 0}));
  bare.has_bias = false;
  check_transposed_planes(bare);
  for (const auto& [name, params] : kActivations) {
    const auto attrs = window_attrs(1, {2, 2}, {0, 0, 0, 0}, {1, 1}, name, params);
    check_transposed_planes(transposed(16, 9, {9, 50}, {2, 2}, attrs));
  }
}

}  // namespace
}  // namespace sardonyx::onednn
