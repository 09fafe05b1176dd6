#include <complex>

#include "ir/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/ops/control_flow/control.h"

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

// A loop without a bound whose body captures a value, between nodes that nobody named.
TEST(PrintTest, BodiesOmittedOperandsAndWhereNodesComeFrom) {
  auto body = std::make_shared<Graph>();
  body->add_input("i", Type::none());
  Value* condition = body->add_input("go_on", Type::none());
  Value* state = body->add_input("state", Type::none());
  Value* captured = body->add_capture("c", Type::none());
  Node* sum = body->append(op_named("Add"), {}, {state, captured}, {"sum"});
  body->add_output(condition);
  body->add_output(sum->outputs[0]);

  Graph graph;
  Value* x = graph.add_input("x", Type::tensor(DType::kFloat, Dims{2}));
  x->default_value = std::make_shared<const Tensor>(Tensor::vector<float>({1, 2}));
  Value* going = graph.add_constant("going", Tensor::scalar(true));
  Node* loop =
      graph.append(op_named("Loop"), ops::LoopAttrs{body}, {nullptr, going, x, x}, {"y"}, 1);
  loop->scope = "net";
  loop->source = "net.cpp:3";
  Node* top = graph.append(
      op_named("TopK"), Attrs::parse(*op_named("TopK").attrs, {}),
      {loop->outputs[0], graph.add_constant("k", Tensor::vector<int64_t>({1}))}, {"top", "where"});
  top->outputs[1] = nullptr;
  infer_types(graph);
  graph.add_output(top->outputs[0]);
  graph.add_output(going);

  const std::string text = to_text(graph);
  EXPECT_THAT(text, HasSubstr("graph (unnamed) {\n  input %x: float[2] = float[2] { 1 2 }\n"));
  EXPECT_THAT(text, HasSubstr("= Loop(none, %going (bool[] { 1 }), %x; %x)  # net, net.cpp:3\n"));
  EXPECT_THAT(text, HasSubstr("    capture %c: float[2]\n"));
  EXPECT_THAT(text, HasSubstr("    return %go_on, %sum\n"));
  EXPECT_THAT(text, HasSubstr(", none = TopK(%y, %k (int64[1] { 1 }))\n"));
  EXPECT_THAT(text, HasSubstr("return %top, %going (bool[] { 1 })\n"));

  const std::string dot = to_dot(graph);
  EXPECT_THAT(dot, HasSubstr("subgraph cluster_n"));
  EXPECT_THAT(dot, HasSubstr("label=\"capture c\""));
  EXPECT_THAT(dot, HasSubstr("label=\"output going\""));
}

// Few elements are shown; complex ones and many are not.
TEST(PrintTest, ConstantsByKind) {
  const std::pair<Tensor, const char*> constants[] = {
      {Tensor::vector<std::string>({"a", "b"}), "(string[2] { a b })"},
      {Tensor::vector<double>({0.5}), "(double[1] { 0.5 })"},
      {Tensor::vector<int8_t>({-1}), "(int8[1] { -1 })"},
      {Tensor::vector<std::complex<float>>({{1, 2}}), "(complex64[1])"},
      {Tensor::zeros(DType::kFloat, {9}), "(float[9])"},
  };
  for (const auto& [constant, text] : constants) {
    Graph graph;
    graph.add_output(graph.add_constant("c", constant));
    EXPECT_THAT(to_text(graph), HasSubstr(text));
  }
}

}  // namespace
}  // namespace sardonyx
