// Nodes that are alike share what was planned for one of them, and nothing else.
#include <gtest/gtest.h>

#include "executor/plan/inference_cache.h"
#include "executor/plan/kernel_cache.h"
#include "executor/session.h"

namespace sardonyx {
namespace {

Tensor series(Shape shape, float first, float step) {
  Tensor tensor = Tensor::allocate(DType::kFloat, std::move(shape));
  float value = first;
  for (float& element : tensor.mutable_values<float>())
    element = value, value += step;
  return tensor;
}

std::vector<float> numbers_of(const Datum& datum) {
  const auto values = datum.tensor().values<float>();
  return {values.begin(), values.end()};
}

Val add_input(Graph& graph, std::string_view name, Dims dims) {
  return GraphEmitter::wrap(
      graph.add_input(std::string(name), Type::tensor(DType::kFloat, std::move(dims))));
}

void add_outputs(Graph& graph, const Vals& outputs) {
  for (const Val& output : outputs)
    graph.add_output(GraphEmitter::unwrap(output));
}

TEST(AlikeNodes, keep_their_own_weights) {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = add_input(*model.graph, "x", {Dim::symbol("batch"), 1});
  Vals products, sums;
  for (int layer = 0; layer < 4; ++layer) {
    // Small ones, and some that are no longer told apart by value.
    for (const int64_t columns : {2, 300}) {
      const auto weight = static_cast<float>(layer + 1);
      products.push_back(e.call("MatMul", {x, e.constant(series({1, columns}, weight, 0))}));
      sums.push_back(e.call("Add", {x, e.constant(series({columns}, weight, 0))}));
    }
  }
  Vals outputs = products;
  outputs.insert(outputs.end(), sums.begin(), sums.end());
  add_outputs(*model.graph, outputs);
  const Session session(std::move(model));
  for (const int64_t batch : {3, 11, 3, 12}) {
    const Tensor in = series({batch, 1}, 1, 1);
    const auto results = session.run({{"x", in}});
    for (size_t i = 0; i < results.size(); ++i) {
      const auto weight = static_cast<float>(i / 2 % 4 + 1);
      const bool is_product = i < products.size();
      const std::vector<float> values = numbers_of(results[i]);
      const size_t columns = values.size() / static_cast<size_t>(batch);
      ASSERT_EQ(columns, i % 2 == 0 ? 2u : 300u);
      for (size_t at = 0; at < values.size(); ++at) {
        const float element = static_cast<float>(at / columns) + 1;
        ASSERT_EQ(values[at], is_product ? element * weight : element + weight);
      }
    }
  }
}

TEST(AlikeNodes, of_other_constants_have_other_shapes) {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = add_input(*model.graph, "x", {Dim::symbol("batch"), 12});
  add_outputs(*model.graph, {e.call("Reshape", {x, e.int64s({0, 3, 4})}),
                             e.call("Reshape", {x, e.int64s({0, 4, 3})}),
                             e.call("Reshape", {x, e.int64s({0, 3, 4})}),
                             e.call("Slice", {x, e.int64s({0}), e.int64s({5}), e.int64s({1})}),
                             e.call("Slice", {x, e.int64s({5}), e.int64s({12}), e.int64s({1})})});
  const Session session(std::move(model));
  for (const int64_t batch : {2, 5}) {
    const auto results = session.run({{"x", series({batch, 12}, 0, 1)}});
    EXPECT_EQ(results[0].tensor().shape(), (Shape{batch, 3, 4}));
    EXPECT_EQ(results[1].tensor().shape(), (Shape{batch, 4, 3}));
    EXPECT_EQ(results[2].tensor().shape(), (Shape{batch, 3, 4}));
    EXPECT_EQ(numbers_of(results[3]).back(), static_cast<float>(12 * (batch - 1) + 4));
    EXPECT_EQ(numbers_of(results[4]).front(), 5.0f);
  }
}

// The plan of a size goes when many others came since, and what only it held goes with it.
TEST(AlikeNodes, are_planned_again_when_their_plans_are_gone) {
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = add_input(*model.graph, "x", {Dim::symbol("batch"), 3});
  const Val fixed = add_input(*model.graph, "fixed", {2, 2});
  const Val scores = e.call("Softmax", {e.call("Tanh", {x})});
  add_outputs(*model.graph,
              {e.call("ReduceSum", {scores, e.int64s({1})}, {{"keepdims", int64_t{0}}}),
               e.call("Transpose", {e.call("Softmax", {fixed})})});
  SessionOptions options;
  options.max_plans = 2;
  const Session session(std::move(model), options);
  for (int round = 0; round < 3; ++round) {
    for (int64_t batch = 1; batch < 6; ++batch) {
      const auto results =
          session.run({{"x", series({batch, 3}, 0, 0.5f)}, {"fixed", series({2, 2}, 1, 0)}});
      ASSERT_EQ(results[0].tensor().shape(), Shape{batch});
      for (const float sum : numbers_of(results[0]))
        EXPECT_NEAR(sum, 1, 1e-6);
      EXPECT_EQ(numbers_of(results[1]), std::vector<float>(4, 0.5f));
    }
  }
}

TEST(InferenceCache, have_one_address_for_equal_facts_and_constants) {
  InferenceCache inferences;
  const TypeInfoPtr facts = inferences.facts_of(DType::kFloat, Shape{2, 3});
  EXPECT_EQ(facts, inferences.facts_of(Type::tensor(DType::kFloat, Dims{2, 3})));
  EXPECT_NE(facts, inferences.facts_of(DType::kFloat, Shape{3, 2}));
  EXPECT_NE(facts, inferences.facts_of(DType::kInt32, Shape{2, 3}));
  const auto constant = [](std::vector<int64_t> values, Shape shape) {
    return std::make_shared<const Tensor>(Tensor::of(values, std::move(shape)));
  };
  const auto first = inferences.same_constant(constant({1, 2}, {2}));
  EXPECT_EQ(first, inferences.same_constant(constant({1, 2}, {2})));
  EXPECT_NE(first, inferences.same_constant(constant({1, 2}, {1, 2})));
  EXPECT_NE(first, inferences.same_constant(constant({2, 1}, {2})));
}

TEST(InferenceCache, are_not_kept_without_end) {
  InferenceCache inferences;
  CacheKey first;
  first.add(uint64_t{0});
  size_t most = 0;
  for (uint64_t i = 0; i < 5000; ++i) {
    CacheKey key;
    key.add(i);
    Inference inference;
    inference.outputs = {inferences.facts_of(DType::kFloat, Shape{static_cast<int64_t>(i)})};
    inferences.remember(key, std::move(inference), {});
    if (inferences.find(first)) most = i;
    inferences.limit(10);
  }
  EXPECT_GT(most, 500u);
  EXPECT_LT(most, 4000u);
}

class Nothing : public Kernel {
 public:
  void run(const KernelArgs&) const override {}
};

TEST(KernelCache, go_with_the_last_who_holds_them) {
  KernelCache steps;
  CacheKey key;
  key.add(uint64_t{7});
  EXPECT_EQ(steps.find(key), nullptr);
  PreparedStep made;
  made.kernel = std::make_shared<const Nothing>();
  const std::weak_ptr<const Kernel> kernel = made.kernel;
  auto held = steps.remember(key, std::move(made), {});
  EXPECT_EQ(steps.find(key), held);
  held.reset();
  EXPECT_EQ(steps.find(key), nullptr);
  EXPECT_TRUE(kernel.expired());
}

}  // namespace
}  // namespace sardonyx
