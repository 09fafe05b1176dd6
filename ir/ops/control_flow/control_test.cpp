// If, Loop and Scan built through the graph interface: values, types and loop-carried shapes.
#include "ir/ops/control_flow/control.h"

#include <gtest/gtest.h>

#include "ir/core/run_control.h"
#include "ir/graph.h"
#include "ir/reference_evaluator.h"

namespace sardonyx::ops {
namespace {

using Ints = std::vector<int64_t>;

Type int_vector(Dim size) {
  return Type::tensor(DType::kInt64, Dims{std::move(size)});
}

Datum ints(const Ints& values) {
  return Tensor::vector(values);
}

// Appends an op by name; types are left to infer_types.
Value* add(Graph& graph, std::string_view op, std::vector<Value*> inputs,
           const AttrMap& attrs = {}) {
  const OpDef& row = op_named(op);
  return graph.append(row, Attrs::parse(*row.attrs, attrs), std::move(inputs), {""})->outputs[0];
}

Value* int_constant(Graph& graph, const Ints& values) {
  return graph.add_constant("", Tensor::vector(values));
}

// v' = Concat(v, captured), scan output: the last element of v'.
GraphPtr growing_body() {
  auto body = std::make_shared<Graph>();
  body->add_input("i", Type::none());
  Value* condition = body->add_input("cond", Type::none());
  Value* v = body->add_input("v", Type::none());
  Value* captured = body->add_capture("c", Type::none());
  Value* grown = add(*body, "Concat", {v, captured}, {{"axis", int64_t{0}}});
  body->add_output(condition);
  body->add_output(grown);
  body->add_output(
      add(*body, "Slice", {grown, int_constant(*body, {-1}), int_constant(*body, {INT64_MAX})}));
  return body;
}

class LoopTest : public testing::Test {
 protected:
  // v, scan = Loop(M, , start) over a body that captures c.
  void build(GraphPtr body, Value* trips) {
    Value* start = graph_.add_input("start", int_vector(Dim::symbol("n")));
    Value* captured = graph_.add_input("c", int_vector(2));
    node_ = graph_.append(op_named("Loop"), LoopAttrs{std::move(body)},
                          {trips, nullptr, start, captured}, {"v", "s"}, 1);
    for (Value* output : node_->outputs)
      graph_.add_output(output);
    infer_types(graph_);
    verify(graph_);
  }
  Graph graph_;
  Node* node_ = nullptr;
};

TEST_F(LoopTest, CarriedShapeMayGrow) {
  build(growing_body(), graph_.add_constant("M", Tensor::scalar<int64_t>(3)));
  const Type& carried = node_->outputs[0]->type;
  EXPECT_TRUE((*carried.shape)[0].text().starts_with('?')) << carried;
  EXPECT_EQ(node_->outputs[1]->type.text(), "int64[3, 1]");
  const std::vector<Datum> inputs{ints({7}), ints({1, 2})};
  const auto out = evaluate(graph_, inputs);
  EXPECT_EQ(out[0].tensor().to_int64s(), (Ints{7, 1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(out[1].tensor().shape(), (Shape{3, 1}));
}

TEST_F(LoopTest, NoIterationGivesTheStartAndEmptyScans) {
  Value* trips = graph_.add_input("M", Type::tensor(DType::kInt64, Dims{}));
  build(growing_body(), trips);
  const std::vector<Datum> inputs{Tensor::scalar<int64_t>(-4), ints({7, 8}), ints({1, 2})};
  const auto out = evaluate(graph_, inputs);
  EXPECT_EQ(out[0].tensor().to_int64s(), (Ints{7, 8}));
  EXPECT_EQ(out[1].tensor().shape(), (Shape{0, 1}));
}

TEST_F(LoopTest, ConditionAloneEndsIt) {
  auto body = std::make_shared<Graph>();
  Value* iteration = body->add_input("i", Type::none());
  body->add_input("cond", Type::none());
  Value* v = body->add_input("v", Type::none());
  body->add_capture("c", Type::none());
  Value* limit = body->add_constant("", Tensor::scalar<int64_t>(4));
  body->add_output(add(*body, "Less", {iteration, limit}));
  body->add_output(add(*body, "Identity", {v}));
  body->add_output(add(*body, "Identity", {iteration}));
  build(body, nullptr);
  EXPECT_EQ(node_->outputs[0]->type.text(), "int64[n]");
  const std::vector<Datum> inputs{ints({9}), ints({1, 2})};
  const auto out = evaluate(graph_, inputs);
  EXPECT_EQ(out[1].tensor().to_int64s(), (Ints{0, 1, 2, 3, 4}));
}

TEST_F(LoopTest, EndlessLoopStopsWhenCancelled) {
  auto body = std::make_shared<Graph>();
  body->add_input("i", Type::none());
  body->add_output(body->add_input("cond", Type::none()));
  body->add_output(add(*body, "Identity", {body->add_input("v", Type::none())}));
  body->add_output(add(*body, "Identity", {body->add_capture("c", Type::none())}));
  build(body, nullptr);
  const std::vector<Datum> inputs{ints({9}), ints({1, 2})};
  RunControl control;
  control.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  const ControlScope scope(control);
  try {
    evaluate(graph_, inputs);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
  }
}

GraphPtr branch_with(std::string_view op, const AttrMap& attrs, const Ints& operand) {
  auto branch = std::make_shared<Graph>();
  Value* captured = branch->add_capture("x", Type::none());
  std::vector<Value*> inputs{captured};
  if (!operand.empty()) inputs.push_back(int_constant(*branch, operand));
  branch->add_output(add(*branch, op, inputs, attrs));
  return branch;
}

TEST(IfTest, JoinsTypesAndRunsOneBranch) {
  Graph graph;
  Value* condition = graph.add_input("cond", Type::tensor(DType::kBool, Dims{}));
  Value* x = graph.add_input("x", Type::tensor(DType::kFloat, Dims{Dim::symbol("n"), 4}));
  const IfAttrs attrs{.then_branch = branch_with("Tile", {}, {1, 2}),
                      .else_branch = branch_with("Identity", {}, {})};
  Node* node = graph.append(op_named("If"), attrs, {condition, x}, {"y"}, 1);
  graph.add_output(node->outputs[0]);
  infer_types(graph);
  const Dims& shape = *node->outputs[0]->type.shape;
  EXPECT_EQ(shape[0].text(), "n");
  EXPECT_FALSE(shape[1].is_known());
  for (const bool taken : {true, false}) {
    const std::vector<Datum> inputs{Tensor::scalar(taken), Tensor::zeros(DType::kFloat, {3, 4})};
    EXPECT_EQ(evaluate(graph, inputs)[0].tensor().shape(), (Shape{3, taken ? 8 : 4}));
  }
}

TEST(IfTest, BranchThatIsNeverTakenMayBeImpossible) {
  Graph graph;
  Value* condition = graph.add_input("cond", Type::tensor(DType::kBool, Dims{}));
  Value* x = graph.add_input("x", Type::tensor(DType::kFloat, Dims{3, 4}));
  const IfAttrs attrs{.then_branch = branch_with("Squeeze", {}, {0}),
                      .else_branch = branch_with("Identity", {}, {})};
  Node* node = graph.append(op_named("If"), attrs, {condition, x}, {"y"}, 1);
  graph.add_output(node->outputs[0]);
  infer_types(graph);
  EXPECT_EQ(node->outputs[0]->type.text(), "float[3, 4]");
  const Tensor value = Tensor::zeros(DType::kFloat, {3, 4});
  EXPECT_NO_THROW(evaluate(graph, std::vector<Datum>{Tensor::scalar(false), value}));
  EXPECT_THROW(evaluate(graph, std::vector<Datum>{Tensor::scalar(true), value}), Error);
}

TEST(IfTest, BranchesMustHaveTheNodesOutputs) {
  Graph graph;
  Value* condition = graph.add_input("cond", Type::tensor(DType::kBool, Dims{}));
  Value* x = graph.add_input("x", Type::tensor(DType::kFloat, Dims{3, 4}));
  const IfAttrs attrs{.then_branch = branch_with("Identity", {}, {}),
                      .else_branch = branch_with("Identity", {}, {})};
  attrs.else_branch->add_output(attrs.else_branch->outputs()[0]);
  graph.append(op_named("If"), attrs, {condition, x}, {"y"}, 1);
  EXPECT_THROW(infer_types(graph), Error);
}

// state' = state + x; y = state', along axis 1 from the end, results last first.
TEST(ScanTest, AxesAndDirections) {
  auto body = std::make_shared<Graph>();
  Value* state = body->add_input("state", Type::none());
  Value* x = body->add_input("x", Type::none());
  Value* sum = add(*body, "Add", {state, x});
  body->add_output(sum);
  body->add_output(add(*body, "Identity", {sum}));
  Graph graph;
  Value* start = graph.add_input("start", int_vector(2));
  Value* steps = graph.add_input("steps", Type::tensor(DType::kInt64, Dims{2, Dim::symbol("t")}));
  const ScanAttrs attrs{.body = body,
                        .num_scan_inputs = 1,
                        .scan_input_axes = Ints{-1},
                        .scan_input_directions = Ints{1},
                        .scan_output_axes = Ints{-1},
                        .scan_output_directions = Ints{1}};
  Node* node = graph.append(op_named("Scan"), attrs, {start, steps}, {"final", "all"});
  for (Value* output : node->outputs)
    graph.add_output(output);
  infer_types(graph);
  EXPECT_EQ(node->outputs[0]->type.text(), "int64[2]");
  EXPECT_EQ(node->outputs[1]->type.text(), "int64[2, t]");
  const std::vector<Datum> inputs{ints({0, 100}), Tensor::of(Ints{1, 2, 3, 4, 5, 6}, {2, 3})};
  const auto out = evaluate(graph, inputs);
  EXPECT_EQ(out[0].tensor().to_int64s(), (Ints{6, 115}));
  EXPECT_EQ(out[1].tensor().to_int64s(), (Ints{6, 5, 3, 115, 111, 106}));
}

}  // namespace
}  // namespace sardonyx::ops
