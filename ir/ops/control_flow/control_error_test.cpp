// If and Loop over graphs that do not fit them.
#include "ir/graph.h"
#include "tests/support/expect_op_error.h"

namespace sardonyx {
namespace {

// A graph of `inputs` without types whose outputs `build` gives.
template <typename Build>
GraphPtr graph_of(size_t inputs, const Build& build) {
  auto graph = std::make_shared<Graph>();
  std::vector<Value*> values;
  for (size_t i = 0; i < inputs; ++i)
    values.push_back(graph->add_input("i" + std::to_string(i), Type::none()));
  for (Value* output : build(*graph, values))
    graph->add_output(output);
  return graph;
}
using Values = std::vector<Value*>;

GraphPtr branch_of(const Tensor& value) {
  return graph_of(0, [&](Graph& g, const Values&) { return Values{g.add_constant("", value)}; });
}
Value* add_node(Graph& graph, const char* op, Values inputs, const AttrMap& attrs = {}) {
  const OpDef& row = op_named(op);
  return graph.append(row, Attrs::parse(*row.attrs, attrs), std::move(inputs), {""})->outputs[0];
}

TEST(ControlRefusals, If) {
  const Tensor one = Tensor::scalar(1.f);
  const Datum yes = Tensor::scalar(true);
  const GraphPtr good = branch_of(one);
  const GraphPtr empty = graph_of(0, [](Graph&, const Values&) { return Values{}; });
  const GraphPtr hungry = graph_of(1, [](Graph&, const Values& in) { return in; });
  const GraphPtr capturing = [] {
    auto graph = std::make_shared<Graph>();
    graph->add_output(graph->add_capture("c", Type::none()));
    return graph;
  }();
  const auto call = [&](const GraphPtr& then, const GraphPtr& other, const char* mention) {
    return Refused{"If", {yes}, {{"then_branch", then}, {"else_branch", other}}, mention};
  };
  expect_refused(std::vector<Refused>{
      {"If",
       {zeros({2}, DType::kBool)},
       {{"then_branch", good}, {"else_branch", good}},
       "input cond (bool[2]): expected a scalar or one element"},
      call(empty, good, "then_branch has 0 outputs, the node 1"),
      call(good, empty, "else_branch has 0 outputs, the node 1"),
      call(hungry, good, "then_branch has 1 inputs, expected 0"),
      call(capturing, good, "then_branch captures 1 values, the node has 0"),
      call(GraphPtr(), good, "then_branch is missing"),
      {"If", {yes}, {{"then_branch", good}}, "else_branch: is required"},
  });
  const GraphPtr sequence = graph_of(0, [&](Graph& g, const Values&) {
    return Values{add_node(g, "SequenceConstruct", {g.add_constant("", one)})};
  });
  expect_refused(std::vector<RefusedTypes>{
      {"If",
       {Type::tensor(DType::kBool, Dims{})},
       {{"then_branch", good}, {"else_branch", sequence}},
       "output 0: then_branch gives float[]"},
  });
}

TEST(ControlRefusals, Loop) {
  const Datum trips = Tensor::scalar(int64_t{2}), yes = Tensor::scalar(true), x = zeros({2});
  const auto body = [](size_t inputs, auto build) {
    return AttrMap{{"body", graph_of(inputs, build)}};
  };
  const auto pass = [](Graph&, const Values& in) { return Values{in[1], in[2]}; };
  const auto with_scan = [](auto make) {
    return [=](Graph& g, const Values& in) { return Values{in[1], in[2], make(g, in)}; };
  };
  expect_refused(std::vector<Refused>{
      {"Loop",
       {ints({1, 2}), yes, x},
       body(3, pass),
       "input M (int64[2]): expected a scalar or one"},
      {"Loop",
       {trips, zeros({2}, DType::kBool), x},
       body(3, pass),
       "input cond (bool[2]): expected a scalar or one"},
      {"Loop", {trips, yes, x}, body(4, pass), "body has 4 inputs, expected 3"},
      {"Loop",
       {trips, yes, x},
       body(3, [](Graph&, const Values& in) { return Values{in[1]}; }),
       "body has 1 outputs, expected at least 2"},
      {"Loop",
       {trips, yes, x},
       body(3,
            [](Graph&, const Values& in) {
              return Values{in[1], in[0]};
            }),
       "is of type int64[], but goes on as float"},
      {"Loop",
       {trips, yes, x},
       body(3,
            [](Graph&, const Values& in) {
              return Values{in[2], in[2]};
            }),
       "body: its first output, the condition, must be bool, got float[2]"},
      {"Loop",
       {trips, yes, x},
       body(3, with_scan([](Graph& g, const Values& in) {
              return add_node(g, "SequenceConstruct", {in[2]});
            })),
       "body: scan output 0 must be a tensor, got seq(",
       kBadModel,
       2},
      {"Loop",
       {trips, yes, x},
       body(3,
            [](Graph& g, const Values& in) {
              return Values{g.add_constant("", Tensor::zeros(DType::kBool, {2})), in[2]};
            }),
       "body: its first output, the condition: expected one bool, got bool[2]",
       kBadArgument},
      {"Loop", {trips, yes, x}, {{"body", GraphPtr()}}, "body is missing"},
  });
  const GraphPtr of_integers = graph_of(3, pass);
  of_integers->inputs()[2]->type = Type::tensor(DType::kInt64);
  expect_refused(std::vector<RefusedTypes>{
      {"Loop",
       {Type::none(), Type::none(), Type::tensor(DType::kFloat, Dims{2})},
       {{"body", of_integers}},
       "body: input i2 is declared int64[*], given float[2]"},
  });
}

// Of each row the elements that are not zero are a shape, so that not even its rank is known
// before.
TEST(ControlRefusals, ScanOutputs) {
  const GraphPtr body = graph_of(1, [](Graph& g, const Values& in) {
    Value* kept = add_node(g, "Compress", {in[0], add_node(g, "Cast", {in[0]}, {{"to", 9}})});
    return Values{add_node(g, "ConstantOfShape", {kept})};
  });
  const auto call = [&](const Ints& rows, int64_t axis, const char* mention) -> Refused {
    const AttrMap attrs{{"body", body}, {"num_scan_inputs", 1}, {"scan_output_axes", Ints{axis}}};
    const auto count = static_cast<int64_t>(rows.size()) / 2;
    return {"Scan", {Tensor::of(rows, {count, 2})}, attrs, mention, kBadArgument};
  };
  EXPECT_EQ(error_of("Scan", call({1, 2, 1, 2}, 2, "").inputs, call({}, 2, "").attrs), "");
  expect_refused(std::vector<Refused>{
      call({1, 2, 1, 2}, 3, "axis 3 is out of range for rank 3"),
      call({1, 2, 1, 2}, -4, "axis -4 is out of range for rank 3"),
      call({1, 0, 1, 2}, 0,
           "a scan output was float[1] in the first iteration, is float[1, 2] in iteration 1"),
  });
}

}  // namespace
}  // namespace sardonyx
