// Gradients: calls of their rows that do not fit, and rules that need to know more before the run.
#include "ir/autodiff/autodiff.h"
#include "ir/graph.h"
#include "tests/support/expect_op_error.h"

namespace sardonyx {
namespace {

using std::string;

Type floats_of(std::optional<Dims> dims = std::nullopt) {
  return Type::tensor(DType::kFloat, std::move(dims));
}
Type int64s_of(std::optional<Dims> dims = std::nullopt) {
  return Type::tensor(DType::kInt64, std::move(dims));
}
Dim named(const char* name) {
  return Dim::symbol(name);
}

// A call in a graph, of whose inputs only the types are known.
struct Traced {
  const char* op;
  std::vector<Type> inputs;
  AttrMap attrs;
  const char* mention;
  size_t by = 0;  // the input by which is differentiated
};

Vals inputs_of(Graph& graph, const std::vector<Type>& types) {
  Vals inputs;
  for (const Type& type : types)
    inputs.push_back(type.is_none() ? Val() : GraphEmitter::wrap(graph.add_input("", type)));
  return inputs;
}

void expect_no_gradient(const std::vector<Traced>& calls) {
  for (const Traced& call : calls) {
    SCOPED_TRACE(call.op);
    Graph graph;
    GraphEmitter inner(graph);
    RecordingEmitter e(inner);
    const Vals inputs = inputs_of(graph, call.inputs);
    const Vals ys = e.call_many(call.op, inputs, call.attrs, 1);
    expect_refusal(kNotSupported, call.mention, [&] {
      e.gradients(ys, Vals(1), {&inputs[call.by], 1});
    });
  }
}

void expect_no_body(const std::vector<Traced>& calls) {
  for (const Traced& call : calls) {
    SCOPED_TRACE(call.op);
    Graph graph;
    GraphEmitter e(graph);
    const Vals inputs = inputs_of(graph, call.inputs);
    const OpDef& op = op_named(call.op);
    const Attrs attrs = Attrs::parse(*op.attrs, call.attrs);
    expect_refusal(kNotSupported, call.mention, [&] { op.body(e, {op, attrs, inputs, 1}); });
  }
}

TEST(GradientRefusals, RanksThatAreNotKnown) {
  const Type any = floats_of(), matrix = floats_of(Dims{named("a"), named("b")});
  const Type number = int64s_of(Dims{});
  expect_no_gradient({
      {"MatMul", {any, matrix}, {}, "the ranks of the operands must be known to differentiate"},
      {"Einsum",
       {any, matrix},
       {{"equation", string("ij,jk->ik")}},
       "the ranks of the operands must be known to differentiate"},
      {"CumProd", {any, number}, {}, "the rank of x must be known to differentiate the product"},
      {"ReduceProd",
       {any, int64s_of(Dims{1})},
       {},
       "the rank of data and the value of axes must be known to differentiate the product"},
      {"Tile", {any, int64s_of()}, {}, "the rank of the input must be known to differentiate"},
      {"TensorScatter",
       {floats_of(Dims{1, 1, 4, 2}), any, int64s_of(Dims{1})},
       {},
       "the rank of update must be known to differentiate",
       1},
      {"DFT",
       {floats_of(Dims{1, 8, 2}), Type::none(), number},
       {},
       "DFT: its gradient takes an axis that is known"},
  });
}

TEST(GradientRefusals, WhatIsNotComputed) {
  const Dims image{1, 1, named("h"), named("w")};
  const AttrMap policy{{"keep_aspect_ratio_policy", string("not_larger")}, {"axes", Ints{2, 3}}};
  const Type none = Type::none();
  const string letters = "bcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  expect_no_gradient({
      {"Resize",
       {floats_of(image), none, none, int64s_of(Dims{2})},
       policy,
       "keep_aspect_ratio_policy not_larger can only be differentiated where all shapes are known"},
      {"Resize",
       {floats_of(Dims{1, 1, 4, 4}), none, floats_of(Dims{4})},
       {},
       "by roi and scales is not computed; detach them",
       2},
      {"Resize",
       {floats_of(Dims{1, 1, 4, 4}), floats_of(Dims{8}), floats_of(Dims{4})},
       {{"coordinate_transformation_mode", string("tf_crop_and_resize")}},
       "by roi and scales is not computed; detach them",
       1},
      // A diagonal takes one index more than the equation has.
      {"Einsum",
       {floats_of(Dims{2, 2}), floats_of(Dims(letters.size(), 1))},
       {{"equation", "aa," + letters + "->"}},
       "the gradient needs more than 52 indices"},
  });
}

TEST(BodyRefusals, RanksThatAreNotKnown) {
  const Type any = floats_of(), matrix = floats_of(Dims{2, 3}), image = floats_of(Dims{1, 2, 4, 4});
  expect_no_body({
      {"sardonyx::FusedMatMul",
       {any, matrix},
       {{"transA", 1}},
       "FusedMatMul: the rank of an operand must be known"},
      {"sardonyx::ChannelShuffle",
       {any},
       {{"groups", 2}},
       "ChannelShuffle: X: the rank must be known"},
      {"sardonyx::ConvInputGrad",
       {image, any, int64s_of(Dims{4})},
       {},
       "the rank of the weight must be known"},
      {"sardonyx::ConvWeightGrad",
       {any, image, int64s_of(Dims{4})},
       {},
       "the rank of an input must be known to write the op in others; declare its shape"},
      {"GroupNormalization",
       {any, floats_of(Dims{2}), floats_of(Dims{2})},
       {{"num_groups", 2}},
       "GroupNormalization of a tensor of unknown rank (float[*]) has no form in other ops"},
      {"sardonyx::ConvWeightGrad",
       {image, image, int64s_of(Dims{2, 2})},
       {},
       "the shape of the weight must be a vector, got int64[0, 2]"},
  });
}

// ---- rows of gradients ----

TEST(GradientRefusals, Convolutions) {
  const Datum dy = zeros({1, 2, 3, 3}), w = zeros({2, 2, 2, 2}), image = zeros({1, 2, 4, 4});
  const char *by_input = "sardonyx::ConvInputGrad", *by_weight = "sardonyx::ConvWeightGrad";
  const Datum input_shape = ints({1, 2, 4, 4}), weight_shape = ints({2, 2, 2, 2});
  EXPECT_EQ(error_of(by_input, {dy, w, input_shape}), "");
  EXPECT_EQ(error_of(by_weight, {dy, image, weight_shape}), "");
  expect_refused(std::vector<Refused>{
      {by_input, {dy, zeros({3, 2, 2, 2}), input_shape}, {}, "channels of the output's gradient"},
      {by_input, {dy, w, ints({1, 2, 4})}, {}, "shape: expected 4 sizes, got 3"},
      {by_input, {dy, w, ints({1, 3, 4, 4})}, {}, "channels of the input and the weight: 3 and 2"},
      {by_input,
       {dy, w, ints({1, 2, 5, 4})},
       {},
       "spatial dims of the output's gradient: 4 and 3 differ"},
      {by_weight,
       {zeros({1, 2, 3}), image, weight_shape},
       {},
       "expected inputs of one rank, at least 3, got 3 and 4"},
      {by_weight,
       {zeros({2, 2, 3, 3}), image, weight_shape},
       {},
       "batch of the input and the output's gradient: 2 and 1 differ"},
      {by_weight, {dy, image, weight_shape}, {{"group", 0}}, "group: expected at least 1, got 0"},
      {by_weight, {dy, image, ints({2, 2, 2})}, {}, "shape: expected 4 sizes, got 3"},
      {by_weight,
       {dy, image, ints({3, 2, 2, 2})},
       {},
       "channels of the output's gradient and the weight: 2 and 3 differ"},
      {by_weight,
       {dy, image, ints({2, 3, 2, 2})},
       {},
       "channels of the input and the weight: 2 and 3 differ"},
      {by_weight,
       {zeros({1, 3, 3, 3}), image, ints({3, 1, 2, 2})},
       {{"group", 2}},
       "group: 2 does not divide the 3 output channels"},
      {by_weight,
       {dy, image, ints({2, 2, 3, 2})},
       {},
       "spatial dims of the output's gradient: 2 and 3 differ"},
      {"sardonyx::AveragePoolGrad",
       {dy, ints({1, 2, 4})},
       {{"kernel_shape", Ints{2, 2}}},
       "expected 4 values, got 3"},
  });
}

// A sequence of 4, a batch of 3, 2 numbers in, a state of 5.
TEST(GradientRefusals, Recurrent) {
  const int64_t gates = 4;
  const Datum state = zeros({1, 3, 5}), o = none();
  const std::vector<Datum> good{zeros({4, 3, 2}),
                                zeros({1, gates * 5, 2}),
                                zeros({1, gates * 5, 5}),
                                zeros({1, gates * 10}),
                                state,
                                state,
                                zeros({3}, DType::kInt32),
                                zeros({1, 15}),
                                zeros({4, 1, 3, 5}),
                                state,
                                state};
  const char* op = "sardonyx::LstmGrad";
  EXPECT_EQ(error_of(op, good, {}, 7), "");
  const auto with = [&](size_t at, Datum other, const char* mention) -> Refused {
    std::vector<Datum> inputs = good;
    inputs[at] = std::move(other);
    return {op, inputs, {}, mention, kBadModel, 7};
  };
  const Datum wide = zeros({1, 3, 6});
  expect_refused(std::vector<Refused>{
      with(0, zeros({4, 3}), "input X (float[4, 3]): expected rank 3, got 2"),
      with(1, zeros({20, 2}), "input W (float[20, 2]): expected rank 3, got 2"),
      with(2, zeros({20, 5}), "input R (float[20, 5]): expected rank 3, got 2"),
      with(1, zeros({1, 19, 2}), "dim 1 of input W (float[1, 19, 2]): 19 and 20 differ"),
      with(1, zeros({1, 20, 3}), "dim 2 of input W (float[1, 20, 3]): 3 and 2 differ"),
      with(2, zeros({1, 19, 5}), "dim 1 of input R (float[1, 19, 5]): 19 and 20 differ"),
      with(3, zeros({1, 39}), "dim 1 of input B (float[1, 39]): 39 and 40 differ"),
      with(3, zeros({40}), "input B (float[40]): expected rank 2, got 1"),
      with(4, wide, "dim 2 of input initial_h (float[1, 3, 6]): 6 and 5 differ"),
      with(5, wide, "dim 2 of input initial_c (float[1, 3, 6]): 6 and 5 differ"),
      with(6, zeros({2}, DType::kInt32), "dim 0 of input sequence_lens (int32[2]): 2 and 3 differ"),
      with(7, zeros({1, 14}), "dim 1 of input P (float[1, 14]): 14 and 15 differ"),
      with(8, zeros({3, 1, 3, 5}), "dim 0 of input dY (float[3, 1, 3, 5]): 3 and 4 differ"),
      with(9, wide, "dim 2 of input dY_h (float[1, 3, 6]): 6 and 5 differ"),
      with(10, wide, "dim 2 of input dY_c (float[1, 3, 6]): 6 and 5 differ"),
      with(7, o, "a gradient of peepholes is asked for where there are none"),
  });
}

}  // namespace
}  // namespace sardonyx
