// Old forms of operators that lack what their own version asks for.
#include "onnx_io/test_model.h"
#include "tests/support/expect_error.h"

namespace sardonyx {
namespace {

using namespace test;
using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

// A node over x (float[2, 4, 3, 5]), v (float[4]), s (of no known shape), n (int64[1]).
struct OldFault {
  int64_t opset;
  const char* op;
  Names inputs;
  AttrMap attrs;
  const char* mention;
  ErrorCode code = ErrorCode::kInvalidModel;
  size_t outputs = 1;
};

void expect_refused(const OldFault& fault, void (*change)(NodeProto&) = nullptr) {
  SCOPED_TRACE(std::string(fault.op) + ": " + fault.mention);
  ModelBuilder model(fault.opset, 3);
  GraphBuilder graph = model.graph();
  graph.input("x", DType::kFloat, {{2, 4, 3, 5}});
  graph.input("v", DType::kFloat, {{4}});
  graph.input("s", DType::kFloat);
  graph.input("n", DType::kInt64, {{1}});
  Names outputs;
  for (size_t i = 0; i < fault.outputs; ++i) {
    outputs.push_back("y" + std::to_string(i));
    graph.output(outputs.back());
  }
  NodeProto& node = graph.node(fault.op, fault.inputs, outputs, fault.attrs);
  if (change) change(node);
  expect_refusal(fault.code, fault.mention, [&] { model.load(); });
}

TEST(UpgradeRefusals, Attributes) {
  const OldFault faults[] = {
      {1, "Slice", {"x"}, {{"starts", Ints{0}}}, "starts and ends of Slice are required"},
      {1, "Slice", {"x"}, {{"ends", Ints{0}}}, "starts and ends of Slice are required"},
      {2, "Pad", {"x"}, {}, "attribute pads of Pad is required"},
      {1, "TopK", {"x"}, {}, "attribute k of TopK is required"},
      {1, "Tile", {"x", "n"}, {}, "takes the inputs tiles and axis"},
      {1, "Reshape", {"x"}, {}, "attribute shape of Reshape is required"},
      {1, "Cast", {"x"}, {}, "attribute to of Cast is required"},
      {1, "Cast", {"x"}, {{"to", std::string("FLOATY")}}, "no element type \"floaty\""},
      {1,
       "LpPool",
       {"x"},
       {{"kernel_shape", Ints{1, 1}}, {"p", 1.5f}},
       "attribute p of LpPool is 1.5; only whole numbers",
       ErrorCode::kUnsupported},
      {6, "Add", {"x", "v"}, {{"broadcast", int64_t{1}}, {"axis", int64_t{4}}}, "from there on"},
      {6, "Clip", {"x"}, {{"min", int64_t{1}}}, "attribute min of Clip has the wrong kind INT"},
      {1, "Upsample", {"x"}, {{"height_scale", 2.f}}, "width_scale and height_scale of Upsample"},
      {7, "Upsample", {"x"}, {}, "attribute scales of Upsample is required"},
      {9, "Upsample", {"x"}, {}, "Upsample takes the inputs X and scales"},
      {10, "Resize", {"x"}, {}, "Resize takes the inputs X and scales"},
      {1, "Softmax", {"x"}, {{"axis", int64_t{5}}}, "axis of Softmax is 5, out of range for rank"},
      {1, "Softmax", {"x"}, {{"axis", int64_t{-5}}}, "axis of Softmax is -5"},
      {6,
       "BatchNormalization",
       {"x", "v", "v", "v", "v"},
       {{"is_test", int64_t{1}}},
       "with is_test has one output, got 5",
       ErrorCode::kInvalidModel,
       5},
      {7,
       "BatchNormalization",
       {"x", "v", "v", "v"},
       {{"spatial", int64_t{0}}},
       "BatchNormalization takes 5 inputs"},
      {18,
       "GroupNormalization",
       {"x", "v", "v"},
       {{"num_groups", int64_t{0}}},
       "num_groups of GroupNormalization must be positive"},
      {18, "GroupNormalization", {"x", "v"}, {{"num_groups", int64_t{2}}}, "takes 3 inputs"},
      {1, "Crop", {"x"}, {{"border", Ints{1}}}, "border of Crop needs 4 elements"},
      {1,
       "Crop",
       {"x"},
       {{"border", Ints{0, 0, 0, 0}}, {"scale", Ints{1}}},
       "scale of Crop needs 2 elements"},
      {1, "ATen", {"x"}, {}, "experimental operator ATen", ErrorCode::kUnsupported},
      {1,
       "MeanVarianceNormalization",
       {"s"},
       {},
       "over an input of unknown rank: the mean is over its dims; declare the shape",
       ErrorCode::kUnsupported},
  };
  for (const OldFault& fault : faults)
    expect_refused(fault);
}

// Rules look at inputs before inference does.
TEST(UpgradeRefusals, InputsThatAreLeftOut) {
  const std::tuple<int64_t, const char*, AttrMap> calls[] = {
      {1, "Affine", {}},
      {1, "ImageScaler", {}},
      {1, "ParametricSoftplus", {}},
      {1, "Scale", {}},
      {1, "ScaledTanh", {}},
      {1, "Softmax", {}},
      {12, "Softmax", {}},
      {6, "Clip", {{"min", 1.f}}},
      {1, "MeanVarianceNormalization", {}},
      {1, "Dropout", {}},
      {1, "Crop", {{"border", Ints{0, 0, 0, 0}}}},
      {2, "Pad", {{"pads", Ints{}}, {"value", 1.f}}},
  };
  for (const auto& [opset, op, attrs] : calls) {
    for (const Names& inputs : {Names{}, Names{"", "v"}})
      expect_refused({opset, op, inputs, attrs, ": input 0 is required and was left out"});
  }
  for (const Names& inputs : {Names{}, Names{"", "v", "v", "v", "v"}}) {
    expect_refused(
        {8, "BatchNormalization", inputs, {}, "input 0 is required", ErrorCode::kInvalidModel, 5});
  }
  const auto body = [](NodeProto& node) {
    GraphBuilder graph = add_subgraph(node, "body");
    graph.input("i");
    graph.output("i");
  };
  const AttrMap one{{"num_scan_inputs", int64_t{1}}};
  expect_refused({8, "Scan", {"v", "", "x"}, one, "input 1 is required"}, body);
  const ModelBuilder labels = [] {
    ModelBuilder model;
    model.import("ai.onnx.ml", 1);
    model.graph().output("y");
    model.graph().node("LabelEncoder", {}, {"y"}).set_domain("ai.onnx.ml");
    return model;
  }();
  expect_refusal(ErrorCode::kInvalidModel, "input 0 is required", [&] { labels.load(); });
}

TEST(UpgradeRefusals, Scans) {
  const auto body = [](NodeProto& node) {
    GraphBuilder graph = add_subgraph(node, "body");
    graph.input("i");
    graph.input("j");
    graph.node("Identity", {"i"}, {"o"});
  };
  const AttrMap one{{"num_scan_inputs", int64_t{1}}}, three{{"num_scan_inputs", int64_t{3}}};
  expect_refused({8, "Scan", {"", "x"}, one, "Scan needs the attribute body and its inputs"});
  expect_refused({8, "Scan", {}, one, "Scan needs the attribute body and its inputs"}, body);
  expect_refused({8, "Scan", {"", "x", "x"}, three, "num_scan_inputs of Scan is 3 with 2 inputs"},
                 body);
  expect_refused({8, "Scan", {"", "x", "x"}, {}, "num_scan_inputs of Scan is 0 with 2 inputs"},
                 body);
  expect_refused({8, "Scan", {"", "x", "x"}, one, "has fewer outputs than states"}, body);
}

}  // namespace
}  // namespace sardonyx
