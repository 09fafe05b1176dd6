// Our own kernels of convolution against the reference, in every layout, for channels that fill
// vectors and blocks and that do not.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/core/run_control.h"
#include "ir/op_samples.h"
#include "ir/reference_evaluator.h"
#include "tests/support/close.h"
#include "tests/support/expect_error.h"
#include "tests/support/kernel_runner.h"

namespace sardonyx::onednn {
namespace {

using Ints = std::vector<int64_t>;

struct Layer {
  Shape x, w;
  AttrMap attrs;
  bool has_bias = true, has_residual = false;
  const char* op = "sardonyx::FusedConv";
  float tolerance = 2e-5f;

  int64_t outputs() const {
    const bool is_transposed = op != std::string("sardonyx::FusedConv");
    return is_transposed ? w[1] * std::get<int64_t>(attrs.at("group")) : w[0];
  }
};

struct Case {
  const OpDef& op;
  Attrs attrs;
  std::vector<Tensor> inputs;
  Tensor expected;
};

Case case_of(const Layer& layer) {
  const OpDef& op = op_named(layer.op);
  Case made{op, Attrs::parse(*op.attrs, layer.attrs), {}, {}};
  made.inputs = {drawn_tensor(DType::kFloat, layer.x, -1, 1, 1),
                 drawn_tensor(DType::kFloat, layer.w, -1, 1, 2), Tensor()};
  if (layer.has_bias) made.inputs[2] = drawn_tensor(DType::kFloat, {layer.outputs()}, -1, 1, 3);
  std::vector<Datum> data;
  const auto run = [&] {
    data.clear();
    for (const Tensor& input : made.inputs)
      data.push_back(input ? Datum(input) : Datum());
    return evaluate(op, made.attrs, data, 1)[0].tensor();
  };
  made.expected = run();
  if (layer.has_residual) {
    made.inputs.push_back(drawn_tensor(DType::kFloat, made.expected.shape(), -1, 1, 4));
    made.expected = run();
  }
  return made;
}

PreparedRun prepared(const Case& c, const RunOptions& options) {
  const Type type = Type::tensor(DType::kFloat, to_dims(c.expected.shape()));
  return PreparedRun(c.op, c.attrs, c.inputs, {type}, options);
}

// Row-major, channels last, and in blocks where `takes_blocks`; on one thread and on two, which
// must give the same bits.
void check(const Layer& layer, const std::string& implementation, bool takes_blocks) {
  const Case c = case_of(layer);
  std::vector<std::vector<LayoutPtr>> forms{{}, {channels_last_layout(layer.x)}};
  if (takes_blocks && layer.x[1] % 16 == 0) forms.push_back({blocked_layout(layer.x)});
  for (const auto& incoming : forms) {
    RunOptions options;
    options.layouts = true;
    options.constants = 0b110;
    options.incoming = incoming;
    if (layer.has_residual) options.overwrite = 3;
    SCOPED_TRACE(text(layer.x[1], " -> ", layer.outputs(), " channels of ", layer.x[2], " x ",
                      layer.x.back(), ", window of ", layer.w[2], ", layout ",
                      incoming.empty() || !incoming[0] ? "plain" : incoming[0]->text()));
    PreparedRun one = prepared(c, options);
    EXPECT_EQ(one.prepared().implementation, implementation);
    EXPECT_EQ(one.prepared().unread_inputs & 0b110u, 0b110u);
    one.run();
    const Tensor alone = one.outputs()[0];
    expect_within(alone, c.expected, layer.tolerance, layer.tolerance);
    options.threads = 2;
    PreparedRun two = prepared(c, options);
    two.run();
    const Tensor shared = two.outputs()[0];
    EXPECT_TRUE(std::ranges::equal(alone.values<float>(), shared.values<float>()));
    if (!takes_blocks) continue;
    options.layout_readers = false;  // a row-major image may be taken in blocks then
    PreparedRun apart = prepared(c, options);
    apart.run();
    EXPECT_TRUE(std::ranges::equal(alone.values<float>(), apart.outputs()[0].values<float>()));
  }
}

const std::vector<std::pair<std::string, std::vector<float>>> kActivations{
    {"", {}}, {"Relu", {}}, {"Clip", {-0.5f, 0.7f}}, {"HardSwish", {}}, {"LeakyRelu", {0.1f}}};

AttrMap window(int64_t group, Ints strides, Ints pads, Ints dilations = {1, 1},
               const std::string& activation = "", std::vector<float> params = {}) {
  return {{"group", group},           {"strides", std::move(strides)},
          {"pads", std::move(pads)},  {"dilations", std::move(dilations)},
          {"activation", activation}, {"activation_params", std::move(params)}};
}

Layer depthwise(int64_t channels, int64_t height, int64_t width, Ints kernel, AttrMap attrs) {
  return {{2, channels, height, width}, {channels, 1, kernel[0], kernel[1]}, std::move(attrs)};
}

TEST(Depthwise, DenseWindows) {
  for (const int64_t channels : {8, 16, 17, 24, 28, 64}) {
    for (const int64_t size : {3, 5}) {
      for (const int64_t stride : {1, 2}) {
        const int64_t pad = size / 2;
        const auto attrs = window(channels, {stride, stride}, {pad, pad, pad, pad});
        check(depthwise(channels, 9, 11, {size, size}, attrs), "depthwise", true);
        check(depthwise(channels, 40, 61, {size, size}, attrs), "depthwise", true);
        check(depthwise(channels, 7, 4, {size, size}, attrs), "depthwise", true);
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
        Layer layer = depthwise(channels, 9, 11, {3, 3},
                                window(channels, {stride, stride}, {1, 1, 1, 1}, {1, 1}, "Relu"));
        layer.w[0] *= times;
        check(layer, "depthwise", true);
        layer.x = {2, channels, 1, 3};
        check(layer, "depthwise", true);
      }
      Layer wide = depthwise(channels, 12, 7, {1, 5}, window(channels, {1, 1}, {0, 2, 0, 2}));
      wide.w[0] *= times;
      check(wide, "depthwise", true);
      Layer dilated =
          depthwise(channels, 12, 17, {3, 3}, window(channels, {1, 1}, {2, 2, 2, 2}, {2, 2}));
      dilated.w[0] *= times;
      check(dilated, "depthwise", true);
    }
  }
}

TEST(Depthwise, SmallImages) {
  for (const Ints& size : {Ints{1, 1}, {1, 9}, {9, 1}, {2, 3}, {3, 2}, {2, 4}}) {
    check(depthwise(32, size[0], size[1], {3, 3}, window(32, {1, 1}, {1, 1, 1, 1})), "depthwise",
          true);
    check(depthwise(32, size[0], size[1], {5, 5}, window(32, {2, 2}, {2, 2, 2, 2})), "depthwise",
          true);
  }
}

TEST(Depthwise, OtherWindows) {
  check(depthwise(48, 12, 19, {7, 7}, window(48, {1, 1}, {3, 3, 3, 3})), "depthwise", true);
  check(depthwise(48, 12, 19, {1, 5}, window(48, {1, 1}, {0, 2, 0, 2})), "depthwise", true);
  check(depthwise(48, 12, 19, {3, 3}, window(48, {1, 1}, {2, 2, 2, 2}, {2, 2})), "depthwise", true);
  check(depthwise(48, 12, 19, {3, 3}, window(48, {1, 1}, {9, 9, 9, 9}, {9, 9})), "depthwise", true);
  check(depthwise(48, 33, 29, {3, 3}, window(48, {1, 1}, {4, 3, 4, 3}, {4, 3})), "depthwise", true);
  check(depthwise(48, 33, 29, {3, 3}, window(48, {1, 1}, {1, 0, 0, 2}, {3, 2})), "depthwise", true);
  check(depthwise(48, 33, 29, {5, 5}, window(48, {1, 1}, {8, 8, 8, 8}, {4, 4})), "depthwise", true);
  check(depthwise(48, 3, 2, {3, 3}, window(48, {1, 1}, {6, 6, 6, 6}, {6, 6})), "depthwise", true);
  check(depthwise(48, 33, 29, {3, 3}, window(48, {2, 2}, {2, 2, 2, 2}, {2, 2})), "depthwise", true);
  check(depthwise(48, 12, 19, {3, 3}, window(48, {2, 1}, {1, 1, 1, 1})), "depthwise", true);
  check(depthwise(48, 12, 19, {3, 3}, window(48, {3, 3}, {0, 0, 0, 0})), "depthwise", true);
  check(depthwise(48, 12, 19, {3, 3}, window(48, {1, 1}, {0, 1, 2, 3})), "depthwise", true);
  check(depthwise(48, 12, 19, {2, 2}, window(48, {2, 2}, {0, 0, 0, 1})), "depthwise", true);
  check(depthwise(48, 3, 3, {3, 3}, window(48, {1, 1}, {4, 5, 4, 5})), "depthwise", true);
}

TEST(Depthwise, Activations) {
  for (const auto& [name, params] :
       std::vector<std::pair<std::string, std::vector<float>>>{{"Relu", {}},
                                                               {"Clip", {-0.5f, 0.7f}},
                                                               {"HardSwish", {}},
                                                               {"Swish", {1.5f}},
                                                               {"Sigmoid", {}},
                                                               {"LeakyRelu", {0.1f}}}) {
    const auto attrs = window(24, {1, 1}, {1, 1, 1, 1}, {1, 1}, name, params);
    check(depthwise(24, 31, 33, {3, 3}, attrs), "depthwise", true);
    const auto blocks = window(32, {1, 1}, {1, 1, 1, 1}, {1, 1}, name, params);
    check(depthwise(32, 31, 33, {3, 3}, blocks), "depthwise", true);
  }
  Layer bare = depthwise(32, 9, 9, {3, 3}, window(32, {1, 1}, {1, 1, 1, 1}));
  bare.has_bias = false;
  check(bare, "depthwise", true);
}

Layer pointwise(int64_t inputs, int64_t outputs, int64_t height, int64_t width, AttrMap attrs) {
  const int64_t group = std::get<int64_t>(attrs.at("group"));
  return {{2, inputs * group, height, width}, {outputs * group, inputs, 1, 1}, std::move(attrs)};
}

TEST(Pointwise, AnyChannels) {
  for (const int64_t inputs : {1, 3, 17, 64}) {
    for (const int64_t outputs : {1, 4, 8, 9, 16, 17, 24, 25, 31, 32, 34, 40, 41, 96, 130}) {
      check(pointwise(inputs, outputs, 5, 7, window(1, {1, 1}, {0, 0, 0, 0})), "pointwise", false);
    }
  }
  check(pointwise(24, 40, 61, 37, window(1, {1, 1}, {0, 0, 0, 0})), "pointwise", false);
  check(pointwise(256, 320, 1, 1, window(1, {1, 1}, {0, 0, 0, 0})), "pointwise", false);
  check(pointwise(640, 1280, 7, 7, window(1, {1, 1}, {0, 0, 0, 0})), "pointwise", false);
}

TEST(Pointwise, Groups) {
  check(pointwise(6, 28, 14, 14, window(4, {1, 1}, {0, 0, 0, 0})), "pointwise", false);
  check(pointwise(34, 34, 9, 9, window(4, {1, 1}, {0, 0, 0, 0})), "pointwise", false);
  check(pointwise(3, 5, 9, 9, window(3, {2, 2}, {0, 0, 0, 0})), "pointwise", false);
}

TEST(Pointwise, Strides) {
  check(pointwise(24, 40, 8, 10, window(1, {2, 2}, {0, 0, 0, 0})), "pointwise", false);
  check(pointwise(24, 40, 9, 11, window(1, {2, 3}, {0, 0, 0, 0})), "pointwise", false);
}

TEST(Pointwise, OneSpatialAxis) {
  for (const int64_t stride : {1, 2}) {
    Layer line{{2, 24, 37}, {40, 24, 1}, window(1, {stride}, {0, 0}, {1}, "Relu")};
    check(line, "pointwise", false);
    line.has_residual = true;
    check(line, "pointwise", false);
    check({{3, 12, 19}, {20, 6, 1}, window(2, {stride}, {0, 0}, {1})}, "pointwise", false);
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
      Layer layer =
          pointwise(24, 44, 33, 31, window(1, {1, 1}, {0, 0, 0, 0}, {1, 1}, name, params));
      layer.has_residual = has_residual;
      check(layer, "pointwise", false);
      Layer wide = pointwise(72, 200, 5, 3, window(1, {1, 1}, {0, 0, 0, 0}, {1, 1}, name, params));
      wide.has_residual = has_residual;
      wide.has_bias = false;
      check(wide, "pointwise", false);
    }
  }
}

// Row-major, for readers that want nothing else, on one thread and on two; the bits are those of
// the kernel for channels last.
void check_planes(const Layer& layer) {
  const Case c = case_of(layer);
  SCOPED_TRACE(to_text(layer.x) + " by " + to_text(layer.w));
  RunOptions options;
  options.layouts = true;
  options.constants = 0b110;
  if (layer.has_residual) options.overwrite = 3;
  PreparedRun channels_last = prepared(c, options);
  channels_last.run();
  const Tensor expected = channels_last.outputs()[0];
  expect_within(expected, c.expected, layer.tolerance, layer.tolerance);
  options.layout_readers = false;
  for (const int threads : {1, 2}) {
    options.threads = threads;
    PreparedRun planes = prepared(c, options);
    EXPECT_EQ(planes.prepared().implementation, "pointwise planes");
    planes.run();
    EXPECT_TRUE(std::ranges::equal(planes.outputs()[0].values<float>(), expected.values<float>()));
  }
}

TEST(Pointwise, Planes) {
  for (const int64_t inputs : {1, 17, 300}) {
    for (const int64_t outputs : {1, 9, 14, 130}) {
      for (const int64_t width : {16, 19, 67})
        check_planes(pointwise(inputs, outputs, 7, width, window(1, {1, 1}, {0, 0, 0, 0})));
    }
  }
  check_planes(pointwise(5, 11, 9, 9, window(3, {1, 1}, {0, 0, 0, 0})));
  Layer deep = pointwise(2000, 40, 8, 9, window(1, {1, 1}, {0, 0, 0, 0}));
  deep.tolerance = 2e-4f;
  check_planes(deep);
  check_planes({{2, 20, 100}, {6, 10, 1}, window(2, {1}, {0, 0}, {1})});
  for (const auto& [name, params] : kActivations) {
    Layer layer = pointwise(24, 44, 33, 31, window(1, {1, 1}, {0, 0, 0, 0}, {1, 1}, name, params));
    check_planes(layer);
    layer.has_residual = true;
    check_planes(layer);
    layer.has_bias = false;
    check_planes(layer);
  }
}

// Groups of `inputs` and `outputs` channels each.
Layer direct(int64_t inputs, int64_t outputs, Shape size, Ints kernel, AttrMap attrs) {
  const int64_t group = std::get<int64_t>(attrs.at("group"));
  Layer layer{{2, inputs * group}, {outputs * group, inputs}, std::move(attrs)};
  layer.x.insert(layer.x.end(), size.begin(), size.end());
  layer.w.insert(layer.w.end(), kernel.begin(), kernel.end());
  return layer;
}

// Few output channels; widths that do and do not fill vectors. More than 2^19 products are worth
// it.
TEST(Planes, FewChannels) {
  for (const int64_t outputs : {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16}) {
    for (const int64_t width : {30, 57, 129}) {
      check({{2, 16, 90, width}, {outputs, 16, 5, 3}, window(1, {1, 1}, {2, 1, 2, 1})}, "planes",
            true);
    }
  }
  check({{1, 3, 120, 160}, {8, 3, 3, 3}, window(1, {1, 1}, {0, 0, 0, 0})}, "planes", false);
  check({{1, 37, 60, 61}, {6, 37, 3, 3}, window(1, {1, 1}, {1, 1, 1, 1})}, "planes", false);
}

TEST(Planes, OtherWindows) {
  const Shape x{1, 16, 90, 101};
  for (const auto& attrs :
       {window(1, {1, 1}, {0, 0, 0, 0}), window(1, {1, 1}, {3, 0, 1, 2}),
        window(1, {2, 1}, {1, 1, 1, 1}), window(1, {3, 1}, {1, 1, 1, 1}, {2, 3}),
        window(1, {1, 1}, {40, 50, 40, 50}, {20, 25}), window(1, {1, 1}, {7, 9, 8, 9})})
    check({x, {3, 16, 3, 3}, attrs}, "planes", true);
  check({x, {3, 16, 1, 9}, window(1, {1, 1}, {0, 4, 0, 4})}, "planes", true);
  check({x, {3, 16, 9, 1}, window(1, {1, 1}, {4, 0, 4, 0})}, "planes", true);
}

TEST(Planes, Lines) {
  for (const int64_t outputs : {1, 2, 16}) {
    check({{2, 32, 1900}, {outputs, 32, 17}, window(1, {1}, {8, 8}, {1})}, "planes", true);
    check({{2, 9, 9001}, {outputs, 9, 7}, window(1, {1}, {6, 0}, {2})}, "planes", false);
  }
}

TEST(Planes, ActivationsAndResiduals) {
  for (const auto& [name, params] : kActivations) {
    Layer layer{
        {2, 32, 40, 50}, {5, 32, 3, 3}, window(1, {1, 1}, {1, 1, 1, 1}, {1, 1}, name, params)};
    check(layer, "planes", true);
    layer.has_residual = true;
    check(layer, "planes", true);
    layer.has_bias = false;
    check(layer, "planes", true);
  }
}

TEST(Direct, AnyChannels) {
  for (const int64_t inputs : {1, 3, 15, 16, 17, 24, 32, 40}) {
    for (const int64_t outputs : {1, 4, 8, 9, 16, 17, 32, 33, 50, 64}) {
      check(direct(inputs, outputs, {5, 4}, {3, 3}, window(1, {1, 1}, {1, 1, 1, 1})), "direct",
            true);
      check(direct(inputs, outputs, {5, 9}, {2, 3}, window(1, {2, 2}, {1, 0, 0, 1})), "direct",
            true);
    }
  }
  check(direct(3, 40, {61, 67}, {7, 7}, window(1, {2, 2}, {3, 3, 3, 3})), "direct", true);
  check(direct(100, 50, {14, 14}, {3, 3}, window(1, {1, 1}, {1, 1, 1, 1})), "direct", true);
}

TEST(Direct, Widths) {
  for (int64_t width = 1; width <= 33; ++width) {
    check(direct(16, 16, {6, width}, {3, 3}, window(1, {1, 1}, {1, 1, 1, 1})), "direct", true);
    check(direct(16, 32, {7, width}, {3, 3}, window(1, {1, 1}, {1, 1, 1, 1})), "direct", true);
  }
}

// More elements in a window than are multiplied at once.
TEST(Direct, ManyElements) {
  for (const int64_t outputs : {32, 48, 130}) {
    Layer layer = direct(160, outputs, {7, 7}, {3, 3}, window(1, {1, 1}, {1, 1, 1, 1}));
    check(layer, "direct", true);
    layer.has_residual = true;
    check(layer, "direct", true);
  }
  check(direct(16, 20, {3, 300}, {1, 80}, window(1, {1, 1}, {0, 40, 0, 39})), "direct", true);
}

TEST(Direct, OtherWindows) {
  const auto layer = [](Ints kernel, const AttrMap& attrs) {
    return direct(32, 24, {9, 13}, std::move(kernel), attrs);
  };
  check(layer({3, 3}, window(1, {1, 1}, {2, 2, 2, 2}, {2, 2})), "direct", true);
  check(layer({3, 3}, window(1, {1, 1}, {4, 3, 4, 3}, {4, 3})), "direct", true);
  check(layer({3, 3}, window(1, {3, 1}, {1, 1, 1, 1})), "direct", true);
  check(layer({3, 3}, window(1, {4, 5}, {0, 0, 0, 0})), "direct", true);
  check(layer({3, 3}, window(1, {1, 1}, {0, 1, 2, 3})), "direct", true);
  check(layer({1, 5}, window(1, {1, 1}, {0, 2, 0, 2})), "direct", true);
  check(layer({5, 1}, window(1, {1, 1}, {2, 0, 2, 0})), "direct", true);
  check(layer({2, 2}, window(1, {1, 1}, {0, 0, 0, 0})), "direct", true);
  check(layer({2, 2}, window(1, {2, 2}, {0, 0, 0, 1})), "direct", true);
  check(layer({3, 3}, window(1, {1, 1}, {9, 20, 20, 9})), "direct", true);
  check(direct(32, 24, {1, 1}, {3, 3}, window(1, {1, 1}, {1, 1, 1, 1})), "direct", true);
  check(direct(32, 24, {40, 1}, {3, 1}, window(1, {1, 1}, {1, 0, 1, 0})), "direct", true);
  check(direct(256, 96, {19, 20}, {1, 1}, window(1, {2, 2}, {0, 0, 0, 0})), "pointwise", false);
}

// Pixels as wide as a block, of which a group has a part: the last one ends with the image.
TEST(Direct, GroupsOfOneBlock) {
  for (const int64_t groups : {2, 4, 8}) {
    const Ints strides{1, 1}, pads{1, 1, 1, 1};
    const Layer layer = direct(16 / groups, 8, {3, 4}, {3, 3}, window(groups, strides, pads));
    check(layer, "direct", true);
    check(direct(16 / groups, 8, {1, 33}, {1, 3}, window(groups, {1, 2}, {0, 1, 0, 1})), "direct",
          true);
  }
}

TEST(Direct, Groups) {
  for (const int64_t inputs : {3, 8, 16, 32}) {
    for (const int64_t outputs : {5, 16, 24}) {
      const auto layer = direct(inputs, outputs, {3, 4}, {3, 3}, window(3, {1, 1}, {1, 1, 1, 1}));
      check(layer, "direct", true);
    }
  }
}

TEST(Direct, OneSpatialAxis) {
  for (const int64_t stride : {1, 2}) {
    Layer line = direct(24, 40, {37}, {5}, window(1, {stride}, {2, 2}, {1}, "Relu"));
    check(line, "direct", false);
    line.has_residual = true;
    check(line, "direct", false);
  }
}

TEST(Direct, ResidualsAndActivations) {
  for (const auto& [name, params] : kActivations) {
    for (const bool has_residual : {false, true}) {
      Layer layer =
          direct(64, 48, {13, 17}, {3, 3}, window(1, {1, 1}, {1, 1, 1, 1}, {1, 1}, name, params));
      layer.has_residual = has_residual;
      check(layer, "direct", true);
      Layer wide =
          direct(64, 200, {4, 3}, {3, 3}, window(1, {1, 1}, {1, 1, 1, 1}, {1, 1}, name, params));
      wide.has_residual = has_residual;
      wide.has_bias = false;
      check(wide, "direct", true);
    }
  }
}

// It takes a second or more as a whole.
TEST(Direct, EndsAtTheDeadline) {
  Layer layer = direct(256, 512, {256, 256}, {3, 3}, window(1, {1, 1}, {1, 1, 1, 1}));
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

// Groups of `inputs` and `outputs` channels each.
Layer transposed(int64_t inputs, int64_t outputs, Shape size, Ints kernel, AttrMap attrs) {
  const int64_t group = std::get<int64_t>(attrs.at("group"));
  Layer layer{{2, inputs * group}, {inputs * group, outputs}, std::move(attrs)};
  layer.x.insert(layer.x.end(), size.begin(), size.end());
  layer.w.insert(layer.w.end(), kernel.begin(), kernel.end());
  layer.op = "sardonyx::FusedConvTranspose";
  return layer;
}

TEST(Transposed, WindowsSideBySide) {
  for (const int64_t outputs : {1, 3, 12, 16, 40}) {
    for (const Shape& size : {Shape{5, 7}, {20, 61}, {1, 1}, {3, 130}}) {
      const auto attrs = window(1, {2, 2}, {0, 0, 0, 0});
      check(transposed(24, outputs, size, {2, 2}, attrs), "transposed", false);
    }
  }
  check(transposed(6, 5, {7, 50}, {3, 4}, window(1, {3, 4}, {0, 0, 0, 0})), "transposed", false);
  check(transposed(200, 130, {5, 7}, {2, 2}, window(1, {2, 2}, {0, 0, 0, 0})), "transposed", false);
}

TEST(Transposed, WindowsThatOverlap) {
  for (const int64_t outputs : {1, 3, 15, 16, 24, 70}) {
    for (const Shape& size : {Shape{1, 1}, {4, 4}, {9, 5}, {33, 29}}) {
      check(transposed(17, outputs, size, {4, 4}, window(1, {2, 2}, {1, 1, 1, 1})), "transposed",
            false);
      check(transposed(17, outputs, size, {3, 3}, window(1, {2, 2}, {1, 1, 1, 1})), "transposed",
            false);
      check(transposed(17, outputs, size, {5, 3}, window(1, {1, 3}, {2, 0, 1, 1})), "transposed",
            false);
    }
  }
}

TEST(Transposed, OtherWindows) {
  check(transposed(8, 20, {1, 1}, {4, 4}, window(1, {1, 1}, {0, 0, 0, 0})), "transposed", false);
  check(transposed(8, 20, {6, 5}, {3, 3}, window(1, {1, 1}, {4, 4, 4, 4}, {2, 3})), "transposed",
        false);
  check(transposed(8, 4, {6, 5}, {2, 3}, window(1, {3, 5}, {0, 1, 0, 0}, {2, 2})), "transposed",
        false);
  check(transposed(8, 4, {6, 5}, {1, 1}, window(1, {2, 3}, {0, 0, 0, 0})), "transposed", false);
  check(transposed(8, 20, {6, 5}, {16, 16}, window(1, {8, 8}, {4, 4, 4, 4})), "transposed", false);
  AttrMap padded = window(1, {2, 2}, {1, 1, 1, 1});
  padded["output_padding"] = Ints{1, 1};
  check(transposed(8, 20, {6, 5}, {3, 3}, padded), "transposed", false);
  check(transposed(8, 2, {6, 5}, {3, 3}, padded), "transposed", false);
  AttrMap tiled = window(1, {3, 3}, {0, 0, 0, 0});
  tiled["output_padding"] = Ints{2, 1};
  check(transposed(8, 20, {6, 5}, {3, 3}, tiled), "transposed", false);
  AttrMap grown = window(1, {2, 2}, {});
  grown.erase("pads");
  grown["output_shape"] = Ints{15, 13};  // more than the windows cover
  check(transposed(8, 20, {6, 5}, {2, 2}, grown), "transposed", false);
  Layer bare = transposed(8, 20, {6, 5}, {4, 4}, window(1, {2, 2}, {1, 1, 1, 1}));
  bare.has_bias = false;
  check(bare, "transposed", false);
}

TEST(Transposed, Groups) {
  check(transposed(6, 10, {7, 9}, {4, 4}, window(3, {2, 2}, {1, 1, 1, 1})), "transposed", false);
  check(transposed(4, 8, {7, 9}, {2, 2}, window(2, {2, 2}, {0, 0, 0, 0})), "transposed", false);
  check(transposed(1, 1, {7, 9}, {4, 4}, window(19, {2, 2}, {1, 1, 1, 1})), "transposed", false);
  check(transposed(1, 1, {17, 40}, {3, 3}, window(32, {1, 1}, {1, 1, 1, 1})), "transposed", false);
  check(transposed(1, 2, {7, 9}, {4, 4}, window(19, {2, 2}, {1, 1, 1, 1})), "transposed", false);
}

TEST(Transposed, OneSpatialAxis) {
  for (const int64_t outputs : {1, 20, 64}) {
    check(transposed(32, outputs, {50}, {16}, window(1, {8}, {4, 4}, {1})), "transposed", false);
    check(transposed(32, outputs, {200}, {4}, window(1, {4}, {0, 0}, {1})), "transposed", false);
    check(transposed(32, outputs, {9}, {3}, window(1, {1}, {2, 2}, {2})), "transposed", false);
  }
  check(transposed(1, 1, {50}, {12}, window(24, {2}, {5, 5}, {1})), "transposed", false);
}

TEST(Transposed, Activations) {
  for (const auto& [name, params] :
       std::vector<std::pair<std::string, std::vector<float>>>{{"Relu", {}},
                                                               {"Clip", {-0.5f, 0.7f}},
                                                               {"LeakyRelu", {0.1f}},
                                                               {"Tanh", {}},
                                                               {"Sigmoid", {}}}) {
    for (const int64_t outputs : {1, 3, 40, 300}) {
      const auto overlapping = window(1, {2, 2}, {1, 1, 1, 1}, {1, 1}, name, params);
      check(transposed(16, outputs, {8, 8}, {4, 4}, overlapping), "transposed", false);
      const auto tiled = window(1, {2, 2}, {0, 0, 0, 0}, {1, 1}, name, params);
      check(transposed(16, outputs, {9, 50}, {2, 2}, tiled), "transposed", false);
    }
  }
}

Layer winograd(int64_t inputs, int64_t outputs, Shape size, const std::string& activation = "",
               std::vector<float> params = {}, Ints pads = {1, 1, 1, 1}) {
  AttrMap attrs = window(1, {1, 1}, std::move(pads), {1, 1}, activation, std::move(params));
  attrs["allows_winograd"] = int64_t{1};
  Layer layer = direct(inputs, outputs, std::move(size), {3, 3}, std::move(attrs));
  layer.tolerance = 1e-4f;
  return layer;
}

TEST(WinogradConvolution, AnyChannels) {
  for (const int64_t inputs : {16, 17, 24, 31, 32, 48}) {
    for (const int64_t outputs : {16, 17, 24, 32, 33, 50, 64, 80})
      check(winograd(inputs, outputs, {13, 11}), "winograd 4x3", true);
  }
}

TEST(WinogradConvolution, Sizes) {
  for (int64_t height = 8; height <= 21; ++height)
    check(winograd(32, 32, {height, 29 - height}), "winograd 4x3", true);
  check(winograd(16, 32, {2, 90}), "winograd 4x3", true);
  check(winograd(16, 32, {90, 3}), "winograd 4x3", true);
  check(winograd(16, 32, {61, 130}), "winograd 4x3", true);
}

TEST(WinogradConvolution, Pads) {
  for (const Ints& pads :
       {Ints{0, 0, 0, 0}, {0, 1, 2, 3}, {3, 2, 1, 0}, {7, 9, 9, 7}, {0, 2, 0, 0}}) {
    check(winograd(32, 40, {12, 14}, "", {}, pads), "winograd 4x3", true);
  }
}

TEST(WinogradConvolution, SmallerTiles) {
  for (const auto& [height, width] : {std::pair{14, 14}, {11, 17}}) {
    Layer layer = winograd(272, 432, {height, width}, "Relu");
    check(layer, "winograd 2x3", true);
    layer.has_residual = true;
    check(layer, "winograd 2x3", true);
  }
}

TEST(WinogradConvolution, ResidualsAndActivations) {
  for (const auto& [name, params] : kActivations) {
    for (const bool has_residual : {false, true}) {
      for (const int64_t outputs : {48, 50, 96}) {
        for (const Shape& size : {Shape{13, 17}, {40, 60}}) {
          Layer layer = winograd(32, outputs, size, name, params);
          layer.has_residual = has_residual;
          layer.has_bias = outputs != 48;
          check(layer, "winograd 4x3", true);
        }
      }
    }
  }
}

// A NaN stays one where results are clipped.
TEST(OwnConvolution, KeepsNan) {
  const auto relu = window(1, {1, 1}, {0, 0, 0, 0}, {1, 1}, "Relu", {});
  Case c = case_of(pointwise(16, 16, 3, 3, relu));
  c.inputs[0].mutable_values<float>()[0] = NAN;
  RunOptions options;
  options.layouts = true;
  options.constants = 0b110;
  PreparedRun run = prepared(c, options);
  run.run();
  const Tensor got = run.outputs()[0];
  EXPECT_TRUE(std::isnan(got.values<float>()[0]));
  EXPECT_FALSE(std::isnan(got.values<float>()[1]));
}

}  // namespace
}  // namespace sardonyx::onednn
