// Passes on quantised graphs fire where they should, do not where they should not, and keep the
// numbers: within one quantum where a result is at a rounding tie.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "executor/passes.h"
#include "executor/passes/all_passes.h"
#include "ir/reference_evaluator.h"

namespace sardonyx::passes {
namespace {

using Ints = std::vector<int64_t>;

// A graph of quantised values in the making.
class QuantizedBuilder {
 public:
  Val input(const Shape& shape) {
    Value* value = graph_.add_input("", Type::tensor(DType::kFloat, to_dims(shape)));
    Tensor tensor = Tensor::allocate(DType::kFloat, shape);
    std::uniform_real_distribution<float> uniform(-2.5f, 2.5f);
    for (float& element : tensor.mutable_values<float>())
      element = uniform(generator_);
    inputs_.emplace_back(tensor);
    return GraphEmitter::wrap(value);
  }
  // QuantizeLinear and DequantizeLinear.
  Val quantized(const Val& x, float scale, int zero, DType dtype = DType::kUInt8) {
    const Val s = e_.constant(Tensor::scalar(scale)), z = byte(dtype, zero);
    return e_.call("DequantizeLinear", {e_.call("QuantizeLinear", {x, s, z}), s, z});
  }
  Val quantized_input(const Shape& shape, float scale = 0.02f, int zero = 120,
                      DType dtype = DType::kUInt8) {
    return quantized(input(shape), scale, zero, dtype);
  }
  Val integers(const Shape& shape) {
    Tensor tensor = Tensor::allocate(DType::kInt8, shape);
    for (int8_t& value : tensor.mutable_values<int8_t>())
      value = static_cast<int8_t>(generator_() % 255 - 127);
    return e_.constant(tensor);
  }
  // Constant int8 weights, dequantised by a scale for each index of `axis`.
  Val weights(const Shape& shape, int64_t axis) {
    const int64_t channels = shape[static_cast<size_t>(axis)];
    Tensor scales = Tensor::allocate(DType::kFloat, {channels});
    for (float& scale : scales.mutable_values<float>())
      scale = 0.005f + 0.0001f * static_cast<float>(generator_() % 50);
    return e_.call("DequantizeLinear", {integers(shape), e_.constant(scales)}, {{"axis", axis}});
  }
  Val floats(const Shape& shape) {
    Tensor tensor = Tensor::allocate(DType::kFloat, shape);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (float& element : tensor.mutable_values<float>())
      element = uniform(generator_);
    return e_.constant(tensor);
  }
  Val byte(DType dtype, int value) {
    Tensor tensor = Tensor::allocate(dtype, {});
    *static_cast<uint8_t*>(tensor.raw()) = static_cast<uint8_t>(value);
    return e_.constant(tensor);
  }
  Emitter& e() { return e_; }
  void output(const Val& val) { graph_.add_output(GraphEmitter::unwrap(val)); }
  Graph& graph() { return graph_; }
  std::vector<Datum> evaluate() const { return sardonyx::evaluate(graph_, inputs_); }

 private:
  Graph graph_;
  GraphEmitter e_{graph_};
  std::vector<Datum> inputs_;
  std::mt19937 generator_{7};
};

std::vector<std::string> op_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const auto& node : graph.nodes())
    names.emplace_back(node->op->name);
  return names;
}

struct QuantizedCase {
  const char* name;
  std::function<void(QuantizedBuilder&)> build;
  std::vector<std::string> ops;  // afterwards, but for those that quantise the inputs and outputs
  float quantum = 0.05f;         // of the output
};

void check(const QuantizedCase& c) {
  SCOPED_TRACE(c.name);
  QuantizedBuilder builder;
  c.build(builder);
  const Tensor expected = builder.evaluate()[0].tensor();
  std::vector<Pass> passes(generic_passes().begin(), generic_passes().end());
  std::erase_if(passes, &Pass::dequantizes_weights);
  passes.insert(passes.end(), quantization_passes().begin(), quantization_passes().end());
  run_passes(builder.graph(), passes, {.verify_each = true});
  std::vector<std::string> ops = op_names(builder.graph());
  std::erase(ops, "QuantizeLinear");
  std::erase(ops, "DequantizeLinear");
  EXPECT_EQ(ops, c.ops);
  const Tensor got = builder.evaluate()[0].tensor();
  ASSERT_EQ(got.shape(), expected.shape());
  const std::vector<double> a = got.to_doubles(), b = expected.to_doubles();
  size_t different = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_LE(std::abs(a[i] - b[i]), c.quantum * 1.001) << "element " << i;
    different += std::abs(a[i] - b[i]) > 1e-6;
  }
  EXPECT_LE(different, a.size() / 100);
}

TEST(Quantize, products) {
  const std::vector<QuantizedCase> cases = {
      {"Conv with bias and Relu",
       [](QuantizedBuilder& b) {
         const Val y = b.e().call(
             "Conv", {b.quantized_input({1, 3, 8, 8}), b.weights({4, 3, 3, 3}, 0), b.floats({4})});
         b.output(b.quantized(b.e().call("Relu", {y}), 0.05f, 0));
       },
       {"QLinearConv"}},
      {"Conv with a Clip that the result's range does not hold",
       [](QuantizedBuilder& b) {
         const Val y = b.e().call(
             "Conv",
             {b.quantized_input({2, 4, 6}, 0.02f, 3, DType::kInt8), b.weights({4, 2, 3}, 0)},
             {{"group", int64_t{2}}});
         const Val bounded = b.e().call(
             "Clip", {y, b.e().scalar(DType::kFloat, -0.5), b.e().scalar(DType::kFloat, 1)});
         b.output(b.quantized(bounded, 0.05f, 10, DType::kInt8));
       },
       {"QLinearConv", "ByteTable"}},
      {"Conv that somebody else reads too",
       [](QuantizedBuilder& b) {
         const Val y =
             b.e().call("Conv", {b.quantized_input({1, 3, 5, 5}), b.weights({2, 3, 3, 3}, 0)});
         b.output(b.e().call("Add", {b.quantized(y, 0.05f, 99), y}));
       },
       {"Conv", "Add"},
       1e-4f},
      {"Conv with weights quantised along their input channels",
       [](QuantizedBuilder& b) {
         const Val y =
             b.e().call("Conv", {b.quantized_input({1, 3, 5, 5}), b.weights({2, 3, 3, 3}, 1)});
         b.output(b.quantized(y, 0.05f, 99));
       },
       {"Conv"}},
      {"MatMul with transposed weights",
       [](QuantizedBuilder& b) {
         const Val w = b.e().call("Transpose", {b.weights({5, 8}, 0)}, {{"perm", Ints{1, 0}}});
         b.output(b.quantized(b.e().call("MatMul", {b.quantized_input({2, 3, 8}), w}), 0.05f, 99));
       },
       {"QLinearMatMul"}},
      {"MatMul whose result stays float",
       [](QuantizedBuilder& b) {
         const Val y = b.e().call("MatMul", {b.quantized_input({2, 3, 8}), b.weights({8, 5}, 1)});
         b.output(b.e().call("Add", {y, b.floats({5})}));
       },
       {"MatMulIntegerToFloat", "Add"},
       1e-4f},
      {"MatMul of two activations",
       [](QuantizedBuilder& b) {
         const Val y = b.e().call(
             "MatMul", {b.quantized_input({2, 3, 8}), b.quantized_input({2, 8, 5}, 0.02f, 110)});
         b.output(b.quantized(y, 0.1f, 99));
       },
       {"QLinearMatMul"},
       0.1f},
      {"Gemm",
       [](QuantizedBuilder& b) {
         const Val y =
             b.e().call("Gemm", {b.quantized_input({3, 8}), b.weights({5, 8}, 0), b.floats({5})},
                        {{"transB", int64_t{1}}});
         b.output(b.quantized(y, 0.05f, 99));
       },
       {"QGemm"}},
      {"Gemm whose result stays float",
       [](QuantizedBuilder& b) {
         b.output(b.e().call("Gemm", {b.quantized_input({3, 8}), b.weights({8, 5}, 1)}));
       },
       {"QGemm"},
       1e-4f},
      {"Gemm with a bias for each element",
       [](QuantizedBuilder& b) {
         const Val y = b.e().call(
             "Gemm", {b.quantized_input({3, 8}), b.weights({8, 5}, 1), b.floats({3, 5})});
         b.output(b.quantized(y, 0.05f, 99));
       },
       {"Gemm"}},
  };
  for (const QuantizedCase& c : cases)
    check(c);
}

TEST(Quantize, elementwise) {
  const std::vector<QuantizedCase> cases = {
      {"a chain and a fork of elementwise ops",
       [](QuantizedBuilder& b) {
         const Val x = b.quantized_input({3, 70});
         const Val scaled = b.e().call("Mul", {x, b.e().scalar(DType::kFloat, 1.7)});
         const Val y = b.e().call("Mul", {scaled, b.e().call("Sigmoid", {x})});
         b.output(b.quantized(y, 0.02f, 50, DType::kInt8));
       },
       {"ByteTable"},
       1e-6f},
      {"a chain without end",
       [](QuantizedBuilder& b) {
         Val y = b.quantized_input({3, 7});
         for (int i = 0; i < 40; ++i)
           y = b.e().call("Neg", {y});
         b.output(b.quantized(y, 0.02f, 50));
       },
       std::vector<std::string>(40, "Neg"), 1e-6f},
      {"quantised as it was",
       [](QuantizedBuilder& b) {
         const Val x = b.quantized_input({3, 70}, 0.03f, 17);
         b.output(b.quantized(x, 0.03f, 17));
       },
       {},
       1e-6f},
      {"a constant for each column",
       [](QuantizedBuilder& b) {
         const Val y = b.e().call("Mul", {b.quantized_input({3, 7}), b.floats({7})});
         b.output(b.quantized(y, 0.02f, 90));
       },
       {"Mul"}},
      {"Add with Relu",
       [](QuantizedBuilder& b) {
         const Val y =
             b.e().call("Add", {b.quantized_input({3, 70}), b.quantized_input({70}, 0.01f, 90)});
         b.output(b.quantized(b.e().call("Relu", {y}), 0.05f, 0));
       },
       {"QLinearAdd"}},
      {"Mul of two types",
       [](QuantizedBuilder& b) {
         const Val y = b.e().call(
             "Mul", {b.quantized_input({3, 70}), b.quantized_input({70}, 0.01f, 9, DType::kInt8)});
         b.output(b.quantized(y, 0.05f, 100));
       },
       {"Mul"}},
      {"pools",
       [](QuantizedBuilder& b) {
         const Val y = b.e().call("AveragePool", {b.quantized_input({1, 2, 9, 9})},
                                  {{"kernel_shape", Ints{2, 2}}});
         b.output(
             b.quantized(b.e().call("GlobalAveragePool", {b.quantized(y, 0.02f, 90)}), 0.05f, 80));
       },
       {"QLinearAveragePool", "QLinearGlobalAveragePool"}},
      {"Concat",
       [](QuantizedBuilder& b) {
         const Vals parts{b.quantized_input({2, 3}), b.quantized_input({2, 4}, 0.05f, 3)};
         const Val y = b.e().call_many("Concat", parts, {{"axis", int64_t{1}}}, 1)[0];
         b.output(b.quantized(y, 0.05f, 80));
       },
       {"QLinearConcat"}},
  };
  for (const QuantizedCase& c : cases)
    check(c);
}

// What quantisers of weights leave, with the scale of the activations found at each run.
TEST(Quantize, sums_of_dynamic_products) {
  struct Dynamic {
    const char* name;
    Shape weight_scale;
    Shape bias;
    std::vector<std::string> ops;
  };
  const std::vector<Dynamic> cases = {
      {"one scale", {}, {6}, {"DynamicQuantizeLinear", "MatMulIntegerToFloat"}},
      {"a scale for each column", {6}, {6}, {"DynamicQuantizeLinear", "MatMulIntegerToFloat"}},
      {"a bias for each element",
       {},
       {2, 3, 6},
       {"DynamicQuantizeLinear", "MatMulIntegerToFloat", "Add"}},
      {"a scale for each row",
       {3, 1},
       {6},
       {"DynamicQuantizeLinear", "MatMulInteger", "Mul", "Cast", "Mul", "Add"}},
  };
  for (const Dynamic& c : cases) {
    SCOPED_TRACE(c.name);
    QuantizedBuilder b;
    const Vals x{b.input({2, 3, 8})};
    const Vals a = b.e().call_many("DynamicQuantizeLinear", x, {}, 3);
    const Val w = b.integers({8, 6});
    const Val sums = b.e().call("MatMulInteger", {a[0], w, a[2], b.byte(DType::kInt8, 3)});
    const Val scale = b.e().call("Mul", {a[1], b.floats(c.weight_scale)});
    const Val real = b.e().call("Cast", {sums}, {{"to", int64_t{1}}});
    b.output(b.e().call("Add", {b.e().call("Mul", {real, scale}), b.floats(c.bias)}));
    const Tensor expected = b.evaluate()[0].tensor();
    run_passes(b.graph(), fusion_passes(), {.verify_each = true});
    EXPECT_EQ(op_names(b.graph()), c.ops);
    const std::vector<double> got = b.evaluate()[0].tensor().to_doubles();
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], expected.to_doubles()[i], 1e-4) << "element " << i;
  }
}

TEST(Quantize, moves_integers) {
  const std::vector<QuantizedCase> cases = {
      {"MaxPool, Transpose, Reshape, Slice, Pad",
       [](QuantizedBuilder& b) {
         Val y = b.e().call("MaxPool", {b.quantized_input({1, 4, 6, 6})},
                            {{"kernel_shape", Ints{2, 2}}, {"pads", Ints{1, 0, 1, 0}}});
         y = b.e().call("Transpose", {y}, {{"perm", Ints{0, 2, 3, 1}}});
         y = b.e().call("Reshape", {y, b.e().int64s({-1, 4})});
         y = b.e().call("Slice", {y, b.e().int64s({1}), b.e().int64s({9})});
         b.output(b.e().call("Pad", {y, b.e().int64s({0, 1, 0, 1})}));
       },
       {"MaxPool", "Transpose", "Reshape", "Slice", "Pad"},
       1e-6f},
      {"Pad with another number than 0",
       [](QuantizedBuilder& b) {
         b.output(b.e().call("Pad", {b.quantized_input({2, 3}), b.e().int64s({0, 1, 0, 1}),
                                     b.e().scalar(DType::kFloat, 0.013)}));
       },
       {"Pad"},
       1e-6f},
      {"Concat of one scale",
       [](QuantizedBuilder& b) {
         const Vals parts{b.quantized_input({2, 3}), b.quantized_input({2, 4})};
         const Val y = b.e().call_many("Concat", parts, {{"axis", int64_t{1}}}, 1)[0];
         b.output(b.quantized(y, 0.02f, 120));
       },
       {"Concat"},
       1e-6f},
  };
  for (const QuantizedCase& c : cases)
    check(c);
}

}  // namespace
}  // namespace sardonyx::passes
