#include "executor/passes/precision/product_precision.h"

#include <gtest/gtest.h>

#include "ir/emitter/emitter.h"
#include "providers/providers.h"

namespace sardonyx {
namespace {

// A graph with a product of each of these types.
Precision precision_with(const std::vector<DType>& products) {
  Graph graph;
  GraphEmitter emitter(graph);
  for (const DType dtype : products) {
    const Val x = GraphEmitter::wrap(graph.add_input("", Type::tensor(dtype, to_dims({4, 4}))));
    graph.add_output(GraphEmitter::unwrap(emitter.call("Relu", {emitter.call("MatMul", {x, x})})));
  }
  return precision_of_products(graph);
}

TEST(GraphPrecision, IsThatOfAllProducts) {
  constexpr DType kNarrow = DType::kBFloat16, kWide = DType::kFloat;
  const Precision narrow = computes_bfloat16() ? Precision::kBFloat16 : Precision::kFloat32;
  EXPECT_EQ(precision_with({}), Precision::kFloat32);
  EXPECT_EQ(precision_with({kNarrow}), narrow);
  EXPECT_EQ(precision_with({kNarrow, kNarrow}), narrow);
  EXPECT_EQ(precision_with({kNarrow, kWide}), Precision::kFloat32);
  EXPECT_EQ(precision_with({kNarrow, DType::kFloat16}), Precision::kFloat32);
  EXPECT_EQ(precision_with({kNarrow, DType::kInt32}), narrow);
}

}  // namespace
}  // namespace sardonyx
