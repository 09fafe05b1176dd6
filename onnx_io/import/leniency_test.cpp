// Deviations of files: declarations, names, versions and constants.
#include "onnx_io/import/leniency_for_test.h"

namespace sardonyx {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

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

TEST(Leniency, LoadsFilesWithANamedWarning) {
  const Datum x = Tensor::of<float>({-1, 2, 3}, {1, 3});
  expect_lenience({
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
      {"a byte of more than 255",
       [] {
         ModelBuilder model = with_constant(2);
         model.proto.mutable_graph()->mutable_initializer(0)->add_int32_data(258);
         return model;
       },
       "element-range",
       {},
       {2}},
  });
}

TEST(Leniency, StrictLoadingTakesWhatOnnxHas) {
  LoadOptions strict;
  strict.strict = true;
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
