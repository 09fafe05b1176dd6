// Each fusion pass fires where it should, does not where it should not, and leaves the numbers as
// they were.
#include "executor/passes/fusion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "ir/evaluate.h"

namespace sardonyx::passes {
namespace {

using Apply = bool (*)(Graph&, Node&);
using Ints = std::vector<int64_t>;

Tensor random_floats(const Shape& shape, uint32_t seed) {
  Tensor tensor = Tensor::allocate(DType::kFloat, shape);
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(0.25f, 1.25f);
  for (float& value : tensor.mutable_values<float>())
    value = uniform(generator) - 0.5f;
  return tensor;
}

Tensor positive_floats(const Shape& shape, uint32_t seed) {
  Tensor tensor = random_floats(shape, seed);
  for (float& value : tensor.mutable_values<float>())
    value += 1;
  return tensor;
}

// A graph in the making, with values for its inputs.
class Builder {
 public:
  Val input(const Shape& shape) {
    Value* value = graph_.add_input("", Type::tensor(DType::kFloat, to_dims(shape)));
    inputs_.emplace_back(random_floats(shape, static_cast<uint32_t>(inputs_.size() + 1)));
    return GraphEmitter::wrap(value);
  }
  Val constant(const Shape& shape) {
    return emitter_.constant(random_floats(shape, static_cast<uint32_t>(100 + ++constants_)));
  }
  Val positive(const Shape& shape) {
    return emitter_.constant(positive_floats(shape, static_cast<uint32_t>(100 + ++constants_)));
  }
  Val scalar(float value) { return emitter_.constant(Tensor::scalar(value)); }
  Val ints(const Ints& values) { return emitter_.constant(Tensor::vector(values)); }
  Val call(std::string_view op, std::initializer_list<Val> inputs, const AttrMap& attrs = {}) {
    return emitter_.call(op, inputs, attrs);
  }
  void output(const Val& val) { graph_.add_output(GraphEmitter::unwrap(val)); }

  Graph& graph() { return graph_; }
  std::vector<Datum> evaluate() const { return sardonyx::evaluate(graph_, inputs_); }

 private:
  Graph graph_;
  GraphEmitter emitter_{graph_};
  std::vector<Datum> inputs_;
  size_t constants_ = 0;
};

int apply_everywhere(Graph& graph, Apply apply) {
  int changes = 0;
  for (auto at = graph.nodes().begin(); at != graph.nodes().end();) {
    if (!apply(graph, **at)) {
      ++at;
      continue;
    }
    ++changes;
    verify(graph);
    at = graph.nodes().begin();
  }
  return changes;
}

std::vector<std::string> op_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const auto& node : graph.nodes())
    names.emplace_back(node->op->name);
  return names;
}

void expect_same(const std::vector<Datum>& got, const std::vector<Datum>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const auto a = got[i].tensor().values<float>(), b = expected[i].tensor().values<float>();
    ASSERT_EQ(got[i].tensor().shape(), expected[i].tensor().shape());
    for (size_t j = 0; j < a.size(); ++j) {
      ASSERT_NEAR(a[j], b[j], 1e-5 * (1 + std::abs(b[j]))) << "output " << i << ", element " << j;
    }
  }
}

struct Case {
  const char* name;
  std::function<void(Builder&)> build;
  std::vector<Apply> apply;
  std::vector<std::string> ops;  // afterwards; where no pass fires, those of before
  int changes;
};

void check(const Case& c) {
  SCOPED_TRACE(c.name);
  Builder builder;
  c.build(builder);
  const std::vector<Datum> expected = builder.evaluate();
  int changes = 0;
  for (const Apply apply : c.apply)
    changes += apply_everywhere(builder.graph(), apply);
  EXPECT_EQ(changes, c.changes);
  EXPECT_EQ(op_names(builder.graph()), c.ops);
  expect_same(builder.evaluate(), expected);
}

Val conv(Builder& b, const Val& x, const AttrMap& attrs = {}) {
  return b.call("Conv", {x, b.constant({4, 3, 3, 3}), b.constant({4})}, attrs);
}

Val batch_norm(Builder& b, const Val& x, int64_t channels) {
  return b.call("BatchNormalization", {x, b.constant({channels}), b.constant({channels}),
                                       b.constant({channels}), b.positive({channels})});
}

TEST(FoldBatchNorm, ScalesWeights) {
  const std::vector<Case> cases = {
      {"Conv",
       [](Builder& b) {
         b.output(batch_norm(b, conv(b, b.input({2, 3, 6, 6})), 4));
       },
       {fold_batch_norm},
       {"Conv"},
       1},
      {"Conv without bias",
       [](Builder& b) {
         b.output(batch_norm(b, b.call("Conv", {b.input({1, 2, 5}), b.constant({3, 2, 3})}), 3));
       },
       {fold_batch_norm},
       {"Conv"},
       1},
      {"ConvTranspose in groups",
       [](Builder& b) {
         const Val y = b.call("ConvTranspose", {b.input({1, 4, 4, 4}), b.constant({4, 3, 2, 2})},
                              {{"group", int64_t{2}}});
         b.output(batch_norm(b, y, 6));
       },
       {fold_batch_norm},
       {"ConvTranspose"},
       1},
      {"Gemm",
       [](Builder& b) {
         const Val y = b.call("Gemm", {b.input({3, 5}), b.constant({5, 4}), b.constant({4})});
         b.output(batch_norm(b, y, 4));
       },
       {fold_batch_norm},
       {"Gemm"},
       1},
      {"Gemm, transposed",
       [](Builder& b) {
         const Val y =
             b.call("Gemm", {b.input({3, 5}), b.constant({4, 5})}, {{"transB", int64_t{1}}});
         b.output(batch_norm(b, y, 4));
       },
       {fold_batch_norm},
       {"Gemm"},
       1},
      {"another reader",
       [](Builder& b) {
         const Val y = conv(b, b.input({2, 3, 6, 6}));
         b.output(batch_norm(b, y, 4));
         b.output(b.call("Relu", {y}));
       },
       {fold_batch_norm},
       {"Conv", "BatchNormalization", "Relu"},
       0},
      {"the convolution is an output",
       [](Builder& b) {
         const Val y = conv(b, b.input({2, 3, 6, 6}));
         b.output(y);
         b.output(batch_norm(b, y, 4));
       },
       {fold_batch_norm},
       {"Conv", "BatchNormalization"},
       0},
      {"weights that are no constant",
       [](Builder& b) {
         b.output(batch_norm(b, b.call("Conv", {b.input({1, 2, 5}), b.input({3, 2, 3})}), 3));
       },
       {fold_batch_norm},
       {"Conv", "BatchNormalization"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(ConvScaleAndBias, GoIntoTheConstants) {
  const std::vector<Case> cases = {
      {"all four",
       [](Builder& b) {
         Val y = b.call("Conv", {b.input({2, 3, 6, 6}), b.constant({4, 3, 3, 3})});
         y = b.call("Add", {b.constant({4, 1, 1}), y});
         y = b.call("Mul", {y, b.constant({1, 4, 1, 1})});
         y = b.call("Sub", {y, b.scalar(0.5f)});
         b.output(b.call("Div", {y, b.positive({4, 1, 1})}));
       },
       {fuse_conv_bias, fold_conv_scale, fuse_conv_bias, fold_conv_scale},
       {"Conv"},
       4},
      {"along the width",
       [](Builder& b) {
         b.output(b.call("Add", {conv(b, b.input({2, 3, 6, 6})), b.constant({4})}));
       },
       {fuse_conv_bias, fold_conv_scale},
       {"Conv", "Add"},
       0},
      {"constant minus layer",
       [](Builder& b) {
         b.output(b.call("Sub", {b.constant({4, 1, 1}), conv(b, b.input({2, 3, 6, 6}))}));
       },
       {fuse_conv_bias},
       {"Conv", "Sub"},
       0},
      {"a constant that makes the output larger",
       [](Builder& b) {
         const Val y = b.call("Conv", {b.input({1, 3, 3, 3}), b.constant({1, 3, 3, 3})});
         b.output(b.call("Mul", {y, b.constant({5, 1, 1})}));
       },
       {fold_conv_scale},
       {"Conv", "Mul"},
       0},
      {"division by zero",
       [](Builder& b) {
         const Val y = b.call("Div", {conv(b, b.input({2, 3, 6, 6})), b.scalar(0)});
         b.output(b.call("Clip", {y, b.scalar(-1), b.scalar(1)}));
       },
       {fold_conv_scale},
       {"Conv", "Div", "Clip"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(FuseConv, TakesResidualAndActivationIn) {
  const std::vector<Case> cases = {
      {"both",
       [](Builder& b) {
         const Val y = conv(b, b.input({2, 3, 6, 6}));
         b.output(b.call("Relu", {b.call("Add", {y, b.input({2, 4, 4, 4})})}));
       },
       {fuse_conv_residual, fuse_conv_activation},
       {"FusedConv"},
       2},
      {"residual that comes later",
       [](Builder& b) {
         const Val x = b.input({2, 3, 6, 6});
         const Val y = conv(b, x);
         const Val z = b.call("Exp", {b.input({2, 4, 4, 4})});
         b.output(b.call("Add", {y, z}));
       },
       {fuse_conv_residual},
       {"Exp", "FusedConv"},
       1},
      {"two convolutions",
       [](Builder& b) {
         const Val x = b.input({2, 3, 6, 6});
         b.output(b.call("Add", {conv(b, x), conv(b, x)}));
       },
       {fuse_conv_residual},
       {"Conv", "FusedConv"},
       1},
      {"Clip with a parameter left out",
       [](Builder& b) {
         b.output(b.call("Clip", {conv(b, b.input({2, 3, 6, 6})), b.scalar(0.1f)}));
       },
       {fuse_conv_activation},
       {"FusedConv"},
       1},
      {"transposed",
       [](Builder& b) {
         const Val y = b.call("ConvTranspose", {b.input({1, 4, 4, 4}), b.constant({4, 3, 2, 2})});
         b.output(b.call("LeakyRelu", {y}, {{"alpha", 0.2f}}));
       },
       {fuse_conv_activation},
       {"FusedConvTranspose"},
       1},
      {"swish",
       [](Builder& b) {
         const Val y = conv(b, b.input({2, 3, 6, 6}));
         b.output(b.call("Mul", {y, b.call("Sigmoid", {y})}));
       },
       {recognize_swish, fuse_conv_activation},
       {"FusedConv"},
       2},
      {"hard swish",
       [](Builder& b) {
         const Val y = conv(b, b.input({2, 3, 6, 6}));
         const Val gate = b.call("HardSigmoid", {y}, {{"alpha", 1.f / 6}, {"beta", 0.5f}});
         b.output(b.call("Mul", {gate, y}));
       },
       {recognize_swish, fuse_conv_activation},
       {"FusedConv"},
       2},
      {"residual after the activation",
       [](Builder& b) {
         const Val y = b.call("Relu", {conv(b, b.input({2, 3, 6, 6}))});
         b.output(b.call("Add", {y, b.input({2, 4, 4, 4})}));
       },
       {fuse_conv_activation, fuse_conv_residual},
       {"FusedConv", "Add"},
       1},
      {"residual that is repeated",
       [](Builder& b) {
         b.output(b.call("Add", {conv(b, b.input({2, 3, 6, 6})), b.input({4, 4})}));
       },
       {fuse_conv_residual},
       {"Conv", "Add"},
       0},
      {"the same value twice",
       [](Builder& b) {
         const Val y = conv(b, b.input({2, 3, 6, 6}));
         b.output(b.call("Add", {y, y}));
       },
       {fuse_conv_residual},
       {"Conv", "Add"},
       0},
      {"another reader",
       [](Builder& b) {
         const Val y = conv(b, b.input({2, 3, 6, 6}));
         b.output(b.call("Add", {b.call("Relu", {y}), y}));
       },
       {fuse_conv_activation, fuse_conv_residual},
       {"Conv", "Relu", "Add"},
       0},
      {"bounds that are no constants",
       [](Builder& b) {
         b.output(b.call("Clip", {conv(b, b.input({2, 3, 6, 6})), b.input({})}));
       },
       {fuse_conv_activation},
       {"Conv", "Clip"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(PadIntoConv, JoinsPads) {
  const Ints height_and_width{0, 0, 1, 2, 0, 0, 0, 1};
  const auto padded = [=](Builder& b, const Ints& pads, const AttrMap& attrs = {}) {
    return b.call("Pad", {b.input({1, 3, 5, 5}), b.ints(pads)}, attrs);
  };
  const std::vector<Case> cases = {
      {"Conv",
       [=](Builder& b) {
         b.output(conv(b, padded(b, height_and_width), {{"pads", Ints{1, 0, 0, 1}}}));
       },
       {pad_into_conv},
       {"Conv"},
       1},
      {"AveragePool",
       [=](Builder& b) {
         b.output(
             b.call("AveragePool", {padded(b, height_and_width)}, {{"kernel_shape", Ints{3, 3}}}));
       },
       {pad_into_conv},
       {"AveragePool"},
       1},
      {"another reader",
       [=](Builder& b) {
         const Val x = padded(b, height_and_width);
         b.output(conv(b, x));
         b.output(b.call("Relu", {x}));
       },
       {pad_into_conv},
       {"Pad", "Conv", "Relu"},
       1},
      {"other values",
       [=](Builder& b) {
         b.output(conv(
             b, b.call("Pad", {b.input({1, 3, 5, 5}), b.ints(height_and_width), b.scalar(1)})));
       },
       {pad_into_conv},
       {"Pad", "Conv"},
       0},
      {"another mode",
       [=](Builder& b) {
         b.output(conv(b, padded(b, height_and_width, {{"mode", std::string("edge")}})));
       },
       {pad_into_conv},
       {"Pad", "Conv"},
       0},
      {"the batch grows",
       [=](Builder& b) {
         b.output(conv(b, padded(b, {1, 0, 0, 0, 0, 0, 0, 0})));
       },
       {pad_into_conv},
       {"Pad", "Conv"},
       0},
      {"a crop",
       [=](Builder& b) {
         b.output(conv(b, padded(b, {0, 0, -1, 0, 0, 0, 0, 0})));
       },
       {pad_into_conv},
       {"Pad", "Conv"},
       0},
      {"pads that follow the size",
       [=](Builder& b) {
         b.output(conv(b, padded(b, height_and_width), {{"auto_pad", std::string("SAME_UPPER")}}));
       },
       {pad_into_conv},
       {"Pad", "Conv"},
       0},
      {"an average that does not count its own pads",
       [=](Builder& b) {
         b.output(b.call("AveragePool", {padded(b, height_and_width)},
                         {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}}));
       },
       {pad_into_conv},
       {"Pad", "AveragePool"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(FuseMatMul, TakesItsSurroundingsIn) {
  const std::vector<Case> cases = {
      {"everything",
       [](Builder& b) {
         const Val k = b.call("Transpose", {b.input({2, 5, 4})}, {{"perm", Ints{0, 2, 1}}});
         Val y = b.call("MatMul", {b.input({2, 3, 4}), k});
         y = b.call("Div", {y, b.scalar(2)});
         y = b.call("Add", {b.constant({5}), y});
         y = b.call("Add", {y, b.input({2, 3, 5})});
         b.output(b.call("Gelu", {y}));
       },
       {fuse_matmul_transpose, fuse_matmul_scale, fuse_matmul_bias, fuse_matmul_residual,
        fuse_matmul_activation},
       {"Transpose", "FusedMatMul"},
       5},
      {"Gemm",
       [](Builder& b) {
         const Val y = b.call("Gemm", {b.input({3, 4}), b.constant({5, 4}), b.constant({5})},
                              {{"transB", int64_t{1}}, {"alpha", 0.5f}});
         b.output(b.call("Tanh", {y}));
       },
       {fuse_matmul_activation},
       {"FusedMatMul"},
       1},
      {"both operands transposed",
       [](Builder& b) {
         const Val x = b.call("Transpose", {b.input({4, 3})});
         b.output(b.call("MatMul", {x, b.call("Transpose", {b.input({5, 4})})}));
       },
       {fuse_matmul_transpose},
       {"Transpose", "Transpose", "FusedMatMul"},
       2},
      {"another permutation",
       [](Builder& b) {
         const Val k = b.call("Transpose", {b.input({4, 2, 5})}, {{"perm", Ints{1, 0, 2}}});
         b.output(b.call("MatMul", {b.input({2, 3, 4}), k}));
       },
       {fuse_matmul_transpose},
       {"Transpose", "MatMul"},
       0},
      {"Gemm with a scaled addend",
       [](Builder& b) {
         const Val y = b.call("Gemm", {b.input({3, 4}), b.constant({4, 5}), b.constant({5})},
                              {{"beta", 0.5f}});
         b.output(b.call("Relu", {y}));
       },
       {fuse_matmul_activation},
       {"Gemm", "Relu"},
       0},
      {"a bias of many rows",
       [](Builder& b) {
         const Val y = b.call("MatMul", {b.input({3, 4}), b.constant({4, 5})});
         b.output(b.call("Add", {y, b.constant({3, 1})}));
       },
       {fuse_matmul_bias, fuse_matmul_residual},
       {"MatMul", "Add"},
       0},
      {"a factor for each column",
       [](Builder& b) {
         const Val y = b.call("MatMul", {b.input({3, 4}), b.constant({4, 5})});
         b.output(b.call("Mul", {y, b.constant({5})}));
       },
       {fuse_matmul_scale},
       {"MatMul", "Mul"},
       0},
      {"a factor after the bias",
       [](Builder& b) {
         Val y = b.call("MatMul", {b.input({3, 4}), b.constant({4, 5})});
         y = b.call("Add", {y, b.constant({5})});
         b.output(b.call("Mul", {y, b.scalar(2)}));
       },
       {fuse_matmul_bias, fuse_matmul_scale},
       {"FusedMatMul", "Mul"},
       1},
      {"a second activation",
       [](Builder& b) {
         const Val y = b.call("MatMul", {b.input({3, 4}), b.constant({4, 5})});
         b.output(b.call("Relu", {b.call("Tanh", {y})}));
       },
       {fuse_matmul_activation},
       {"FusedMatMul", "Relu"},
       1},
      {"another reader",
       [](Builder& b) {
         const Val y = b.call("MatMul", {b.input({3, 4}), b.constant({4, 5})});
         b.output(b.call("Relu", {y}));
         b.output(y);
       },
       {fuse_matmul_activation},
       {"MatMul", "Relu"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(FusionTest, ViewsSinkBelowWhatCanBeFused) {
  const auto squeezed = [](Builder& b) {
    const Val y = b.call("Conv", {b.input({2, 3, 1, 8}), b.constant({4, 3, 1, 3})});
    return b.call("Squeeze", {y, b.ints({2})});
  };
  const Case cases[] = {
      {"bias of channels",
       [&](Builder& b) {
         b.output(b.call("Add", {squeezed(b), b.constant({1, 4, 1})}));
       },
       {sink_views},
       {"Conv", "Add", "Squeeze"},
       1},
      {"activation",
       [&](Builder& b) { b.output(b.call("Relu", {squeezed(b)})); },
       {sink_views},
       {"Conv", "Relu", "Squeeze"},
       1},
      {"another reader",
       [&](Builder& b) {
         const Val y = squeezed(b);
         b.output(y);
         b.output(b.call("Relu", {y}));
       },
       {sink_views},
       {"Conv", "Squeeze", "Relu"},
       0},
      {"a constant that enlarges",
       [&](Builder& b) {
         b.output(b.call("Add", {squeezed(b), b.constant({3, 1, 1, 1})}));
       },
       {sink_views},
       {"Conv", "Squeeze", "Add"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(FusionTest, ConcatOfNarrowedFloatsIsWidened) {
  const auto cast = [](Builder& b, const Val& x, DType to) {
    return b.call("Cast", {x}, {{"to", static_cast<int64_t>(to)}});
  };
  const auto narrow = [=](Builder& b) { return cast(b, b.input({2, 3}), DType::kFloat16); };
  const AttrMap rows{{"axis", int64_t{0}}};
  const Case cases[] = {
      {"all were cast",
       [=](Builder& b) {
         const Val joined = b.call("Concat", {narrow(b), narrow(b)}, rows);
         b.output(cast(b, joined, DType::kFloat));
       },
       {widen_concat},
       {"Cast", "Cast", "Concat", "Cast", "Cast"},
       1},
      {"one was not",
       [=](Builder& b) {
         const Val x = narrow(b);
         b.output(cast(b, b.call("Concat", {x, b.call("Neg", {x})}, rows), DType::kFloat));
       },
       {widen_concat},
       {"Cast", "Neg", "Concat", "Cast"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

TEST(FusionTest, WinogradIsAllowedForDenseWindowsOfManyOutputs) {
  const auto conv_of = [](Shape x, Shape w, AttrMap attrs) {
    return [=](Builder& b) { b.output(b.call("Conv", {b.input(x), b.constant(w)}, attrs)); };
  };
  const Case cases[] = {
      {"dense", conv_of({1, 16, 14, 14}, {16, 16, 3, 3}, {}), {allow_winograd}, {"FusedConv"}, 1},
      {"strided",
       conv_of({1, 16, 28, 28}, {16, 16, 3, 3}, {{"strides", Ints{2, 2}}}),
       {allow_winograd},
       {"Conv"},
       0},
      {"grouped",
       conv_of({1, 32, 14, 14}, {32, 16, 3, 3}, {{"group", int64_t{2}}}),
       {allow_winograd},
       {"Conv"},
       0},
      {"few channels", conv_of({1, 8, 14, 14}, {16, 8, 3, 3}, {}), {allow_winograd}, {"Conv"}, 0},
      {"few outputs", conv_of({1, 16, 9, 9}, {16, 16, 3, 3}, {}), {allow_winograd}, {"Conv"}, 0},
      {"another window",
       conv_of({1, 16, 16, 16}, {16, 16, 5, 5}, {}),
       {allow_winograd},
       {"Conv"},
       0},
  };
  for (const Case& c : cases)
    check(c);
}

}  // namespace
}  // namespace sardonyx::passes
