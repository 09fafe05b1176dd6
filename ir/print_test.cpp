#include "ir/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sardonyx {
namespace {

using testing::HasSubstr;

TEST(PrintTest, TextAndDot) {
  Graph graph;
  graph.name = "g";
  Value* x = graph.add_input("x", Type::tensor(DType::kFloat, Dims{Dim::symbol("n"), 2}));
  Value* one = graph.add_constant("one", Tensor::scalar(1.0f));
  Node* sum = graph.append(op_named("Add"), {}, {x, one}, {"y"});
  sum->name = "plus \"one\"";
  infer_types(graph);
  graph.add_output(sum->outputs[0]);

  const std::string text = to_text(graph);
  EXPECT_THAT(text, HasSubstr("input %x: float[n, 2]\n"));
  EXPECT_THAT(text, HasSubstr("%y: float[n, 2] = Add(%x, %one (float[] { 1 }))"));
  EXPECT_THAT(text, HasSubstr("# plus \"one\"\n"));
  EXPECT_THAT(text, HasSubstr("return %y\n"));

  const std::string dot = to_dot(graph);
  EXPECT_THAT(dot, HasSubstr("n0 -> n1 [label=\"float[n, 2]\"]"));
  EXPECT_THAT(dot, HasSubstr("plus \\\"one\\\""));
}

}  // namespace
}  // namespace sardonyx
