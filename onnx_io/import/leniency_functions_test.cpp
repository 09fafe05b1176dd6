// Deviations of functions and of what calls them.
#include "onnx_io/import/leniency_for_test.h"

namespace sardonyx {
namespace {

using namespace test;

// F(a) = LeakyRelu(a, alpha = slope).
ModelBuilder leaky_function() {
  ModelBuilder model = function_model();
  auto& function = add_function(model, "F", {"a"}, {"b"});
  function.add_attribute("slope");
  auto& attribute = *add_node(*function.mutable_node(), "LeakyRelu", {"a"}, {"b"}).add_attribute();
  attribute.set_name("alpha");
  attribute.set_type(onnx_schema::AttributeProto::FLOAT);
  attribute.set_ref_attr_name("slope");
  return model;
}

// y = F(x), whose body is op(a, second).
ModelBuilder with_function(const Names& parameters, const char* op, const Names& inputs,
                           const Names& arguments) {
  ModelBuilder model = function_model();
  add_node(*add_function(model, "F", parameters, {"b"}).mutable_node(), op, inputs, {"b"});
  call(model.graph(), "F", arguments, {"y"});
  return model;
}

// LeakyRelu whose slope is said to be an attribute of a function.
ModelBuilder with_reference(std::optional<float> beside) {
  ModelBuilder model = relu_of_dims({1, 3});
  NodeProto& node = *model.proto.mutable_graph()->mutable_node(0);
  node.set_op_type("LeakyRelu");
  auto& attribute = *node.add_attribute();
  attribute.set_name("alpha");
  attribute.set_type(onnx_schema::AttributeProto::FLOAT);
  attribute.set_ref_attr_name("slope");
  if (beside) attribute.set_f(*beside);
  return model;
}

TEST(Leniency, LoadsFunctionsWithANamedWarning) {
  const Datum x = Tensor::of<float>({-1, 2, 3}, {1, 3});
  expect_lenience({
      {"a function that is defined twice",
       [] {
         ModelBuilder model = function_model();
         for (int i = 0; i < 2; ++i)
           add_node(*add_function(model, "F", {"a"}, {"b"}).mutable_node(), "Neg", {"a"}, {"b"});
         call(model.graph(), "F", {"x"}, {"y"});
         return model;
       },
       "repeated-function",
       {floats({1, -2})},
       {-1, 2}},
      {"a call of a function without one of its attributes",
       [] {
         ModelBuilder model = leaky_function();
         call(model.graph(), "F", {"x"}, {"y"});
         return model;
       },
       "function-attribute",
       {floats({1, -2})},
       {1, -0.02}},
      {"a call of a function with an attribute that it has not",
       [] {
         ModelBuilder model = leaky_function();
         call(model.graph(), "F", {"x"}, {"y"}, {{"slope", 0.5f}, {"other", 0.5f}});
         return model;
       },
       "function-attribute",
       {floats({1, -2})},
       {1, -1}},
      {"functions that differ",
       [] {
         ModelBuilder model = with_function({"a"}, "Neg", {"a"}, {"x"});
         add_node(*add_function(model, "F", {"a"}, {"b"}).mutable_node(), "Abs", {"a"}, {"b"});
         return model;
       },
       "repeated-function",
       {floats({1, -2})},
       {1, 2}},
      {"a reference to an attribute of a function outside of functions",
       [] { return with_reference(0.5f); },
       "function-attribute",
       {x},
       {-0.5, 2, 3}},
      {"the same without a value",
       [] { return with_reference(std::nullopt); },
       "function-attribute",
       {x},
       {0, 2, 3}},
      {"a reference to an attribute that the function has not",
       [] {
         ModelBuilder model = leaky_function();
         model.proto.mutable_functions(0)->clear_attribute();
         call(model.graph(), "F", {"x"}, {"y"});
         return model;
       },
       "function-attribute",
       {floats({1, -2})},
       {1, -0.02}},
      {"a function that uses a value of the graph, which comes after the call",
       [] {
         ModelBuilder model = with_function({"a"}, "Mul", {"a", "c"}, {"x"});
         model.graph().node("Neg", {"x"}, {"c"});
         return model;
       },
       "function-scope",
       {floats({1, -2})},
       {-1, -4}},
      {"a function in a branch and in a function that uses a value of the graph",
       [] {
         ModelBuilder model;
         model.import("local", 1);
         GraphBuilder graph = model.graph();
         graph.input("x", DType::kFloat, {{2}});
         graph.input("go", DType::kBool, {std::vector<DimSpec>{}});
         graph.output("y");
         add_node(*add_function(model, "F", {"a"}, {"b"}).mutable_node(), "Mul", {"a", "c"}, {"b"});
         auto& outer = add_function(model, "G", {"a"}, {"b"});
         auto& import = *outer.add_opset_import();
         import.set_domain("local");
         import.set_version(1);
         add_node(*outer.mutable_node(), "F", {"a"}, {"b"}).set_domain("local");
         graph.node("Neg", {"x"}, {"c"});
         NodeProto& choice = graph.node("If", {"go"}, {"y"});
         GraphBuilder then = add_subgraph(choice, "then_branch");
         call(then, "G", {"x"}, {"t"});
         then.output("t");
         GraphBuilder otherwise = add_subgraph(choice, "else_branch");
         otherwise.node("Relu", {"x"}, {"e"});
         otherwise.output("e");
         return model;
       },
       "function-scope",
       {floats({1, -2}), Tensor::scalar(true)},
       {-1, -4}},
      {"a function with one input twice",
       [] {
         ModelBuilder model = with_function({"a", "a"}, "Add", {"a", "a"}, {"x", "c"});
         model.graph().initializer("c", floats({5, 6}));
         return model;
       },
       "function-scope",
       {floats({1, -2})},
       {10, 12}},
  });
}

}  // namespace
}  // namespace sardonyx
