// Older forms of operators: what they can't say is refused, by a message that says what that is.
#include <cmath>

#include "onnx_io/save.h"
#include "onnx_io/test_model.h"
#include "tests/support/expect_error.h"

namespace sardonyx {
namespace {

using namespace test;
using Ints = std::vector<int64_t>;

// A node over inputs x (float[2, 4, 3, 5]), m (float[2, 3]), u (of no known shape), f (float[]),
// n (int64[1]), k (int64[]), b (bool[]) and the constants below.
struct OldForm {
  const char* op;
  Names inputs;
  AttrMap attrs;
  int64_t opset;
  const char* mention;
  size_t outputs = 1;
};

ModelBuilder model_of(const OldForm& form) {
  ModelBuilder model;
  GraphBuilder graph = model.graph();
  graph.input("x", DType::kFloat, {{2, 4, 3, 5}});
  graph.input("m", DType::kFloat, {{2, 3}});
  graph.input("u", DType::kFloat);
  graph.input("f", DType::kFloat, {{}});
  graph.input("n", DType::kInt64, {{1}});
  graph.input("k", DType::kInt64, {{}});
  graph.input("b", DType::kBool, {{}});
  const std::pair<const char*, Tensor> constants[] = {
      {"zero", Tensor::vector<int64_t>({0})},
      {"one", Tensor::vector<int64_t>({1})},
      {"two", Tensor::vector<int64_t>({2})},
      {"pair", Tensor::vector<int64_t>({0, 1})},
      {"last", Tensor::scalar(int64_t{-2})},
      {"half", Tensor::scalar(0.5f)},
      {"yes", Tensor::scalar(true)},
      {"no", Tensor::scalar(false)},
      {"pads", Tensor::vector<int64_t>({0, 1, 0, 1})},
      {"sizes", Tensor::vector<int64_t>({4, 6})},
      {"others", Tensor::vector<int64_t>({3, 6})},
      {"place", Tensor::zeros(DType::kInt64, {1, 1})},
      {"three", Tensor::zeros(DType::kFloat, {1, 3})},
      {"low", Tensor::scalar(int64_t{2})},
      {"high", Tensor::scalar(int64_t{3})},
      {"whole", Tensor::of<int64_t>({1, 2, 3, 4, 5, 6}, {2, 3})},
      {"i", Tensor::of<int32_t>({1, 2, 3, 4}, {2, 2})},
      {"s", Tensor::vector<std::string>({"a", "b"})},
      {"nan", Tensor::of<float>({NAN, -0.75f, -0.5f, 0, INFINITY, 0.5f}, {2, 3})},
      {"one_axis", Tensor::vector<int64_t>({1, 2})},
      {"second", Tensor::vector<int64_t>({-1})},
      {"twice", Tensor::vector<float>({2})},
      {"wide", Tensor::vector<int64_t>({6})},
      {"doubled", Tensor::vector<float>({2, 2})},
      {"halved", Tensor::vector<float>({0.5, 0.5})},
      {"boxes", Tensor::zeros(DType::kFloat, {1, 4})},
      {"grid", Tensor::zeros(DType::kFloat, {2, 1, 1, 2})},
      {"volume", Tensor::zeros(DType::kFloat, {1, 1, 2, 2, 2})},
      {"places", Tensor::zeros(DType::kFloat, {1, 1, 1, 1, 3})},
      {"four", Tensor::zeros(DType::kFloat, {4})},
  };
  for (const auto& [name, value] : constants) {
    if (std::ranges::find(form.inputs, name) != form.inputs.end()) graph.initializer(name, value);
  }
  Names outputs;
  for (size_t i = 0; i < form.outputs; ++i) {
    outputs.push_back("y" + std::to_string(i));
    graph.output(outputs.back());
  }
  graph.node(form.op, form.inputs, outputs, form.attrs);
  return model;
}

AttrMap mode(const std::string& mode) {
  return {{"mode", mode}};
}
AttrMap resize(const std::string& mode, const std::string& coordinates,
               const std::string& rounding = "floor") {
  return {
      {"mode", mode}, {"coordinate_transformation_mode", coordinates}, {"nearest_mode", rounding}};
}

TEST(DowngradeRefusals, WhatOlderFormsCannotSay) {
  const char* const kResize = "only asymmetric coordinates, mode linear or nearest with floor";
  const char* const kScales = "its scales must be constants of 1 or more";
  const AttrMap plain = resize("nearest", "asymmetric");
  const OldForm forms[] = {
      {"Squeeze", {"x", "n"}, {}, 12, "input 1 (axes) must be a constant"},
      {"ReduceMax", {"m", "n"}, {}, 17, "input 1 (axes) must be a constant"},
      {"ReduceSum",
       {"m"},
       {{"noop_with_empty_axes", int64_t{1}}},
       12,
       "noop_with_empty_axes without axes"},
      {"Softmax", {"u"}, {}, 12, "the rank of its input must be known"},
      {"Split",
       {"m"},
       {{"num_outputs", int64_t{2}}, {"axis", int64_t{-1}}},
       17,
       "its pieces must be of one length",
       2},
      {"Split",
       {"u"},
       {{"num_outputs", int64_t{2}}},
       17,
       "the length of its axis must be known",
       2},
      {"Split", {"m", "n"}, {}, 12, "input 1 (split) must be a constant"},
      {"Slice", {"m", "zero", "one", "zero", "two"}, {}, 9, "steps other than 1"},
      {"Slice", {"m", "zero", "one", "zero", "n"}, {}, 9, "steps other than 1"},
      {"Slice", {"m", "zero", "one", "n"}, {}, 9, "input 3 (axes) must be a constant"},
      {"Slice", {"m", "zero", "n"}, {}, 9, "input 2 (ends) must be a constant"},
      {"Slice", {"m", "n", "one"}, {}, 9, "input 1 (starts) must be a constant"},
      {"Pad", {"m", "pair", "", "n"}, {}, 17, "the input axes came with opset 18"},
      {"Pad", {"m", "pads"}, mode("wrap"), 18, "mode wrap came with opset 19"},
      {"Pad", {"m", "pads", "f"}, {}, 10, "input 2 (value) must be a constant number"},
      {"Equal", {"s", "s"}, {}, 18, "input A (string[2]): expected a type of"},
      {"TopK", {"m", "n"}, {}, 9, "input 1 (k) must be a constant", 2},
      {"Dropout", {"m", "half", "b"}, {}, 11, "training_mode"},
      {"Dropout", {"m", "half", "yes"}, {}, 11, "training_mode"},
      {"Dropout", {"m", "f"}, {}, 11, "input 1 (ratio) must be a constant number"},
      {"GridSample", {"volume", "places"}, {}, 19, "its input must be of rank 4"},
      {"DFT", {"volume", "", "k"}, {}, 19, "the axis must be a constant"},
      {"DFT", {"u", "", "last"}, {}, 19, "the rank of its input must be known"},
      {"RoiAlign", {"x", "boxes", "zero"}, {}, 15, "coordinate_transformation_mode half_pixel"},
      {"Resize", {"m", "", "doubled"}, resize("nearest", "half_pixel"), 10, kResize},
      {"Resize", {"m", "", "doubled"}, resize("cubic", "asymmetric"), 10, kResize},
      {"Resize", {"m", "", "doubled"}, resize("nearest", "asymmetric", "ceil"), 10, kResize},
      {"Resize", {"m", "", "", "others"}, plain, 10, kResize},
      {"Resize", {"u", "", "", "sizes"}, plain, 10, kResize},
      {"Resize",
       {"m", "", "doubled"},
       resize("linear", "half_pixel_symmetric"),
       18,
       "half_pixel_symmetric came with opset 19; save in opset 19 or later"},
      {"Resize",
       {"m", "", "doubled"},
       {{"antialias", int64_t{1}}, {"mode", std::string("linear")}},
       17,
       "attribute antialias came with opset 18"},
      {"ScatterND",
       {"m", "place", "three"},
       {{"reduction", std::string("max")}},
       17,
       "reduction max came with opset 18"},
      {"Max", {"m", "three"}, {}, 7, "its inputs must have one shape; save in opset 8 or later"},
      {"MatMul",
       {"i", "i"},
       {},
       8,
       "expected a type of float, float16, double, got int32[2, 2]; "
       "save in opset 9 or later"},
      {"Relu", {"i"}, {}, 13, "save in opset 14 or later"},
      {"Resize", {"m", "", "halved"}, plain, 10, kScales},
      {"Reshape",
       {"m", "n"},
       {{"allowzero", int64_t{1}}},
       13,
       "attribute allowzero came with opset 14"},
      {"Shape", {"m"}, {{"start", int64_t{1}}}, 14, "attribute start came with opset 15"},
      {"Trilu", {"m"}, {}, 13, "Trilu came with opset 14"},
  };
  for (const OldForm& form : forms) {
    SCOPED_TRACE(form.op);
    const Model model = model_of(form).load();
    expect_refusal(ErrorCode::kUnsupported, form.mention,
                   [&] { model_bytes(model, {.opset = form.opset, .external_data = {}}); });
  }
}

// Forms that differ, and mean the same: written, read again and run.
TEST(Downgrade, FormsThatMeanTheSame) {
  const OldForm forms[] = {
      {"ReduceSum", {"m", "one"}, {{"noop_with_empty_axes", int64_t{1}}}, 12, ""},
      {"ReduceMax", {"m"}, {}, 17, ""},
      {"Softmax", {"m"}, {{"axis", int64_t{1}}}, 12, ""},
      {"Split", {"m"}, {{"num_outputs", int64_t{3}}, {"axis", int64_t{-1}}}, 12, "", 3},
      {"Slice", {"m", "zero", "one", "zero", "one"}, {}, 9, ""},
      {"Pad", {"m", "pads", "half"}, {}, 10, ""},
      {"Clip", {"m", "", "half"}, {}, 10, ""},
      {"TopK", {"m", "two"}, {}, 9, "", 2},
      {"Clip", {"m", "f"}, {}, 10, ""},
      {"Clip", {"m", "", "f"}, {}, 10, ""},
      {"Clip", {"whole", "low", "high"}, {}, 11, ""},
      {"Clip", {"whole", "low"}, {}, 9, ""},
      {"Equal", {"m", "nan"}, {}, 9, ""},
      {"Equal", {"nan", "nan"}, {}, 9, ""},
      {"LessOrEqual", {"m", "nan"}, {}, 9, ""},
      {"LessOrEqual", {"m", "m"}, {}, 11, ""},
      {"GreaterOrEqual", {"m", "half"}, {}, 11, ""},
      {"GreaterOrEqual", {"whole", "low"}, {}, 9, ""},
      {"Softmax", {"x"}, {{"axis", int64_t{1}}}, 12, ""},
      {"LogSoftmax", {"x"}, {{"axis", int64_t{-3}}}, 9, ""},
      {"Hardmax", {"m"}, {{"axis", int64_t{0}}}, 11, ""},
      {"MaxPool", {"x"}, {{"kernel_shape", Ints{2, 2}}, {"dilations", Ints{1, 1}}}, 9, ""},
      {"Max", {"whole", "low"}, {}, 9, ""},
      {"Min", {"whole", "low", "high"}, {}, 9, ""},
      {"Gemm", {"m", "m"}, {{"transB", int64_t{1}}}, 10, ""},
      {"GroupNormalization", {"x", "four", "four"}, {{"num_groups", int64_t{2}}}, 20, ""},
      {"Pad", {"m", "one_axis", "", "second"}, {}, 17, ""},
      {"Concat", {"m", "m"}, {{"axis", int64_t{-1}}}, 10, ""},
      {"Resize", {"m", "", "doubled"}, resize("linear", "half_pixel"), 12, ""},
      {"Resize", {"m", "", "", "sizes"}, resize("linear", "half_pixel"), 11, ""},
      {"Resize", {"m", "", "", "sizes"}, resize("nearest", "asymmetric"), 10, ""},
      {"Resize", {"m", "", "", "sizes"}, resize("nearest", "asymmetric"), 7, ""},
      {"Resize", {"m", "", "twice"}, {{"axes", Ints{-1}}, {"mode", std::string("linear")}}, 13, ""},
      {"Resize",
       {"m", "", "", "wide"},
       {{"axes", Ints{1}}, {"mode", std::string("linear")}},
       11,
       ""},
      {"Dropout", {"m", "half", "no"}, {}, 11, ""},
      {"GridSample", {"x", "grid"}, mode("cubic"), 19, ""},
      {"DFT", {"volume", "", "last"}, {}, 19, ""},
      {"RoiAlign",
       {"x", "boxes", "zero"},
       {{"coordinate_transformation_mode", std::string("output_half_pixel")}},
       15,
       ""},
      {"Resize", {"m", "", "doubled"}, resize("nearest", "asymmetric"), 10, ""},
      {"Resize", {"m", "", "doubled"}, resize("linear", "asymmetric"), 9, ""},
      {"Resize", {"m", "", "doubled"}, resize("nearest", "asymmetric"), 8, ""},
  };
  const auto ramp = [](Shape shape) {
    Tensor made = Tensor::allocate(DType::kFloat, std::move(shape));
    float value = -1;
    for (float& element : made.mutable_values<float>())
      element = value += 0.25f;
    return Datum(made);
  };
  for (const OldForm& form : forms) {
    SCOPED_TRACE(std::string(form.op) + " at opset " + std::to_string(form.opset));
    const Model model = model_of(form).load();
    const std::string bytes = model_bytes(model, {.opset = form.opset, .external_data = {}});
    const Model again = load_model(std::as_bytes(std::span(bytes)));
    const std::vector<Datum> inputs{ramp({2, 4, 3, 5}),
                                    ramp({2, 3}),
                                    ramp({2}),
                                    Tensor::scalar(0.5f),
                                    Tensor::vector<int64_t>({1}),
                                    Tensor::scalar(int64_t{1}),
                                    Tensor::scalar(true)};
    const std::vector<Datum> expected = evaluate(*model.graph, inputs);
    const std::vector<Datum> got = evaluate(*again.graph, inputs);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(got[i].tensor(), expected[i].tensor()) << i;
  }
}

// A conditional whose branches give other shapes, which opset 11 allowed.
TEST(DowngradeRefusals, BranchesOfOtherShapes) {
  ModelBuilder model;
  GraphBuilder graph = model.graph();
  graph.input("b", DType::kBool, {{}});
  graph.input("m", DType::kFloat, {{2, 3}});
  graph.output("y");
  NodeProto& choice = graph.node("If", {"b"}, {"y"});
  GraphBuilder then_branch = add_subgraph(choice, "then_branch");
  then_branch.output("t");
  then_branch.node("Flatten", {"m"}, {"t"}, {{"axis", int64_t{0}}});
  GraphBuilder else_branch = add_subgraph(choice, "else_branch");
  else_branch.output("e");
  else_branch.node("Neg", {"m"}, {"e"});
  const Model loaded = model.load();
  expect_refusal(ErrorCode::kUnsupported, "in the other, which opset 11 allowed",
                 [&] { model_bytes(loaded, {.opset = 9, .external_data = {}}); });
  EXPECT_NO_THROW(model_bytes(loaded, {.opset = 11, .external_data = {}}));
}

// Where no opset is asked for: that of the model's file, or the first later one that has the ops.
TEST(Downgrade, OpsetsThatAreNotAskedFor) {
  const auto opset_after = [](int64_t opset, int64_t ir_version) {
    ModelBuilder builder(opset, ir_version);
    GraphBuilder graph = builder.graph();
    graph.input("x", DType::kFloat, {{2}});
    graph.output("y");
    graph.node("Relu", {"x"}, {"y"});
    const std::string bytes = model_bytes(builder.load());
    const Model again = load_model(std::as_bytes(std::span(bytes)));
    return std::pair(again.opsets.at(""), again.ir_version);
  };
  EXPECT_EQ(opset_after(13, 7), std::pair(int64_t{13}, int64_t{7}));
  EXPECT_EQ(opset_after(13, 9), std::pair(int64_t{13}, int64_t{9}));
  EXPECT_EQ(opset_after(27, 13), std::pair(int64_t{27}, int64_t{13}));
  EXPECT_EQ(opset_after(6, 3), std::pair(int64_t{7}, int64_t{4}));

  Model made;
  Value* x = made.graph->add_input("x", Type::tensor(DType::kFloat, {{2}}));
  Node* node = made.graph->append(op_named("Neg"), Attrs(), {x}, {"y"});
  infer_node(*made.graph, *node);
  made.graph->add_output(node->outputs[0]);
  EXPECT_EQ(saved_opset(made), kDefaultOpset);
  Value* packed = made.graph->add_input("p", Type::tensor(DType::kInt4, {{2}}));
  Node* reshaped = made.graph->append(op_named("Identity"), Attrs(), {packed}, {"q"});
  infer_node(*made.graph, *reshaped);
  made.graph->add_output(reshaped->outputs[0]);
  EXPECT_EQ(saved_opset(made), 21);
}

}  // namespace
}  // namespace sardonyx
