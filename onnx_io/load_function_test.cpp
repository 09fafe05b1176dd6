// Functions of models: attributes, names, graphs as attributes, limits.
#include <gmock/gmock.h>

#include "onnx_io/test_model.h"

namespace sardonyx {
namespace {

using namespace test;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(LoadFunctions, AreExpandedWithAttributes) {
  ModelBuilder model = function_model();
  auto& function = add_function(model, "Scale", {"a"}, {"b"});
  function.add_attribute("by");
  auto& given_default = *function.add_attribute_proto();
  given_default.set_name("shift");
  given_default.set_type(onnx_schema::AttributeProto::FLOAT);
  given_default.set_f(1);
  for (const auto& [constant, attribute] : {std::pair{"by", "by"}, {"shift", "shift"}}) {
    auto& value = *add_node(*function.mutable_node(), "Constant", {}, {constant}).add_attribute();
    value.set_name("value_float");
    value.set_type(onnx_schema::AttributeProto::FLOAT);
    value.set_ref_attr_name(attribute);
  }
  add_node(*function.mutable_node(), "Mul", {"a", "by"}, {"scaled"});
  add_node(*function.mutable_node(), "Add", {"scaled", "shift"}, {"b"});
  call(model.graph(), "Scale", {"x"}, {"middle"}, {{"by", 2.0f}});
  call(model.graph(), "Scale", {"middle"}, {"y"}, {{"by", 3.0f}, {"shift", 0.0f}});
  EXPECT_EQ(run(model, {floats({1, 2})})[0].tensor(), floats({9, 15}));
  const Model loaded = model.load();
  EXPECT_EQ(loaded.graph->nodes().front()->scope, "Scale_0");

  ModelBuilder missing = model;
  missing.proto.mutable_graph()->mutable_node(0)->clear_attribute();
  EXPECT_THAT(load_error(missing), AllOf(HasSubstr("Scale"), HasSubstr("\"by\"")));
}

TEST(LoadFunctions, MustHaveNames) {
  ModelBuilder nameless = function_model();
  add_node(*add_function(nameless, "", {"a"}, {"b"}).mutable_node(), "Relu", {"a"}, {"b"});
  EXPECT_THAT(load_error(nameless), HasSubstr("no name"));
}

TEST(LoadFunctions, MayBeNestedAndOverloaded) {
  ModelBuilder model = function_model();
  auto& inner = add_function(model, "Inner", {"a"}, {"b"});
  add_node(*inner.mutable_node(), "Neg", {"a"}, {"b"});
  auto& twin = add_function(model, "Inner", {"a"}, {"b"});
  twin.set_overload("absolute");
  add_node(*twin.mutable_node(), "Abs", {"a"}, {"b"});
  auto& outer = add_function(model, "Outer", {"a", "unused"}, {"b"});
  auto& import = *outer.add_opset_import();
  import.set_domain("local");
  import.set_version(1);
  add_node(*outer.mutable_node(), "Inner", {"a"}, {"c"}).set_domain("local");
  NodeProto& second = add_node(*outer.mutable_node(), "Inner", {"c"}, {"b"});
  second.set_domain("local");
  second.set_overload("absolute");
  call(model.graph(), "Outer", {"x"}, {"y"});
  EXPECT_EQ(run(model, {floats({1, -2})})[0].tensor(), floats({1, 2}));
}

// y = If(a > 0, then, else) of a function whose branches the caller gives; they use values of the
// caller's. `is_nested` puts the If into a loop of one iteration.
void add_choice_function(ModelBuilder& model, bool is_nested) {
  auto& function = add_function(model, "Choice", {"a"}, {"b"});
  function.mutable_opset_import(0)->set_version(kNewestOpset);  // as the graphs that it is given
  function.add_attribute("yes");
  function.add_attribute("no");
  const auto refer = [](NodeProto& node, const std::string& name, const std::string& parameter) {
    auto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx_schema::AttributeProto::GRAPH);
    attribute.set_ref_attr_name(parameter);
  };
  auto& nodes = *function.mutable_node();
  auto& zero = add_node(nodes, "Constant", {}, {"zero"});
  set_attributes(zero, {{"value_float", 0.f}});
  add_node(nodes, "ReduceSum", {"a"}, {"sum"});
  add_node(nodes, "Greater", {"sum", "zero"}, {"many"});
  if (is_nested) {
    // Shape [] out of [1].
    set_attributes(add_node(nodes, "Constant", {}, {"once"}), {{"value_int", int64_t{1}}});
  }
  add_node(nodes, "Squeeze", {"many"}, {"condition"});
  if (!is_nested) {
    NodeProto& node = add_node(nodes, "If", {"condition"}, {"b"});
    refer(node, "then_branch", "yes");
    refer(node, "else_branch", "no");
    return;
  }
  NodeProto& loop = add_node(nodes, "Loop", {"once", "", "a"}, {"b"});
  GraphBuilder body = add_subgraph(loop, "body");
  body.input("i", DType::kInt64, {});
  body.input("go_on", DType::kBool, {});
  body.input("carried", DType::kFloat, {{"n"}});
  NodeProto& node = body.node("If", {"condition"}, {"chosen"});
  refer(node, "then_branch", "yes");
  refer(node, "else_branch", "no");
  body.node("Identity", {"go_on"}, {"next"});
  body.output("next");
  body.output("chosen");
}

TEST(LoadFunctions, TakeGraphsAsAttributes) {
  for (const bool is_nested : {false, true}) {
    ModelBuilder model = function_model();
    add_choice_function(model, is_nested);
    // Names of the caller's are also names of the function's.
    model.graph().node("Add", {"x", "x"}, {"sum"});
    NodeProto& node = *model.proto.mutable_graph()->add_node();
    node.set_op_type("Choice");
    node.set_domain("local");
    node.add_input("x");
    node.add_output("y");
    GraphBuilder yes = add_subgraph(node, "yes");
    yes.node("Mul", {"sum", "x"}, {"a"});
    yes.output("a");
    GraphBuilder no = add_subgraph(node, "no");
    no.node("Neg", {"sum"}, {"a"});
    no.output("a");
    EXPECT_EQ(run(model, {floats({1, 2})})[0].tensor(), floats({2, 8})) << is_nested;
    EXPECT_EQ(run(model, {floats({1, -2})})[0].tensor(), floats({-2, 4})) << is_nested;
    ModelBuilder missing = model;
    missing.proto.mutable_graph()->mutable_node(1)->mutable_attribute()->RemoveLast();
    EXPECT_THAT(load_error(missing), AllOf(HasSubstr("Choice"), HasSubstr("\"no\"")));
  }
}

// A graph that is given holds all that a graph may, graphs among them; one that is not is the
// function's default.
TEST(LoadFunctions, TakeWholeGraphsAndHaveDefaults) {
  ModelBuilder model = function_model();
  add_choice_function(model, false);
  auto& function = *model.proto.mutable_functions(0);
  function.mutable_attribute()->RemoveLast();
  auto& otherwise = *function.add_attribute_proto();
  otherwise.set_name("no");
  otherwise.set_type(onnx_schema::AttributeProto::GRAPH);
  GraphBuilder{*otherwise.mutable_g()}.initializer("seven", floats({7}));
  GraphBuilder{*otherwise.mutable_g()}.output("seven");

  GraphBuilder graph = model.graph();
  graph.initializer("flag", Tensor::scalar(true));
  graph.node("Add", {"x", "x"}, {"sum"});
  NodeProto& node = graph.node("Choice", {"x"}, {"y"});
  node.set_domain("local");
  GraphBuilder yes = add_subgraph(node, "yes");
  yes.initializer("three", floats({3}));
  auto& sparse = *yes.graph.add_sparse_initializer();
  *sparse.mutable_values() = onnx_export::encode(floats({5}), "places");
  *sparse.mutable_indices() = onnx_export::encode(Tensor::vector<int64_t>({1}), "");
  sparse.add_dims(2);
  NodeProto& inner = yes.node("If", {"flag"}, {"chosen"});
  GraphBuilder often = add_subgraph(inner, "then_branch");
  often.node("Mul", {"sum", "three"}, {"product"});
  often.output("product");
  GraphBuilder never = add_subgraph(inner, "else_branch");
  never.node("Identity", {"three"}, {"same"});
  never.output("same");
  yes.node("Add", {"chosen", "places"}, {"a"});
  auto& info = *yes.graph.add_value_info();
  info.set_name("chosen");
  set_type(info, DType::kFloat, std::nullopt);
  yes.output("a");
  EXPECT_EQ(run(model, {floats({1, 2})})[0].tensor(), floats({6, 17}));
  EXPECT_EQ(run(model, {floats({-1, -2})})[0].tensor(), floats({7}));
}

TEST(LoadFunctions, ThatReachThemselvesOrExplodeAreRefused) {
  ModelBuilder recursive = function_model();
  auto& function = add_function(recursive, "Self", {"a"}, {"b"});
  add_node(*function.mutable_node(), "Self", {"a"}, {"b"}).set_domain("local");
  call(recursive.graph(), "Self", {"x"}, {"y"});
  EXPECT_THAT(load_error(recursive), AllOf(HasSubstr("Self"), HasSubstr("itself")));

  ModelBuilder bomb = function_model();
  for (int i = 0; i < 40; ++i) {
    auto& level = add_function(bomb, "F" + std::to_string(i), {"a"}, {"b"});
    const std::string next = i == 39 ? "Neg" : "F" + std::to_string(i + 1);
    for (const auto& [from, to] : {std::pair{"a", "c"}, {"c", "b"}}) {
      add_node(*level.mutable_node(), next, {from}, {to}).set_domain(i == 39 ? "" : "local");
    }
  }
  call(bomb.graph(), "F0", {"x"}, {"y"});
  EXPECT_THAT(load_error(bomb), HasSubstr("limit"));
}

}  // namespace
}  // namespace sardonyx
