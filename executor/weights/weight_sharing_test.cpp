// Sessions from bytes hold weights once, as they came and as kernels want them.
#include <gtest/gtest.h>

#include <cmath>

#include "executor/session.h"
#include "onnx_io/save.h"

namespace sardonyx {
namespace {

constexpr int64_t kWidth = 512;
constexpr size_t kWeightBytes = kWidth * kWidth * sizeof(float);

// y = relu(x w) w', where w' is `scale` times w.
std::string model_of(float scale) {
  Model model;
  GraphEmitter e(*model.graph);
  const auto weights = [&](float factor) {
    Tensor tensor = Tensor::allocate(DType::kFloat, {kWidth, kWidth});
    float value = -1;
    for (float& element : tensor.mutable_values<float>())
      element = factor * (value = value > 1 ? -1 : value + 0.0137f);
    return e.constant(std::move(tensor));
  };
  const Val x = GraphEmitter::wrap(model.graph->add_input(
      "x", Type::tensor(DType::kFloat, Dims{Dim::symbol("rows"), Dim(kWidth)})));
  const Val h = e.call("Relu", {e.call("MatMul", {x, weights(1)})});
  const Val product = e.call("MatMul", {h, weights(scale)});
  // Passes multiply the weights before it by these factors, which makes new ones.
  const Val ones = e.constant(Tensor::vector(std::vector<float>(kWidth, 1)));
  const Val y = e.call("Add", {e.call("Mul", {product, ones}), ones});
  model.graph->rename(*GraphEmitter::unwrap(y), "y");
  model.graph->add_output(GraphEmitter::unwrap(y));
  return model_bytes(model);
}

std::vector<float> shared_result(const Session& session) {
  Tensor x = Tensor::allocate(DType::kFloat, {32, kWidth});
  float value = 0;
  for (float& element : x.mutable_values<float>())
    element = value += 0.001f;
  const Datum y = session.run({{"x", x}})[0];
  const auto values = y.tensor().values<float>();
  return {values.begin(), values.end()};
}

Session session_of(const std::string& bytes) {
  return Session(std::as_bytes(std::span(bytes)), {.optimization_level = 2});
}

TEST(SessionsFromBytes, hold_equal_weights_once) {
  const std::string bytes = model_of(0.5f);
  const Session first = session_of(bytes);
  const std::vector<float> expected = shared_result(first);
  ASSERT_GE(first.stats().memory_used, 2 * kWeightBytes);
  for (int i = 0; i < 3; ++i) {
    const Session other = session_of(bytes);
    EXPECT_EQ(shared_result(other), expected);
    EXPECT_LT(other.stats().memory_used, kWeightBytes);
  }
}

TEST(SessionsFromBytes, outlive_the_one_that_brought_the_weights) {
  const std::string bytes = model_of(0.5f);
  auto first = std::make_unique<Session>(session_of(bytes));
  const std::vector<float> expected = shared_result(*first);
  const Session second = session_of(bytes);
  EXPECT_EQ(shared_result(second), expected);
  first.reset();
  EXPECT_EQ(shared_result(second), expected);
}

TEST(SessionsFromBytes, of_models_that_share_some_weights_keep_the_others_apart) {
  const Session half = session_of(model_of(0.5f)), twice = session_of(model_of(2));
  const std::vector<float> of_half = shared_result(half), of_twice = shared_result(twice);
  ASSERT_EQ(of_half.size(), of_twice.size());
  for (size_t i = 0; i < of_half.size(); ++i)
    ASSERT_NEAR((of_half[i] - 1) * 4, of_twice[i] - 1, 1e-3f * std::abs(of_twice[i]) + 1e-3f);
}

}  // namespace
}  // namespace sardonyx
