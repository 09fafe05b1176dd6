// Files that deviate from ONNX in ways that leave their meaning clear are loaded, with a warning of
// a name; strict loading refuses them.
#include <gmock/gmock.h>

#include <functional>

#include "onnx_io/test_model.h"

namespace sardonyx {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> warnings_of(const ModelBuilder& model) {
  std::vector<std::string> names;
  LoadOptions options;
  options.on_warning = [&](const LoadWarning& warning) { names.push_back(warning.name); };
  verify(*model.load(options).graph);
  return names;
}

// y = relu(x), x of float[n, 3].
ModelBuilder relu() {
  ModelBuilder model;
  model.graph().input("x", DType::kFloat, {{"n", 3}});
  model.graph().node("Relu", {"x"}, {"y"});
  return model;
}

ModelBuilder relu_with_output(const std::optional<std::vector<DimSpec>>& dims) {
  ModelBuilder model = relu();
  model.graph().output("y", DType::kFloat, dims);
  return model;
}

void declare(ModelBuilder& model, const std::string& name, DType dtype,
             const std::vector<DimSpec>& dims) {
  ValueInfoProto& info = *model.proto.mutable_graph()->add_value_info();
  info.set_name(name);
  set_type(info, dtype, dims);
}

// GroupNormalization of (1, 4, 1) in two groups with a scale of 2 and a bias for each of `biased`.
ModelBuilder with_one_scale(const Tensor& scale, int64_t biased, int64_t opset = kNewestOpset) {
  ModelBuilder model(opset);
  model.graph().input("x", DType::kFloat, {{1, 4, 1}});
  model.graph().node("GroupNormalization", {"x", "scale", "bias"}, {"y"},
                     {{"num_groups", int64_t{2}}});
  model.graph().output("y");
  model.graph().initializer("scale", scale);
  model.graph().initializer("bias", Tensor::zeros(DType::kFloat, {biased}));
  return model;
}

struct Sloppy {
  const char* what;
  std::function<ModelBuilder()> model;
  std::string warning;
  std::vector<Datum> inputs;
  std::vector<double> wanted;  // the elements of the first output
};

ModelBuilder with_branches(const std::vector<DimSpec>& declared) {
  ModelBuilder model;
  GraphBuilder graph = model.graph();
  graph.input("c", DType::kBool, {std::vector<DimSpec>{}});
  graph.input("x", DType::kFloat, {{2}});
  NodeProto& node = graph.node("If", {"c"}, {"y"});
  GraphBuilder then = add_subgraph(node, "then_branch");
  then.node("Neg", {"x"}, {"t"});
  then.output("t", DType::kFloat, declared);
  GraphBuilder otherwise = add_subgraph(node, "else_branch");
  otherwise.node("Relu", {"x"}, {"e"});
  otherwise.output("e");
  graph.output("y");
  return model;
}

// y = relu(x), x of these dims.
ModelBuilder relu_of_dims(const std::vector<DimSpec>& dims) {
  ModelBuilder model;
  model.graph().input("x", DType::kFloat, dims);
  model.graph().node("Relu", {"x"}, {"y"});
  model.graph().output("y");
  return model;
}

ModelBuilder expanded_to(const Tensor& sizes) {
  ModelBuilder model;
  model.graph().input("x", DType::kFloat, {{1}});
  model.graph().initializer("sizes", sizes);
  model.graph().node("Expand", {"x", "sizes"}, {"y"});
  model.graph().output("y");
  return model;
}

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

// An output that is an initializer of one element, whose data is still to come.
ModelBuilder with_constant(int dtype) {
  ModelBuilder model;
  onnx_schema::TensorProto& tensor = *model.proto.mutable_graph()->add_initializer();
  tensor.set_name("y");
  tensor.set_data_type(dtype);
  tensor.add_dims(1);
  model.graph().output("y");
  return model;
}

// y = s, where s is a sparse initializer of four elements.
ModelBuilder with_sparse(const Tensor& values, const Tensor& indices) {
  ModelBuilder model;
  auto& sparse = *model.proto.mutable_graph()->add_sparse_initializer();
  *sparse.mutable_values() = onnx_export::encode(values, "s");
  *sparse.mutable_indices() = onnx_export::encode(indices, "");
  sparse.add_dims(4);
  model.graph().node("Identity", {"s"}, {"y"});
  model.graph().output("y");
  return model;
}

// y = x * c, with c still to come.
ModelBuilder times_constant() {
  ModelBuilder model;
  model.graph().input("x", DType::kFloat, {{"n", 3}});
  model.graph().node("Mul", {"x", "c"}, {"y"});
  model.graph().output("y");
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

ModelBuilder with_op(const std::string& op, const Names& inputs, const AttrMap& attrs,
                     const std::vector<DimSpec>& dims, int64_t opset = kNewestOpset) {
  ModelBuilder model(opset);
  model.graph().input("x", DType::kFloat, dims);
  model.graph().node(op, inputs, {"y"}, attrs);
  model.graph().output("y");
  return model;
}

// The same with the name "mark" written as bytes that are no UTF-8.
ModelBuilder with_bytes_for_mark(const ModelBuilder& model) {
  std::string bytes = model.bytes();
  for (size_t at = bytes.find("mark"); at != std::string::npos; at = bytes.find("mark", at))
    bytes.replace(at, 4,
                  "m\xe4\xff"
                  "k");
  ModelBuilder out;
  out.proto.ParsePartialFromString(bytes);
  return out;
}

const std::vector<Sloppy>& sloppy_models() {
  const Datum x = Tensor::of<float>({-1, 2, 3}, {1, 3});
  static const std::vector<Sloppy> models{
      {"an output of another dim",
       [] {
         return relu_with_output({{"n", 5}});
       },
       "declared-shape",
       {x},
       {0, 2, 3}},
      {"an output of another rank",
       [] {
         return relu_with_output({{"n", 3, 1}});
       },
       "declared-shape",
       {x},
       {0, 2, 3}},
      {"an output that is no scalar",
       [] { return relu_with_output(std::vector<DimSpec>{}); },
       "declared-shape",
       {x},
       {0, 2, 3}},
      {"a value_info of another dim",
       [] {
         ModelBuilder model = relu();
         model.graph().node("Neg", {"y"}, {"z"});
         model.graph().output("z");
         declare(model, "y", DType::kFloat, {"n", 7});
         return model;
       },
       "declared-shape",
       {x},
       {0, -2, -3}},
      {"two value_infos that contradict each other",
       [] {
         ModelBuilder model = relu_with_output({{"n", 3}});
         declare(model, "y", DType::kFloat, {"n", 4});
         return model;
       },
       "declared-shape",
       {x},
       {0, 2, 3}},
      {"a branch's output of another dim",
       [] { return with_branches({5}); },
       "declared-shape",
       {Tensor::scalar(true), floats({-1, 2})},
       {1, -2}},
      {"a constant declared otherwise",
       [] {
         ModelBuilder model;
         model.graph().node("Constant", {}, {"y"}, {{"value", floats({1, 2})}});
         model.graph().output("y", DType::kFloat, {{3}});
         return model;
       },
       "declared-shape",
       {},
       {1, 2}},
      {"ai.onnx.ml that is not imported",
       [] {
         ModelBuilder model;
         model.graph().input("x", DType::kFloat, {{"n", 3}});
         model.graph()
             .node("Scaler", {"x"}, {"y"},
                   {{"offset", std::vector<float>{1}}, {"scale", std::vector<float>{2}}})
             .set_domain("ai.onnx.ml");
         model.graph().output("y");
         return model;
       },
       "missing-opset-import",
       {x},
       {-4, 2, 4}},
      {"the first form of an op of ai.onnx.ml that is not imported",
       [] {
         ModelBuilder model;
         model.graph().input("x", DType::kInt64, {{"n"}});
         model.graph()
             .node("LabelEncoder", {"x"}, {"s"},
                   {{"classes_strings", std::vector<std::string>{"a", "b"}}})
             .set_domain("ai.onnx.ml");
         model.graph().node("StringConcat", {"s", "s"}, {"t"});
         model.graph()
             .node("LabelEncoder", {"t"}, {"y"},
                   {{"keys_strings", std::vector<std::string>{"aa", "bb"}},
                    {"values_int64s", std::vector<int64_t>{7, 8}}})
             .set_domain("ai.onnx.ml");
         model.graph().output("y");
         return model;
       },
       "missing-opset-import",
       {Tensor::vector<int64_t>({1, 0})},
       {8, 7}},
      {"com.microsoft that is not imported",
       [] {
         ModelBuilder model;
         model.graph().input("x", DType::kFloat, {{"n", 3}});
         model.graph()
             .node("QuickGelu", {"x"}, {"y"}, {{"alpha", 0.0f}})
             .set_domain("com.microsoft");
         model.graph().output("y");
         return model;
       },
       "missing-opset-import",
       {x},
       {-0.5, 1, 1.5}},
      {"no ir_version",
       [] {
         ModelBuilder model = relu_with_output(std::nullopt);
         model.proto.clear_ir_version();
         return model;
       },
       "missing-ir-version",
       {x},
       {0, 2, 3}},
      {"an ir_version of 0",
       [] {
         ModelBuilder model = relu_with_output(std::nullopt);
         model.proto.set_ir_version(0);
         return model;
       },
       "missing-ir-version",
       {x},
       {0, 2, 3}},
      {"equal constants of one name",
       [] {
         ModelBuilder model;
         model.graph().input("x", DType::kFloat, {{"n", 3}});
         for (int i = 0; i < 2; ++i)
           model.graph().node("Constant", {}, {"c"}, {{"value_float", 2.0f}});
         model.graph().node("Mul", {"x", "c"}, {"y"});
         model.graph().output("y");
         return model;
       },
       "repeated-constant",
       {x},
       {-2, 4, 6}},
      {"an initializer that is given twice",
       [] {
         ModelBuilder model;
         model.graph().input("x", DType::kFloat, {{"n", 3}});
         model.graph().initializer("c", floats({5}));
         model.graph().initializer("c", floats({2}));
         model.graph().node("Mul", {"x", "c"}, {"y"});
         model.graph().output("y");
         return model;
       },
       "repeated-constant",
       {x},
       {-2, 4, 6}},
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
      {"a signal of rank 2",
       [] {
         ModelBuilder model;
         model.graph().input("x", DType::kFloat, {{1, 4}});
         model.graph().initializer("step", Tensor::scalar<int64_t>(4));
         model.graph().initializer("length", Tensor::scalar<int64_t>(4));
         model.graph().node("STFT", {"x", "step", "", "length"}, {"y"});
         model.graph().output("y");
         return model;
       },
       "signal-rank",
       {Tensor::of<float>({1, 2, 3, 4}, {1, 4})},
       {10, 0, -2, 2, -2, 0}},
      {"a node name that is not UTF-8",
       [] {
         ModelBuilder model = relu_with_output(std::nullopt);
         model.proto.mutable_graph()->mutable_node(0)->set_name("gr\xf6\xdf");
         return model;
       },
       "not-utf8",
       {x},
       {0, 2, 3}},
      {"a name of a dim that is not UTF-8",
       [] {
         return relu_of_dims({"\xe9", 3});
       },
       "not-utf8",
       {x},
       {0, 2, 3}},
      {"a dim below -1",
       [] {
         return relu_of_dims({-5, 3});
       },
       "negative-dim",
       {x},
       {0, 2, 3}},
      {"a version 0 of a domain that nothing uses",
       [] {
         ModelBuilder model = relu_with_output(std::nullopt);
         auto& import = *model.proto.add_opset_import();
         import.set_domain("com.example");
         import.set_version(0);
         return model;
       },
       "missing-opset-import",
       {x},
       {0, 2, 3}},
      {"ONNX's own domain that is not imported, beside another",
       [] {
         ModelBuilder model = relu_with_output(std::nullopt);
         model.proto.mutable_opset_import(0)->set_domain("com.example");
         return model;
       },
       "missing-opset-import",
       {x},
       {0, 2, 3}},
      {"an initializer that nothing uses, and that lacks its data",
       [] {
         ModelBuilder model = relu_with_output(std::nullopt);
         onnx_schema::TensorProto& tensor = *model.proto.mutable_graph()->add_initializer();
         tensor.set_name("w");
         tensor.set_data_type(1);
         tensor.add_dims(4);
         return model;
       },
       "unused-initializer",
       {x},
       {0, 2, 3}},
      {"a value_info with another element type than the output",
       [] {
         ModelBuilder model = relu_with_output({{"n", 3}});
         declare(model, "y", DType::kInt64, {"n", 3});
         return model;
       },
       "declared-shape",
       {x},
       {0, 2, 3}},
      {"an input of a loop's body that is called like a value around it",
       [] {
         ModelBuilder model;
         GraphBuilder graph = model.graph();
         graph.input("x", DType::kFloat, {{2}});
         graph.initializer("trips", Tensor::scalar<int64_t>(2));
         GraphBuilder body = add_subgraph(graph.node("Loop", {"trips", "", "x"}, {"y"}), "body");
         body.input("i", DType::kInt64, {std::vector<DimSpec>{}});
         body.input("go", DType::kBool, {std::vector<DimSpec>{}});
         body.input("x", DType::kFloat, {{2}});
         body.node("Identity", {"go"}, {"goes"});
         body.node("Add", {"x", "x"}, {"more"});
         body.output("goes");
         body.output("more");
         graph.output("y");
         return model;
       },
       "shadowed-name",
       {floats({1, -2})},
       {4, -8}},
      {"a size that is a scalar",
       [] { return expanded_to(Tensor::scalar<int64_t>(3)); },
       "argument-rank",
       {floats({5})},
       {5, 5, 5}},
      {"a size in a matrix",
       [] {
         return expanded_to(Tensor::of<int64_t>({3}, {1, 1}));
       },
       "argument-rank",
       {floats({5})},
       {5, 5, 5}},
      {"scales of channels in a row of a matrix",
       [] {
         ModelBuilder model = with_op("GroupNormalization", {"x", "scale", "bias"},
                                      {{"num_groups", int64_t{1}}}, {1, 2, 1});
         model.graph().initializer("scale", Tensor::of<float>({1, 2}, {1, 2}));
         model.graph().initializer("bias", floats({0, 1}));
         return model;
       },
       "argument-rank",
       {Tensor::of<float>({-100, 100}, {1, 2, 1})},
       {-1, 3}},
      {"one scale for all channels",
       [] { return with_one_scale(floats({2}), 4); },
       "one-element-scale",
       {Tensor::of<float>({-100, 100, 50, -50}, {1, 4, 1})},
       {-2, 2, 2, -2}},
      {"one scale and one bias for all groups",
       [] { return with_one_scale(floats({2}), 1, 18); },
       "one-element-scale",
       {Tensor::of<float>({-100, 100, 50, -50}, {1, 4, 1})},
       {-2, 2, 2, -2}},
      {"a condition that is a matrix of one element, and no constant",
       [] {
         ModelBuilder model;
         GraphBuilder graph = model.graph();
         graph.input("c", DType::kBool, {{1, 1}});
         NodeProto& node = graph.node("If", {"c"}, {"y"});
         for (const auto& [branch, name, value] :
              {std::tuple("then_branch", "t", 1.0f), std::tuple("else_branch", "e", 2.0f)}) {
           GraphBuilder inner = add_subgraph(node, branch);
           inner.node("Constant", {}, {name}, {{"value_float", value}});
           inner.output(name);
         }
         graph.output("y");
         return model;
       },
       "argument-rank",
       {Tensor::of<bool>({false}, {1, 1})},
       {2}},
      {"an axis that is reduced twice",
       [] {
         ModelBuilder model;
         model.graph().input("x", DType::kFloat, {{2, 2}});
         model.graph().initializer("axes", Tensor::vector<int64_t>({1, -1}));
         model.graph().node("ReduceSum", {"x", "axes"}, {"y"});
         model.graph().output("y");
         return model;
       },
       "repeated-axis",
       {Tensor::of<float>({1, 2, 3, 4}, {2, 2})},
       {3, 7}},
      {"an axis that is squeezed twice, in the older form",
       [] {
         ModelBuilder model(11);
         model.graph().input("x", DType::kFloat, {{1, 2}});
         model.graph().node("Squeeze", {"x"}, {"y"}, {{"axes", std::vector<int64_t>{0, 0}}});
         model.graph().output("y");
         return model;
       },
       "repeated-axis",
       {Tensor::of<float>({1, 2}, {1, 2})},
       {1, 2}},
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
      {"a tensor that is marked as a segment",
       [] {
         ModelBuilder model = with_constant(1);
         auto& tensor = *model.proto.mutable_graph()->mutable_initializer(0);
         tensor.add_float_data(7);
         tensor.mutable_segment()->set_end(1);
         return model;
       },
       "tensor-segment",
       {},
       {7}},
      {"names of values, functions and domains that are not UTF-8",
       [] {
         ModelBuilder model = function_model();
         model.import("mark", 1);
         auto& function = add_function(model, "mark", {"mark"}, {"b"});
         function.set_domain("mark");
         add_node(*function.mutable_node(), "Neg", {"mark"}, {"b"});
         model.graph().node("mark", {"x"}, {"mark"}).set_domain("mark");
         model.graph().node("Relu", {"mark"}, {"y"});
         return with_bytes_for_mark(model);
       },
       "not-utf8",
       {floats({1, -2})},
       {0, 2}},
      {"an ir_version below 0",
       [] {
         ModelBuilder model = times_constant();
         model.graph().input("c", DType::kFloat, {{1}});
         model.graph().initializer("c", floats({2}));
         model.proto.set_ir_version(-1);
         return model;
       },
       "missing-ir-version",
       {x},
       {-2, 4, 6}},
      {"functions that differ",
       [] {
         ModelBuilder model = with_function({"a"}, "Neg", {"a"}, {"x"});
         add_node(*add_function(model, "F", {"a"}, {"b"}).mutable_node(), "Abs", {"a"}, {"b"});
         return model;
       },
       "repeated-function",
       {floats({1, -2})},
       {1, 2}},
      {"constants of one name that differ",
       [] {
         ModelBuilder model = times_constant();
         for (const float value : {5.0f, 2.0f})
           model.graph().node("Constant", {}, {"c"}, {{"value", floats({value})}});
         return model;
       },
       "repeated-constant",
       {x},
       {-2, 4, 6}},
      {"an initializer that a Constant node produces as well",
       [] {
         ModelBuilder model = times_constant();
         model.graph().initializer("c", floats({5}));
         model.graph().node("Constant", {}, {"c"}, {{"value", floats({2})}});
         return model;
       },
       "repeated-constant",
       {x},
       {-2, 4, 6}},
      {"a sparse initializer that is given as a dense one as well",
       [] {
         ModelBuilder model = with_sparse(floats({7}), Tensor::vector<int64_t>({2}));
         model.graph().initializer("s", floats({1, 1, 1, 1}));
         return model;
       },
       "repeated-constant",
       {},
       {0, 0, 7, 0}},
      {"initializers without a name",
       [] {
         ModelBuilder model = relu_with_output(std::nullopt);
         model.graph().initializer("", floats({5}));
         model.graph().initializer("", Tensor::vector<int64_t>({5, 6}));
         return model;
       },
       "unused-initializer",
       {x},
       {0, 2, 3}},
      {"sparse indices out of order, one of them twice",
       [] {
         return with_sparse(floats({5, 6, 7}), Tensor::vector<int64_t>({3, 1, 3}));
       },
       "sparse-indices",
       {},
       {0, 6, 0, 7}},
      {"sparse coordinates out of order",
       [] {
         return with_sparse(floats({5, 6}), Tensor::of<int64_t>({2, 0}, {2, 1}));
       },
       "sparse-indices",
       {},
       {6, 0, 5, 0}},
      {"sparse indices of 32 bits",
       [] {
         return with_sparse(floats({5, 6}), Tensor::vector<int32_t>({0, 2}));
       },
       "sparse-indices",
       {},
       {5, 0, 6, 0}},
      {"sparse coordinates of 8 bits",
       [] {
         return with_sparse(floats({5, 6}), Tensor::of<int8_t>({0, 2}, {2, 1}));
       },
       "sparse-indices",
       {},
       {5, 0, 6, 0}},
      {"a Constant node with inputs, which stand on it and are not there",
       [] {
         ModelBuilder model = times_constant();
         model.graph().node("Constant", {"y", "nothing"}, {"c"}, {{"value", floats({2})}});
         return model;
       },
       "constant-input",
       {x},
       {-2, 4, 6}},
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
      {"an initializer of a branch that is called like a value around it",
       [] {
         ModelBuilder model = with_branches({2});
         GraphProto& then =
             *model.proto.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
         GraphBuilder{then}.initializer("x", floats({4, 5}));
         return model;
       },
       "shadowed-name",
       {Tensor::scalar(true), floats({-1, 2})},
       {-4, -5}},
      {"keepdims of 2, as the shape of what is reduced shows",
       [] {
         ModelBuilder model;
         model.graph().input("x", DType::kFloat, {{1, 3}});
         model.graph().initializer("axes", Tensor::vector<int64_t>({1}));
         model.graph().node("ReduceMean", {"x", "axes"}, {"mean"}, {{"keepdims", int64_t{2}}});
         model.graph().node("Shape", {"mean"}, {"y"});
         model.graph().output("y");
         return model;
       },
       "flag-value",
       {x},
       {1}},
      {"largest of 2",
       [] {
         ModelBuilder model = with_op("TopK", {"x", "k"}, {{"largest", int64_t{2}}}, {1, 3});
         model.graph().initializer("k", Tensor::vector<int64_t>({1}));
         model.proto.mutable_graph()->mutable_node(0)->add_output("places");
         return model;
       },
       "flag-value",
       {x},
       {-1}},
      {"a slope with more dims than X",
       [] {
         ModelBuilder model = with_op("PRelu", {"x", "slope"}, {}, {3});
         model.graph().initializer("slope", Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3}));
         return model;
       },
       "slope-shape",
       {floats({-1, 2, -3})},
       {-1, 2, -9, -4, 2, -18}},
      {"a slope with a longer dim than X, which has a longer one as well",
       [] {
         ModelBuilder model = with_op("PRelu", {"x", "slope"}, {}, {2, 1}, 9);
         model.graph().initializer("slope", Tensor::of<float>({1, 2, 3}, {1, 3}));
         return model;
       },
       "slope-shape",
       {Tensor::of<float>({-1, -2}, {2, 1})},
       {-1, -2, -3, -2, -4, -6}},
      {"the axes of images for a tensor of rank 3",
       [] {
         return with_op("MeanVarianceNormalization", {"x"}, {}, {2, 1, 2});
       },
       "missing-axis",
       {Tensor::of<float>({1, 1, 3, 3}, {2, 1, 2})},
       {-1, -1, 1, 1}},
      {"tuples of no index",
       [] {
         ModelBuilder model = with_op("GatherND", {"x", "indices"}, {}, {2});
         model.graph().initializer("indices", Tensor::of<int64_t>({}, {2, 0}));
         return model;
       },
       "empty-tuple",
       {floats({1, 2})},
       {1, 2, 1, 2}},
      {"a byte of more than 255",
       [] {
         ModelBuilder model = with_constant(2);
         model.proto.mutable_graph()->mutable_initializer(0)->add_int32_data(258);
         return model;
       },
       "element-range",
       {},
       {2}},
  };
  return models;
}

TEST(Leniency, LoadsWithANamedWarning) {
  for (const Sloppy& sloppy : sloppy_models()) {
    SCOPED_TRACE(sloppy.what);
    const std::vector<std::string> names = warnings_of(sloppy.model());
    EXPECT_FALSE(names.empty());
    for (const std::string& name : names)
      EXPECT_EQ(name, sloppy.warning);
    const std::vector<double> got = run(sloppy.model(), sloppy.inputs)[0].tensor().to_doubles();
    ASSERT_EQ(got.size(), sloppy.wanted.size());
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], sloppy.wanted[i], 1e-5);
  }
}

// Where the number of channels is known in a run alone, too.
TEST(Leniency, AScalarScaleOfGroupsDeviatesTwice) {
  ModelBuilder model = with_one_scale(Tensor::scalar(2.0f), 1);
  set_type(*model.proto.mutable_graph()->mutable_input(0), DType::kFloat,
           std::vector<DimSpec>{"n", "c", 1});
  EXPECT_THAT(warnings_of(model),
              ElementsAre("argument-rank", "one-element-scale", "one-element-scale"));
  const Tensor x = Tensor::of<float>({-100, 100, 50, -50}, {1, 4, 1});
  const std::vector<double> got = run(model, {x})[0].tensor().to_doubles();
  EXPECT_THAT(got, testing::Pointwise(testing::DoubleNear(1e-5), {-2, 2, 2, -2}));
}

TEST(Leniency, AScaleOfAnyLengthMayBeOne) {
  LoadOptions strict;
  strict.strict = true;
  const Tensor x = Tensor::of<float>({-100, 100, 50, -50}, {1, 4, 1});
  for (const int64_t opset : {int64_t{18}, kNewestOpset}) {
    for (const bool has_rank : {false, true}) {
      ModelBuilder model(opset);
      if (has_rank)
        model.graph().input("x", DType::kFloat, {{1, 4, 1}});
      else
        model.graph().input("x", DType::kFloat, std::nullopt);
      model.graph().input("scale", DType::kFloat, {{"k"}});
      model.graph().node("GroupNormalization", {"x", "scale", "bias"}, {"y"},
                         {{"num_groups", int64_t{2}}});
      model.graph().output("y");
      model.graph().initializer("bias", Tensor::zeros(DType::kFloat, {opset == 18 ? 2 : 4}));
      EXPECT_THAT(warnings_of(model), ElementsAre("one-element-scale"));
      EXPECT_EQ(load_error(model, strict), "");
      const Tensor all = opset == 18 ? floats({2, 3}) : floats({2, 2, 3, 3});
      EXPECT_THAT(run(model, {x, floats({2})})[0].tensor().to_doubles(),
                  testing::Pointwise(testing::DoubleNear(1e-5), {-2, 2, 2, -2}));
      EXPECT_THAT(run(model, {x, all})[0].tensor().to_doubles(),
                  testing::Pointwise(testing::DoubleNear(1e-5), {-2, 2, 3, -3}));
      EXPECT_THROW(run(model, {x, floats({1, 2, 3})}), Error);
    }
  }
}

TEST(Leniency, StrictLoadingRefuses) {
  LoadOptions strict;
  strict.strict = true;
  for (const Sloppy& sloppy : sloppy_models()) {
    EXPECT_THAT(load_error(sloppy.model(), strict), HasSubstr("(" + sloppy.warning + ", refused"))
        << sloppy.what;
  }
  EXPECT_EQ(load_error(relu_with_output({{"n", 3}}), strict), "");
}

// A size that the file once had says nothing about one that follows from the inputs now.
TEST(Leniency, ADeclaredSizeDoesNotFixADimOfTheInputs) {
  const ModelBuilder model = relu_with_output({{1, 3}});
  EXPECT_THAT(warnings_of(model), ElementsAre());
  const Model loaded = model.load();
  EXPECT_EQ(loaded.graph->outputs()[0]->type.text(), "float[n, 3]");
}

TEST(Leniency, EndsWhereTheMeaningIsNotClear) {
  const auto refused = [](const ModelBuilder& model, const char* mention) {
    EXPECT_THAT(load_error(model), HasSubstr(mention));
  };
  ModelBuilder types = relu();
  types.graph().output("y", DType::kInt32, {{"n", 3}});
  refused(types, "declared with type int32");

  ModelBuilder constants;
  for (const Tensor& value : {floats({1}), floats({1, 2})})
    constants.graph().node("Constant", {}, {"c"}, {{"value", value}});
  constants.graph().output("c");
  refused(constants, "is produced twice");

  ModelBuilder initializers;
  initializers.graph().initializer("c", floats({5}));
  initializers.graph().initializer("c", floats({5, 6}));
  initializers.graph().output("c");
  refused(initializers, "is given twice, with different types or shapes");

  ModelBuilder both = relu_with_output(std::nullopt);
  onnx_schema::TensorProto& tensor = *both.proto.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(1);
  tensor.add_dims(1);
  tensor.set_raw_data(std::string(4, '\0'));
  tensor.add_float_data(1);
  both.graph().output("w");
  refused(both, "both raw_data and float_data hold data");

  refused(with_op("MeanVarianceNormalization", {"x"}, {}, {}), "axes 0 is out of range");

  ModelBuilder other;
  other.graph().input("x", DType::kFloat, {{"n"}});
  other.graph().node("Relu", {"x"}, {"y"}).set_domain("com.example");
  other.graph().output("y");
  refused(other, "is not in opset_import");
}

}  // namespace
}  // namespace sardonyx
