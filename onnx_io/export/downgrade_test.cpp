// Older forms of operators: what they can't say is refused, by a message that says what that is.
#include "ir/refusal_for_test.h"
#include "onnx_io/save.h"
#include "onnx_io/test_model.h"

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
      {"Softmax", {"x"}, {{"axis", int64_t{1}}}, 12, "axis must be the last one"},
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
      {"Pad", {"m", "pair", "", "zero"}, {}, 17, "the input axes came with opset 18"},
      {"Pad", {"m", "pads"}, mode("wrap"), 18, "mode wrap came with opset 19"},
      {"Pad", {"m", "pads", "f"}, {}, 10, "input 2 (value) must be a constant number"},
      {"Clip", {"m", "f"}, {}, 10, "input 1 (min) must be a constant number"},
      {"Clip", {"m", "", "f"}, {}, 10, "input 2 (max) must be a constant number"},
      {"TopK", {"m", "n"}, {}, 9, "input 1 (k) must be a constant", 2},
      {"Dropout", {"m", "half", "b"}, {}, 11, "training_mode"},
      {"Dropout", {"m", "half", "yes"}, {}, 11, "training_mode"},
      {"Dropout", {"m", "f"}, {}, 11, "input 1 (ratio) must be a constant number"},
      {"GridSample", {"volume", "places"}, {}, 19, "its input must be of rank 4"},
      {"DFT", {"volume", "", "k"}, {}, 19, "the axis must be a constant"},
      {"DFT", {"u", "", "last"}, {}, 19, "the rank of its input must be known"},
      {"RoiAlign", {"x", "boxes", "zero"}, {}, 15, "coordinate_transformation_mode half_pixel"},
      {"Gemm", {"m", "m"}, {{"transB", int64_t{1}}}, 10, "its input C must be given"},
      {"GroupNormalization",
       {"x", "four", "four"},
       {{"num_groups", int64_t{2}}},
       20,
       "its older form means something else"},
      {"Resize", {"m", "", "doubled"}, resize("nearest", "half_pixel"), 10, kResize},
      {"Resize", {"m", "", "doubled"}, resize("cubic", "asymmetric"), 10, kResize},
      {"Resize", {"m", "", "doubled"}, resize("nearest", "asymmetric", "ceil"), 10, kResize},
      {"Resize", {"m", "", "", "sizes"}, plain, 10, kResize},
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

}  // namespace
}  // namespace sardonyx
