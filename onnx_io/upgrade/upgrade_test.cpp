// Old forms of operators mean what they meant.
#include <gmock/gmock.h>

#include <cmath>

#include "onnx_io/test_model.h"
#include "onnx_io/upgrade/upgrade.h"

namespace sardonyx {
namespace {

using namespace test;
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

struct OldCall {
  int64_t opset;
  std::string op;
  std::vector<Tensor> inputs;
  AttrMap attrs = {};
  size_t outputs = 1;
  std::string domain = {};
};

std::vector<Datum> run(const OldCall& call, bool known_shapes = true) {
  ModelBuilder model(call.domain.empty() ? call.opset : 9, 8);
  if (!call.domain.empty()) model.import(call.domain, call.opset);
  GraphBuilder graph = model.graph();
  Names inputs, outputs;
  std::vector<Datum> values;
  for (const Tensor& tensor : call.inputs) {
    if (!tensor) {
      inputs.push_back("");
      continue;
    }
    const std::string name = "x" + std::to_string(inputs.size());
    std::vector<DimSpec> dims;
    for (const int64_t dim : tensor.shape())
      dims.emplace_back(static_cast<int>(dim));
    graph.input(name, tensor.dtype(), known_shapes ? std::optional(dims) : std::nullopt);
    inputs.push_back(name);
    values.push_back(tensor);
  }
  for (size_t i = 0; i < call.outputs; ++i) {
    outputs.push_back("y" + std::to_string(i));
    graph.output(outputs.back());
  }
  graph.node(call.op, inputs, outputs, call.attrs).set_domain(call.domain);
  return evaluate(*model.load().graph, values);
}

Tensor floats(const Floats& values, Shape shape) {
  return Tensor::of(values, std::move(shape));
}

// Computes the call with shapes known at load and, where `dynamic`, with shapes known at run time
// only.
void expect(const OldCall& call, const Floats& values, const Shape& shape, bool dynamic = true) {
  for (const bool known : {true, false}) {
    if (!known && !dynamic) continue;
    SCOPED_TRACE(call.op + " of opset " + std::to_string(call.opset) +
                 (known ? "" : ", shapes unknown"));
    const std::vector<Datum> results = run(call, known);
    EXPECT_EQ(results[0].tensor().shape(), shape);
    const std::vector<double> got = results[0].tensor().to_doubles();
    ASSERT_EQ(got.size(), values.size());
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(got[i], values[i], 1e-5) << "element " << i;
  }
}

const Tensor kRow = floats({1, 2, 3}, {1, 3});
const Tensor kSix = floats({1, 2, 3, 4, 5, 6}, {2, 3});

TEST(Upgrade, BroadcastAlongAnAxis) {
  const Tensor one = floats({10, 20}, {2});
  expect({6, "Add", {kSix, one}, {{"broadcast", int64_t{1}}, {"axis", int64_t{0}}}},
         {11, 12, 13, 24, 25, 26}, {2, 3});
  expect({1, "Mul", {kSix, floats({1, 2, 3}, {3})}, {{"broadcast", int64_t{1}}}},
         {1, 4, 9, 4, 10, 18}, {2, 3});
  expect({6, "Sub", {kSix, one}, {{"broadcast", int64_t{1}}, {"axis", int64_t{-2}}}},
         {-9, -8, -7, -16, -15, -14}, {2, 3}, false);
  expect({6, "Div", {kSix, kSix}, {{"consumed_inputs", Ints{0, 0}}}}, {1, 1, 1, 1, 1, 1}, {2, 3});
  expect({1, "Pow", {kSix, floats({2}, {1})}, {{"broadcast", int64_t{1}}}}, {1, 4, 9, 16, 25, 36},
         {2, 3});
}

TEST(Upgrade, AxesBecomeInputs) {
  expect({11, "ReduceSum", {kSix}, {{"axes", Ints{1}}, {"keepdims", int64_t{0}}}}, {6, 15}, {2});
  expect({13, "ReduceMean", {kSix}, {{"axes", Ints{0}}}}, {2.5, 3.5, 4.5}, {1, 3});
  expect({11, "ReduceMax", {kSix}}, {6}, {1, 1});
  expect({1, "Squeeze", {kRow}, {{"axes", Ints{0}}}}, {1, 2, 3}, {3});
  expect({1, "Unsqueeze", {kRow}, {{"axes", Ints{0, 3}}}}, {1, 2, 3}, {1, 1, 3, 1});
}

TEST(Upgrade, SliceSplitPad) {
  expect({1, "Slice", {kSix}, {{"starts", Ints{1}}, {"ends", Ints{3}}, {"axes", Ints{1}}}},
         {2, 3, 5, 6}, {2, 2});
  expect({2, "Split", {kSix}, {{"axis", int64_t{1}}, {"split", Ints{1, 2}}}, 2}, {1, 4}, {2, 1});
  expect({2, "Split", {kSix}, {}, 2}, {1, 2, 3}, {1, 3});
  expect({1, "Split", {kSix, floats({1, 2}, {2})}, {{"axis", int64_t{1}}}, 2}, {1, 4}, {2, 1},
         false);
  expect({2, "Pad", {kRow}, {{"pads", Ints{0, 1, 0, 1}}, {"value", 9.0f}}}, {9, 1, 2, 3, 9},
         {1, 5});
  expect({1, "Pad", {kRow}, {{"paddings", Ints{0, 1, 0, 1}}, {"mode", std::string("edge")}}},
         {1, 1, 2, 3, 3}, {1, 5});
}

TEST(Upgrade, ClipTopKTile) {
  expect({6, "Clip", {kSix}, {{"min", 2.0f}, {"max", 4.0f}}}, {2, 2, 3, 4, 4, 4}, {2, 3});
  expect({1, "Clip", {kSix}, {{"max", 4.0f}}}, {1, 2, 3, 4, 4, 4}, {2, 3});
  expect({1, "TopK", {kSix}, {{"k", int64_t{2}}}, 2}, {3, 2, 6, 5}, {2, 2});
  expect({1, "Tile", {kRow, floats({2}, {1}), floats({1}, {1})}}, {1, 2, 3, 1, 2, 3}, {1, 6});
  expect({1, "Reshape", {kSix}, {{"shape", Ints{3, -1}}}}, {1, 2, 3, 4, 5, 6}, {3, 2});
  expect({1, "Concat", {kRow, kRow}}, {1, 2, 3, 1, 2, 3}, {1, 6});
}

TEST(Upgrade, InfinityIsBoundedByTheOldDefaults) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<Datum> results = run({6, "Clip", {floats({-infinity, infinity}, {2})}});
  EXPECT_EQ(results[0].tensor().values<float>()[0], std::numeric_limits<float>::lowest());
  EXPECT_EQ(results[0].tensor().values<float>()[1], std::numeric_limits<float>::max());
}

TEST(Upgrade, CastNamesItsType) {
  const std::vector<Datum> results = run({1, "Cast", {kRow}, {{"to", std::string("INT32")}}});
  EXPECT_EQ(results[0].tensor(), Tensor::of<int32_t>({1, 2, 3}, {1, 3}));
}

// What ONNX Runtime writes as operators of ai.onnx in files of any opset.
TEST(Upgrade, OperatorsOfAnotherRuntime) {
  const Tensor x = floats({3, -1}, {1, 2}), scale = floats({1, 2}, {2}),
               shift = floats({0, 1}, {2});
  const AttrMap exact{{"epsilon", 0.f}};
  for (const int64_t opset : {12, 17}) {
    expect({opset, "LayerNormalization", {x, scale, shift}, exact}, {1, -1}, {1, 2});
    expect({opset, "SimplifiedLayerNormalization", {x, scale}, exact}, {1.3416408f, -0.8944272f},
           {1, 2});
  }
}

TEST(Upgrade, SoftmaxFlattens) {
  const Tensor zeros = Tensor::zeros(DType::kFloat, {1, 2, 2});
  expect({11, "Softmax", {zeros}}, {0.25, 0.25, 0.25, 0.25}, {1, 2, 2});
  expect({11, "Softmax", {zeros}, {{"axis", int64_t{2}}}}, {0.5, 0.5, 0.5, 0.5}, {1, 2, 2});
  expect({11, "Softmax", {Tensor::zeros(DType::kFloat, {1, 2, 1, 1})}}, {0.5, 0.5}, {1, 2, 1, 1});
  expect({11, "Softmax", {zeros}, {{"axis", int64_t{-1}}}}, {0.5, 0.5, 0.5, 0.5}, {1, 2, 2});
  expect({11, "Softmax", {zeros}, {{"axis", int64_t{3}}}}, {1, 1, 1, 1}, {1, 2, 2});
  const float log4 = std::log(4.0f);
  expect({1, "LogSoftmax", {zeros}}, {-log4, -log4, -log4, -log4}, {1, 2, 2});
  expect({11, "Hardmax", {floats({1, 3, 2, 0}, {1, 2, 2})}}, {0, 1, 0, 0}, {1, 2, 2});
}

TEST(Upgrade, BatchNormalization) {
  const Tensor x = floats({1, 2, 3, 4}, {1, 2, 2});
  const auto pair = [](float a, float b) { return floats({a, b}, {2}); };
  const Tensor scale = pair(1, 2), bias = pair(0, 1), mean = pair(1, 3), var = pair(1, 4);
  const AttrMap exact{{"epsilon", 0.0f}};
  expect({9, "BatchNormalization", {x, scale, bias, mean, var}, exact}, {0, 1, 1, 2}, {1, 2, 2},
         false);
  AttrMap old = exact;
  old["is_test"] = int64_t{1};
  old["consumed_inputs"] = Ints{0, 0, 0, 1, 1};
  expect({1, "BatchNormalization", {x, scale, bias, mean, var}, old}, {0, 1, 1, 2}, {1, 2, 2},
         false);
}

TEST(Upgrade, BatchNormalizationOfEachActivation) {
  const Tensor x = floats({1, 2, 3, 4}, {1, 2, 2});
  const auto four = [](float a) { return floats({a, a, a, a}, {2, 2}); };
  const Tensor mean = floats({1, 2, 3, 2}, {2, 2});
  expect({7,
          "BatchNormalization",
          {x, four(2), four(1), mean, four(1)},
          {{"spatial", int64_t{0}}, {"epsilon", 0.0f}}},
         {1, 1, 1, 5}, {1, 2, 2}, false);
}

// With five outputs the statistics of the batch are used, moved on and given.
TEST(Upgrade, BatchNormalizationThatTrains) {
  const Tensor x = floats({1, 3, 2, 6}, {1, 2, 2});
  const auto pair = [](float a, float b) { return floats({a, b}, {2}); };
  const AttrMap exact{{"epsilon", 0.0f}, {"momentum", 0.5f}};
  for (const int64_t opset : {1, 7, 9}) {
    SCOPED_TRACE(opset);
    const std::vector<Datum> results = run({opset,
                                            "BatchNormalization",
                                            {x, pair(1, 2), pair(0, 1), pair(0, 0), pair(3, 0)},
                                            exact,
                                            5});
    EXPECT_EQ(results[0].tensor(), floats({-1, 1, -1, 3}, {1, 2, 2}));
    EXPECT_EQ(results[1].tensor(), pair(1, 2));
    EXPECT_EQ(results[2].tensor(), pair(2, 2));
    EXPECT_EQ(results[3].tensor(), pair(2, 4));
    EXPECT_EQ(results[4].tensor(), pair(1, 4));
  }
}

TEST(Upgrade, DropoutThatTrains) {
  const AttrMap keeps_all{{"ratio", 0.f}};
  const std::vector<Datum> results = run({1, "Dropout", {kRow}, keeps_all, 2});
  EXPECT_EQ(results[0].tensor(), kRow);
  EXPECT_EQ(results[1].tensor(), floats({1, 1, 1}, {1, 3}));
  expect({6, "Dropout", {kRow}, keeps_all}, {1, 2, 3}, {1, 3});
}

TEST(Upgrade, DropoutInference) {
  expect({6, "Dropout", {kSix}, {{"is_test", int64_t{1}}}}, {1, 2, 3, 4, 5, 6}, {2, 3});
  expect({7, "Dropout", {kSix}, {{"ratio", 0.3f}}}, {1, 2, 3, 4, 5, 6}, {2, 3});
  const std::vector<Datum> masked = run({7, "Dropout", {kRow}, {}, 2});
  EXPECT_EQ(masked[1].tensor(), floats({1, 1, 1}, {1, 3}));
  const std::vector<Datum> later = run({10, "Dropout", {kRow}, {}, 2});
  EXPECT_EQ(later[1].tensor().dtype(), DType::kBool);
}

TEST(Upgrade, UpsampleAndResize) {
  const Tensor x = floats({1, 2, 3, 4}, {1, 1, 2, 2});
  const Floats doubled{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4};
  expect({1, "Upsample", {x}, {{"width_scale", 2.0f}, {"height_scale", 2.0f}}}, doubled,
         {1, 1, 4, 4}, false);
  expect({7, "Upsample", {x}, {{"scales", Floats{1, 1, 2, 2}}}}, doubled, {1, 1, 4, 4}, false);
  expect({9, "Upsample", {x, floats({1, 1, 2, 2}, {4})}}, doubled, {1, 1, 4, 4}, false);
  const Tensor wide = floats({1, 2, 3, 4, 5, 6, 7, 8}, {1, 1, 2, 4});
  expect({10, "Resize", {wide, floats({1, 1, 0.6f, 0.6f}, {4})}}, {1, 3}, {1, 1, 1, 2}, false);
  expect({10,
          "Resize",
          {floats({1, 2}, {1, 2}), floats({1, 2}, {2})},
          {{"mode", std::string("linear")}}},
         {1, 1.5, 2, 2}, {1, 4}, false);
}

TEST(Upgrade, SlopeOfEachChannel) {
  expect({6, "PRelu", {floats({-1, -2, -3, -4}, {1, 2, 2}), floats({0.5f, 2}, {2})}},
         {-0.5, -1, -6, -8}, {1, 2, 2}, false);
}

TEST(Upgrade, OneHotWithNegativeIndicesWasOff) {
  const Tensor depth = Tensor::of<int64_t>({3}, {1});
  expect({9, "OneHot", {Tensor::of<int64_t>({1, -1}, {2}), depth, floats({0, 1}, {2})}},
         {0, 1, 0, 0, 0, 0}, {2, 3}, false);
}

TEST(Upgrade, GroupNormalizationScalesGroups) {
  const Tensor x = floats({1, 3, 5, 9}, {1, 4, 1});
  expect({18,
          "GroupNormalization",
          {x, floats({1, 2}, {2}), floats({0, 1}, {2})},
          {{"num_groups", int64_t{2}}, {"epsilon", 0.0f}}},
         {-1, 1, -1, 3}, {1, 4, 1}, false);
}

TEST(Upgrade, MeanVarianceNormalization) {
  const AttrMap across{{"across_channels", int64_t{1}}}, mean{{"normalize_variance", int64_t{0}}};
  expect({1, "MeanVarianceNormalization", {floats({1, 3}, {1, 1, 1, 2})}}, {-1, 1}, {1, 1, 1, 2},
         false);
  const Tensor channels = floats({1, 3}, {1, 2, 1, 1});
  expect({1, "MeanVarianceNormalization", {channels}}, {0, 0}, {1, 2, 1, 1}, false);
  expect({1, "MeanVarianceNormalization", {channels}, across}, {-1, 1}, {1, 2, 1, 1}, false);
  expect({1, "MeanVarianceNormalization", {floats({1, 5}, {1, 1, 1, 2})}, mean}, {-2, 2},
         {1, 1, 1, 2}, false);
  const Tensor batch = floats({1, 5, 3, 9}, {2, 2, 1, 1});
  expect({1, "MeanVarianceNormalization", {batch}, mean}, {-1, -2, 1, 2}, {2, 2, 1, 1}, false);
}

TEST(Upgrade, ExperimentalOperators) {
  expect({1, "Affine", {kRow}, {{"alpha", 2.0f}, {"beta", 1.0f}}}, {3, 5, 7}, {1, 3});
  expect({1, "Scale", {kRow}, {{"scale", 2.0f}}}, {2, 4, 6}, {1, 3});
  expect({1, "ScaledTanh", {kRow}, {{"alpha", 2.0f}, {"beta", 0.0f}}}, {0, 0, 0}, {1, 3});
  expect({1, "ParametricSoftplus", {kRow}, {{"alpha", 1.0f}, {"beta", 0.0f}}},
         {0.6931472f, 0.6931472f, 0.6931472f}, {1, 3});
  expect({1, "ThresholdedRelu", {kRow}, {{"alpha", 2.0f}}}, {0, 0, 3}, {1, 3});
  const Tensor image = floats({1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 2, 2});
  expect({1, "ImageScaler", {image}, {{"scale", 2.0f}, {"bias", Floats{0, 1}}}},
         {2, 4, 6, 8, 11, 13, 15, 17}, {1, 2, 2, 2});
  expect({1, "Crop", {image}, {{"border", Ints{1, 0, 0, 0}}}}, {2, 4, 6, 8}, {1, 2, 2, 1});
  expect({1, "Crop", {image}, {{"border", Ints{0, 1, 0, 0}}, {"scale", Ints{1, 1}}}}, {3, 7},
         {1, 2, 1, 1});
  expect({1, "ConstantFill", {kRow}, {{"value", 7.0f}, {"extra_shape", Ints{1}}}}, {7, 7, 7},
         {1, 3, 1});
  expect({1, "ConstantFill", {}, {{"value", 7.0f}, {"shape", Ints{2}}}}, {7, 7}, {2});
  expect({1, "GivenTensorFill", {}, {{"values", Floats{1, 2}}, {"shape", Ints{2, 1}}}}, {1, 2},
         {2, 1});
  const auto range = [](int64_t a, int64_t b) { return Tensor::of<int64_t>({a, b}, {2}); };
  expect({1, "DynamicSlice", {kSix, range(0, 1), range(1, 3)}}, {2, 3}, {1, 2});
}

TEST(Upgrade, SeluHadOtherDefaults) {
  expect({1, "Selu", {floats({1}, {1})}}, {1.0507f}, {1});
  expect({6, "Selu", {floats({1}, {1})}}, {1.0507010f}, {1});
}

TEST(Upgrade, LabelEncoderOfClasses) {
  const std::vector<std::string> classes{"a", "b"};
  const OldCall to_places{
      1, "LabelEncoder", {Tensor::vector<std::string>({"b", "c"})}, {{"classes_strings", classes}},
      1, "ai.onnx.ml"};
  EXPECT_EQ(run(to_places)[0].tensor(), Tensor::vector<int64_t>({1, -1}));
  const OldCall to_strings{
      1, "LabelEncoder", {Tensor::vector<int64_t>({1, 5})}, {{"classes_strings", classes}},
      1, "ai.onnx.ml"};
  EXPECT_EQ(run(to_strings)[0].tensor(), Tensor::vector<std::string>({"b", "_Unused"}));
}

// A running sum over sequences of two lengths, with a batch dim before the scanned one.
TEST(Upgrade, ScanOverABatch) {
  ModelBuilder model(8, 4);
  GraphBuilder graph = model.graph();
  graph.input("lengths", DType::kInt64, {{2}});
  graph.input("start", DType::kFloat, {{2, 1}});
  graph.input("x", DType::kFloat, {{2, 3, 1}});
  graph.output("last");
  graph.output("sums");
  NodeProto& scan = graph.node("Scan", {"lengths", "start", "x"}, {"last", "sums"},
                               {{"num_scan_inputs", int64_t{1}}});
  GraphBuilder body = add_subgraph(scan, "body");
  body.input("state", DType::kFloat, {{1}});
  body.input("element", DType::kFloat, {{1}});
  body.output("new_state", DType::kFloat, {{1}});
  body.output("sum", DType::kFloat, {{1}});
  body.node("Add", {"state", "element"}, {"new_state"});
  body.node("Identity", {"new_state"}, {"sum"});
  const std::vector<Datum> results =
      evaluate(*model.load().graph,
               std::vector<Datum>{Tensor::vector<int64_t>({3, 2}), floats({0, 10}, {2, 1}),
                                  floats({1, 2, 3, 4, 5, 6}, {2, 3, 1})});
  EXPECT_EQ(results[0].tensor(), floats({6, 19}, {2, 1}));
  EXPECT_EQ(results[1].tensor(), floats({1, 3, 6, 14, 19, 0}, {2, 3, 1}));
}

}  // namespace
}  // namespace sardonyx
