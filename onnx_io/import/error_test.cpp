// Models with one fault each: what is wrong is refused, by a message that says where and what.
#include <functional>

#include "onnx_io/test_model.h"
#include "tests/support/expect_error.h"

namespace sardonyx {
namespace {

using namespace test;
using onnx_schema::AttributeProto;
using onnx_schema::FunctionProto;
using onnx_schema::TensorProto;
using onnx_schema::TypeProto;

// A change of `good_model`, and what is said of it.
struct Fault {
  std::function<void(ModelBuilder&)> make;
  const char* mention;
  ErrorCode code = ErrorCode::kInvalidModel;
  LoadOptions options = {};
};

// x -> Relu -> y
ModelBuilder good_model() {
  ModelBuilder model;
  model.import("local", 1);
  model.graph().input("x", DType::kFloat, {{"n"}});
  model.graph().output("y");
  model.graph().node("Relu", {"x"}, {"y"});
  return model;
}

void expect_refusals(const std::vector<Fault>& faults) {
  EXPECT_EQ(load_error(good_model()), "");
  for (const Fault& fault : faults) {
    SCOPED_TRACE(fault.mention);
    ModelBuilder model = good_model();
    fault.make(model);
    expect_refusal(fault.code, fault.mention, [&] { model.load(fault.options); });
  }
}

NodeProto& first_node(ModelBuilder& model) {
  return *model.proto.mutable_graph()->mutable_node(0);
}
AttributeProto& add_attribute(NodeProto& node, const std::string& name) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  return attribute;
}
TypeProto& input_type(ModelBuilder& model) {
  auto& input = *model.proto.mutable_graph()->add_input();
  input.set_name("second");
  return *input.mutable_type();
}
TEST(ModelRefusals, Header) {
  LoadOptions shallow;
  shallow.limits.nesting = 8;  // as deep as the dims of a type
  expect_refusals({
      {[](ModelBuilder& m) { m.proto.clear_opset_import(); }, "the model has no opset_import"},
      {[](ModelBuilder& m) { m.proto.mutable_opset_import(0)->set_version(0); },
       "ai.onnx has version 0, expected 1"},
      {[](ModelBuilder& m) { m.import("local", 2); }, "twice, with versions 1 and 2"},
      {[](ModelBuilder& m) { m.import("ai.onnx.ml", 99); },
       "opset 99 of domain \"ai.onnx.ml\" is newer", ErrorCode::kUnsupported},
      {[](ModelBuilder& m) {
         FunctionProto* function = nullptr;
         for (int i = 0; i < 9; ++i) {
           function = m.proto.add_functions();
           function->set_domain("local");
           function->set_name("F" + std::to_string(i));
           add_node(*function->mutable_node(), "F" + std::to_string(i + 1), {}, {"o"})
               .set_domain("local");
         }
         function->mutable_node(0)->set_op_type("Neg");
         m.graph().node("F0", {}, {"z"}).set_domain("local");
       },
       "functions call each other more than 8 levels deep", ErrorCode::kResourceExhausted, shallow},
  });
}

TEST(ModelRefusals, Types) {
  LoadOptions low;
  low.limits.rank = 2;
  const auto tensor = [](TypeProto& type) {
    type.mutable_tensor_type()->set_elem_type(1);
    return type.mutable_tensor_type()->mutable_shape();
  };
  expect_refusals({
      {[](ModelBuilder& m) { input_type(m).mutable_tensor_type(); }, "UNDEFINED"},
      {[](ModelBuilder& m) { input_type(m).mutable_tensor_type()->set_elem_type(77); },
       "unknown element type 77"},
      {[&](ModelBuilder& m) {
         auto* shape = tensor(input_type(m));
         for (int i = 0; i < 3; ++i)
           shape->add_dim()->set_dim_value(1);
       },
       "has 3 dims, more than the limit of 2", ErrorCode::kResourceExhausted, low},
      {[](ModelBuilder& m) {
         m.graph().initializer("three", Tensor::vector<int64_t>({1, 1, -1}));
         m.graph().node("Reshape", {"x", "three"}, {"high"});
       },
       "output \"high\" has 3 dims, more than the limit of 2", ErrorCode::kResourceExhausted, low},
      {[](ModelBuilder& m) { input_type(m).mutable_sequence_type(); },
       "without the type of its elements"},
      {[](ModelBuilder& m) { input_type(m).mutable_optional_type(); },
       "without the type of its element"},
      {[](ModelBuilder& m) { input_type(m).mutable_map_type()->set_key_type(7); },
       "without the type of its values"},
      {[&](ModelBuilder& m) {
         auto& map = *input_type(m).mutable_map_type();
         tensor(*map.mutable_value_type());
         map.set_key_type(1);
       },
       "is a map with float keys, expected integers or strings"},
      {[&](ModelBuilder& m) {
         auto& map = *input_type(m).mutable_map_type();
         tensor(*map.mutable_value_type());
         map.set_key_type(99);
       },
       "the key of the value has the unknown element type 99"},
      {[](ModelBuilder& m) { input_type(m).mutable_opaque_type()->set_name("Odd"); },
       "opaque type \".Odd\"", ErrorCode::kUnsupported},
      {[](ModelBuilder& m) { input_type(m).mutable_sequence_type()->mutable_elem_type(); },
       "has no type"},
      {[](ModelBuilder& m) { input_type(m); }, "graph input \"second\": has no type"},
      {[](ModelBuilder& m) { m.graph().untyped_input("second"); },
       "graph input \"second\": has no type"},
      {[](ModelBuilder& m) {
         m.graph().initializer("w", floats({1, 2}));
         m.graph().input("w", DType::kInt64, {{2}});
       },
       "graph input \"w\""},
      {[](ModelBuilder& m) {
         m.graph().initializer("w", floats({1, 2}));
         m.graph().output("w", DType::kInt64, {{2}});
       },
       "graph output \"w\""},
      {[](ModelBuilder& m) { m.graph().output(""); }, "a graph output has no name"},
      {[](ModelBuilder& m) { m.graph().input(""); }, "the graph input has no name"},
  });
}

TEST(ModelRefusals, Attributes) {
  expect_refusals({
      {[](ModelBuilder& m) {
         auto& attribute = add_attribute(first_node(m), "a");
         attribute.set_i(1);
         attribute.set_f(1);
       },
       "holds values of 2 kinds, expected one"},
      {[](ModelBuilder& m) {
         auto& attribute = add_attribute(first_node(m), "a");
         attribute.set_i(1);
         attribute.set_type(AttributeProto::FLOAT);
       },
       "its type does not fit the value"},
      {[](ModelBuilder& m) { add_attribute(first_node(m), "a"); },
       "has neither a known type nor a value"},
      {[](ModelBuilder& m) {
         auto& attribute = add_attribute(first_node(m), "a");
         attribute.set_i(1);
         attribute.mutable_unknown_fields()->append("\xa0\x01\x63");  // type: 99
       },
       "has the unknown type 99"},
      {[](ModelBuilder& m) { add_attribute(first_node(m), "").set_i(1); },
       "an attribute has no name"},
  });
}

TEST(ModelRefusals, Constants) {
  const auto constant = [](ModelBuilder& m, const Names& inputs, const Names& outputs,
                           const AttrMap& attrs) {
    m.graph().node("Constant", inputs, outputs, attrs);
  };
  const AttrMap one{{"value_int", int64_t{1}}};
  LoadOptions small;
  small.limits.expanded_bytes = 100;
  const auto huge_sparse = [&](ModelBuilder& m) {
    constant(m, {}, {"c"}, {});
    auto& attribute = add_attribute(*m.proto.mutable_graph()->mutable_node(1), "sparse_value");
    attribute.set_type(AttributeProto::SPARSE_TENSOR);
    auto& sparse = *attribute.mutable_sparse_tensor();
    *sparse.mutable_values() = onnx_export::encode(floats({1}), "");
    *sparse.mutable_indices() = onnx_export::encode(Tensor::vector<int64_t>({3}), "");
    sparse.add_dims(50);
  };
  expect_refusals({
      {[&](ModelBuilder& m) {
         constant(m, {}, {"c"}, {{"value_ints", int64_t{1}}});
       },
       "attribute value_ints has the wrong kind INT"},
      {[&](ModelBuilder& m) {
         constant(m, {}, {"c"}, {{"odd", int64_t{1}}});
       },
       "Constant has no such attribute"},
      {[&](ModelBuilder& m) {
         constant(m, {}, {"c", "d"}, one);
       },
       "has 2 outputs, expected one"},
      {[&](ModelBuilder& m) { constant(m, {}, {""}, one); }, "has 1 outputs, expected one with a"},
      {[&](ModelBuilder& m) { constant(m, {}, {"c"}, {}); }, "has 0 value attributes"},
      {huge_sparse, "sparse_value takes 200 bytes when dense", ErrorCode::kResourceExhausted,
       small},
  });
}

TEST(ModelRefusals, Initializers) {
  expect_refusals({
      {[](ModelBuilder& m) {
         m.graph().initializer("w", floats({1}));
         m.graph().initializer("w", floats({2, 3}));
       },
       "initializer \"w\": is given twice"},
      {[](ModelBuilder& m) {
         m.graph().input("w", DType::kFloat, {{"n"}});
         m.graph().initializer("w", floats({1}));
         m.graph().initializer("w", floats({2, 3}));
       },
       "initializer \"w\": is given twice"},
  });
}

TEST(ModelRefusals, Nodes) {
  const auto subgraph_with_default = [](ModelBuilder& m) {
    m.graph().input("condition", DType::kBool, {{}});
    NodeProto& choice = m.graph().node("If", {"condition"}, {"z"});
    GraphBuilder branch = add_subgraph(choice, "then_branch");
    branch.input("i", DType::kFloat, {{1}});
    branch.initializer("i", floats({1}));
    branch.output("i");
  };
  expect_refusals({
      {[](ModelBuilder& m) { first_node(m).set_op_type("\xff"); },
       "there is no operator \"\\xff\""},
      {[](ModelBuilder& m) { first_node(m).set_domain("ai.onnx.ml"); },
       "the domain \"ai.onnx.ml\" is used by operator \"Relu\" but is not in opset_import"},
      {[](ModelBuilder& m) { first_node(m).set_domain("odd"); },
       "not in opset_import, and there is no function of that name"},
      {[](ModelBuilder& m) { first_node(m).set_op_type("Reluu"); },
       "there is no operator \"Reluu\" in domain \"ai.onnx\""},
      {[](ModelBuilder& m) { first_node(m).set_domain("local"); },
       "give its meaning as a model-local function", ErrorCode::kUnsupported},
      {[](ModelBuilder& m) {
         auto& blocked = *m.proto.add_opset_import();
         blocked.set_domain("com.microsoft.nchwc");
         blocked.set_version(1);
         first_node(m).set_domain("com.microsoft.nchwc");
       },
       "optimised the file for the processor of one machine", ErrorCode::kUnsupported},
      {[](ModelBuilder& m) { m.graph().node("Upsample", {"x"}, {"z"}); },
       "operator Upsample was removed in opset 10"},
      {[](ModelBuilder& m) {
         m.proto.mutable_opset_import(0)->set_version(5);
         m.graph().node("Sinh", {"x"}, {"z"});
       },
       "operator Sinh came with opset 9 of ai.onnx; the model imports opset 5"},
      {[](ModelBuilder& m) {
         m.proto.mutable_opset_import(0)->set_version(1);
         m.graph().node("Affine", {"x"}, {"z", "two"});
       },
       "output 1 (\"two\") of Affine can't be made", ErrorCode::kUnsupported},
      {subgraph_with_default, "of a subgraph is also an initializer"},
  });
}

// ---- functions ----

// A call of local::F, whose body the caller writes.
FunctionProto& call_of_function(ModelBuilder& model, const Names& inputs, const Names& outputs,
                                const AttrMap& attrs = {}) {
  model.graph().node("F", inputs, outputs, attrs).set_domain("local");
  FunctionProto& function = *model.proto.add_functions();
  function.set_domain("local");
  function.set_name("F");
  function.add_input("a");
  function.add_output("b");
  auto& import = *function.add_opset_import();
  import.set_version(kNewestOpset);
  return function;
}

// F's body is an If over the graph that the call gives as `branch`.
FunctionProto& function_of_branch(ModelBuilder& model) {
  FunctionProto& function = call_of_function(model, {"x"}, {"z"});
  function.add_attribute("branch");
  set_attributes(add_node(*function.mutable_node(), "Constant", {}, {"true"}),
                 {{"value", Tensor::scalar(true)}});
  NodeProto& choice = add_node(*function.mutable_node(), "If", {"true"}, {"b"});
  for (const char* name : {"then_branch", "else_branch"}) {
    AttributeProto& attribute = add_attribute(choice, name);
    attribute.set_type(AttributeProto::GRAPH);
    attribute.set_ref_attr_name("branch");
  }
  return function;
}
GraphBuilder branch_of_call(ModelBuilder& model) {
  return add_subgraph(*model.proto.mutable_graph()->mutable_node(1), "branch");
}

TEST(ModelRefusals, FunctionCalls) {
  const auto negate = [](FunctionProto& function) {
    return &add_node(*function.mutable_node(), "Neg", {"a"}, {"b"});
  };
  expect_refusals({
      {[&](ModelBuilder& m) {
         negate(call_of_function(m, {"x"}, {"z"}));
         branch_of_call(m);
       },
       "has no attribute \"branch\""},
      {[&](ModelBuilder& m) {
         negate(call_of_function(m, {"x", "x"}, {"z"}));
       },
       "has 1 inputs, the call gives 2"},
      {[&](ModelBuilder& m) {
         negate(call_of_function(m, {"x"}, {"z", "more"}));
       },
       "has 1 outputs, the call names 2"},
      {[](ModelBuilder& m) { call_of_function(m, {"x"}, {"z"}); },
       "never produces its output \"b\""},
      {[&](ModelBuilder& m) {
         FunctionProto& function = call_of_function(m, {"x"}, {"z"});
         negate(function);
         auto& second = *function.add_opset_import();
         second.set_domain("ai.onnx");
         second.set_version(1);
       },
       "twice, with versions"},
  });
}

TEST(ModelRefusals, GraphsGivenToFunctions) {
  LoadOptions small;
  small.limits.file_bytes = 6000;
  const auto give = [](ModelBuilder& m, const char* op) -> NodeProto& {
    function_of_branch(m);
    GraphBuilder branch = branch_of_call(m);
    branch.output("r");
    return branch.node(op, {"x"}, {"r"});
  };
  const auto inner = [](NodeProto& node, bool in_list) -> GraphBuilder {
    if (!in_list) return add_subgraph(node, "then_branch");
    AttributeProto& attribute = add_attribute(node, "graphs");
    attribute.set_type(AttributeProto::GRAPHS);
    return {*attribute.add_graphs()};
  };
  std::vector<Fault> faults{
      {[&](ModelBuilder& m) {
         give(m, "Neg");
         m.proto.mutable_functions(0)->mutable_opset_import(0)->set_version(13);
       },
       "uses version 27 of domain \"ai.onnx\", which the function does not import",
       ErrorCode::kUnsupported},
      {[&](ModelBuilder& m) {
         AttributeProto& attribute = add_attribute(give(m, "Neg"), "n");
         attribute.set_type(AttributeProto::INT);
         attribute.set_ref_attr_name("outer");
       },
       "refers to its attribute \"outer\"; give the value itself", ErrorCode::kUnsupported},
      {[&](ModelBuilder& m) {  // which is put in twice
         give(m, "Neg").set_doc_string(std::string(4000, 'd'));
       },
       "functions take more than the limit of 6000", ErrorCode::kResourceExhausted, small},
  };
  for (const bool in_list : {false, true}) {
    faults.push_back({[&, in_list](ModelBuilder& m) {
                        AttributeProto& attribute = add_attribute(
                            inner(give(m, "If"), in_list).node("Neg", {"x"}, {"deep"}), "n");
                        attribute.set_type(AttributeProto::INT);
                        attribute.set_ref_attr_name("deep");
                      },
                      "refers to its attribute \"deep\"", ErrorCode::kUnsupported});
  }
  expect_refusals(faults);
}

// ---- Gradient ----

TEST(ModelRefusals, Gradients) {
  const auto gradient = [](ModelBuilder& m, const Names& inputs, const Names& outputs,
                           const std::string& y) {
    m.import("ai.onnx.preview.training", 1);
    m.graph()
        .node("Gradient", inputs, outputs, {{"xs", Names{"x"}}, {"y", y}})
        .set_domain("ai.onnx.preview.training");
  };
  expect_refusals({
      {[&](ModelBuilder& m) {
         gradient(m, {"x"}, {"d", "e"}, "y");
       },
       "expected at most 1 outputs, one for each of xs, got 2"},
      {[&](ModelBuilder& m) {
         m.graph().node("Shape", {"x"}, {"count"});
         gradient(m, {"x"}, {"d"}, "count");
       },
       "y must be a tensor of floats, it is int64"},
      {[&](ModelBuilder& m) {
         gradient(m, {"", "x"}, {"d"}, "y");
         set_attributes(*m.proto.mutable_graph()->mutable_node(1), {{"zs", Names{"y"}}});
       },
       "an input is omitted"},
      {[&](ModelBuilder& m) { gradient(m, {"x"}, {"d"}, "nothing"); },
       "\"nothing\" is no value of the graph"},
  });
}

}  // namespace
}  // namespace sardonyx
