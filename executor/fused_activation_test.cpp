// Every activation of the op table ends convolutions and products, in whatever kernel takes these.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "executor/session.h"
#include "ir/reference_evaluator.h"

namespace sardonyx {
namespace {

using testing::HasSubstr;
using testing::Not;

Tensor waves(const Shape& shape) {
  Tensor tensor = Tensor::allocate(DType::kFloat, shape);
  float phase = 0.3f;
  for (float& value : tensor.mutable_values<float>())
    value = std::sin(phase += 0.7f);
  return tensor;
}

struct Product {
  const char* op;
  Shape x, w;
};

Val activated(GraphEmitter& e, const OpDef& op, const Val& y) {
  if (op.name != "Clip") return e.call(op.name, {y});
  return e.call("Clip", {y, e.scalar(DType::kFloat, -0.5), e.scalar(DType::kFloat, 0.75)});
}

void expect_fused(const Product& product, const OpDef& activation) {
  SCOPED_TRACE(text(product.op, " ", activation.name, " ", to_text(product.x)));
  Model model;
  GraphEmitter e(*model.graph);
  const Val x = GraphEmitter::wrap(
      model.graph->add_input("x", Type::tensor(DType::kFloat, to_dims(product.x))));
  const Val y = e.call(product.op, {x, e.constant(waves(product.w))});
  model.graph->add_output(GraphEmitter::unwrap(activated(e, activation, y)));
  const std::vector<Datum> inputs{waves(product.x)};
  const Tensor expected = evaluate(*model.graph, inputs)[0].tensor();
  const Session session(std::move(model));
  const std::string plan = session.plan_text(inputs);
  EXPECT_THAT(plan, HasSubstr("sardonyx::Fused"));
  EXPECT_THAT(plan, Not(HasSubstr(": body"))) << "no kernel takes it";
  const Tensor got = session.run(inputs)[0].tensor();
  ASSERT_EQ(got.shape(), expected.shape());
  for (size_t i = 0; i < expected.values<float>().size(); ++i)
    ASSERT_NEAR(got.values<float>()[i], expected.values<float>()[i], 2e-4) << i << plan;
}

TEST(FusedActivation, AllAreComputedBehindAllProducts) {
  const Product products[] = {
      {"Conv", {1, 16, 9, 9}, {16, 16, 3, 3}},
      {"Conv", {1, 3, 12, 12}, {5, 3, 3, 3}},
      {"Conv", {1, 4, 6, 6, 6}, {4, 4, 2, 2, 2}},
      {"ConvTranspose", {1, 4, 5, 5}, {4, 8, 2, 2}},
      {"MatMul", {1, 40}, {40, 24}},
      {"MatMul", {70, 40}, {40, 24}},
  };
  size_t activations = 0;
  for (const OpDef* op : all_ops()) {
    if (!op->is(kActivation)) continue;
    ++activations;
    for (const Product& product : products)
      expect_fused(product, *op);
  }
  EXPECT_GE(activations, 10u);
}

}  // namespace
}  // namespace sardonyx
