#include "onnx_io/save.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "ir/op_def.h"
#include "onnx_io/test_model.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx {
namespace {

using namespace test;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

Model loaded(const std::string& bytes) {
  return load_model(std::as_bytes(std::span(bytes)));
}

// If over an outer weight, a nested If, an outer value that is an output, and a default.
ModelBuilder rich_model() {
  ModelBuilder model(17, 8);
  GraphBuilder graph = model.graph();
  graph.input("condition", DType::kBool, {{}});
  graph.input("x", DType::kFloat, {{"n"}});
  graph.input("d", DType::kFloat, {{1}});
  graph.output("y");
  graph.output("y2");
  graph.initializer("w", floats({10}));
  graph.initializer("d", floats({3}));
  graph.initializer("unused", Tensor::vector<std::string>({"a", "b"}));
  graph.node("Mul", {"x", "d"}, {"scaled"});
  NodeProto& choice = graph.node("If", {"condition"}, {"y"});
  GraphBuilder then_branch = add_subgraph(choice, "then_branch");
  then_branch.output("a");
  then_branch.node("Add", {"scaled", "w"}, {"a"});
  GraphBuilder else_branch = add_subgraph(choice, "else_branch");
  else_branch.output("b");
  else_branch.initializer("own", floats({7}));
  NodeProto& inner = else_branch.node("If", {"condition"}, {"b"});
  GraphBuilder first = add_subgraph(inner, "then_branch");
  first.output("c");
  first.node("Sub", {"scaled", "own"}, {"c"});
  GraphBuilder second = add_subgraph(inner, "else_branch");
  second.output("e");
  second.node("Mul", {"scaled", "w"}, {"e"});
  graph.node("Softmax", {"y"}, {"y2"}, {{"axis", int64_t{-1}}});
  auto& scope = *model.proto.mutable_graph()->mutable_node(0)->add_metadata_props();
  scope.set_key("sardonyx.scope");
  scope.set_value("encoder.layer1");
  return model;
}

TEST(Save, RoundTripComputesTheSame) {
  const Model model = rich_model().load();
  const Model again = loaded(model_bytes(model));
  verify(*again.graph);
  for (const bool condition : {true, false}) {
    const std::vector<Datum> inputs{Tensor::scalar(condition), floats({1, 2}), floats({4})};
    const std::vector<Datum> before = evaluate(*model.graph, inputs),
                             after = evaluate(*again.graph, inputs);
    ASSERT_EQ(before.size(), after.size());
    for (size_t i = 0; i < before.size(); ++i)
      EXPECT_EQ(before[i].tensor(), after[i].tensor());
  }
  EXPECT_EQ(again.graph->nodes().front()->scope, "encoder.layer1");
  EXPECT_EQ(again.graph->nodes().front()->name, "Mul_0");
  EXPECT_EQ(*again.graph->inputs()[2]->default_value, floats({3}));
}

// ONNX Runtime keeps this operator in ai.onnx and knows it under no other domain.
TEST(Save, WritesOperatorsWhereTheirRuntimeHasThem) {
  ModelBuilder builder(17, 8);
  GraphBuilder graph = builder.graph();
  graph.input("x", DType::kFloat, {{2, 4}});
  graph.input("s", DType::kFloat, {{4}});
  graph.output("y");
  graph.node("SimplifiedLayerNormalization", {"x", "s"}, {"y"});
  const Model model = builder.load();
  EXPECT_EQ(full_name(*model.graph->nodes().front()->op),
            "com.microsoft::SimplifiedLayerNormalization");
  const std::string bytes = model_bytes(model);
  EXPECT_EQ(bytes.find("com.microsoft"), std::string::npos);
  EXPECT_EQ(model_bytes(loaded(bytes)), bytes);
}

TEST(Save, TheSameModelGivesTheSameBytes) {
  const std::string first = model_bytes(rich_model().load());
  EXPECT_EQ(first, model_bytes(rich_model().load()));
  EXPECT_EQ(first, model_bytes(loaded(first)));
}

TEST(Save, OuterWeightsAreWrittenOnce) {
  ModelBuilder builder = rich_model();
  builder.proto.mutable_graph()->clear_initializer();
  std::vector<float> large(10000, 1);
  builder.graph().initializer("w", Tensor::of(large, {10000, 1}));
  builder.graph().initializer("d", floats({3}));
  EXPECT_LT(model_bytes(builder.load()).size(), 60000u);
}

// The output stays sparse; a node that reads the same initializer has a dense tensor.
TEST(Save, SparseInitializerThatIsAnOutput) {
  ModelBuilder built(17, 8);
  const SparseTensor sparse{Tensor::vector<float>({5, 7}), Tensor::vector<int64_t>({1, 4}), {2, 3}};
  *built.proto.mutable_graph()->add_sparse_initializer() = onnx_export::encode(sparse, "w");
  auto& output = *built.proto.mutable_graph()->add_output();
  output.set_name("w");
  output.mutable_type()->mutable_sparse_tensor_type()->set_elem_type(1);
  built.graph().node("Neg", {"w"}, {"z"});
  built.graph().output("z");
  Model model = built.load();
  for (int turn = 0; turn < 2; ++turn) {
    const auto& outputs = model.graph->outputs();
    ASSERT_EQ(outputs.size(), 2u);
    EXPECT_EQ(outputs[0]->name, "w");
    EXPECT_EQ(outputs[0]->type.kind, Type::Kind::kSparseTensor);
    const Node& negation = *outputs[1]->producer;
    ASSERT_TRUE(negation.inputs[0]->constant);
    EXPECT_EQ(negation.inputs[0]->constant->to_doubles(), (std::vector<double>{0, 5, 0, 0, 7, 0}));
    model = loaded(model_bytes(model));
  }
}

TEST(Save, FilesAreReplacedInOneStep) {
  TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "model.onnx";
  const Model model = rich_model().load();
  save_model(model, path);
  EXPECT_EQ(content(path), model_bytes(model));
  EXPECT_EQ(files_in(folder.path()), (std::vector<std::string>{"model.onnx"}));
  EXPECT_THROW(save_model(model, folder.path() / "missing" / "model.onnx"), Error);
}

TEST(Save, ExternalData) {
  TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "model.onnx";
  ModelBuilder builder = rich_model();
  builder.proto.mutable_graph()->clear_initializer();
  builder.graph().initializer("w", Tensor::of(std::vector<float>(1000, 2), {1000, 1}));
  builder.graph().initializer("d", floats({3}));
  const Model model = builder.load();
  SaveOptions options;
  options.external_data = ExternalDataOptions{};
  save_model(model, path, options);
  const std::vector<std::string> names = files_in(folder.path());
  ASSERT_EQ(names.size(), 2u);
  EXPECT_THAT(names[1], AllOf(HasSubstr("model.onnx."), HasSubstr(".data")));
  EXPECT_LT(content(path).size(), 2500u);
  const Model again = load_model(path);
  const std::vector<Datum> inputs{Tensor::scalar(true), floats({1}), floats({4})};
  EXPECT_EQ(evaluate(*model.graph, inputs)[0].tensor(), evaluate(*again.graph, inputs)[0].tensor());

  // Saved again onto itself, from its own mapping.
  const std::string before = content(path);
  save_model(again, path, options);
  EXPECT_EQ(content(path), before);
  EXPECT_EQ(files_in(folder.path()), names);
  // Other content takes another name, and the old one goes.
  builder.proto.mutable_graph()->clear_initializer();
  builder.graph().initializer("w", Tensor::of(std::vector<float>(1000, 3), {1000, 1}));
  builder.graph().initializer("d", floats({3}));
  save_model(builder.load(), path, options);
  EXPECT_EQ(files_in(folder.path()).size(), 2u);
  EXPECT_NE(files_in(folder.path()), names);
  options.external_data->file = "named.bin";
  save_model(model, path, options);
  EXPECT_THAT(files_in(folder.path()), ::testing::Contains("named.bin"));
  for (const char* bad : {"../x.bin", "a/b.bin", "..", "model.onnx"}) {
    options.external_data->file = bad;
    EXPECT_THROW(save_model(model, path, options), Error) << bad;
  }
}

// ---- older opsets ----

ModelBuilder reducing_model() {
  ModelBuilder model;
  GraphBuilder graph = model.graph();
  graph.input("x", DType::kFloat, {{2, 3}});
  graph.output("y");
  graph.initializer("axes", Tensor::vector<int64_t>({1}));
  graph.initializer("low", Tensor::scalar(0.5f));
  graph.node("ReduceSum", {"x", "axes"}, {"sum"});
  graph.node("Clip", {"sum", "low"}, {"clipped"});
  graph.node("Squeeze", {"clipped", "axes"}, {"squeezed"});
  graph.node("Unsqueeze", {"squeezed", "axes"}, {"unsqueezed"});
  graph.node("Softmax", {"unsqueezed"}, {"soft"}, {{"axis", int64_t{1}}});
  graph.node("Split", {"soft"}, {"y", "z"}, {{"num_outputs", int64_t{2}}});
  return model;
}

TEST(SaveInOlderOpsets, MeansTheSame) {
  const Model model = reducing_model().load();
  const std::vector<Datum> inputs{Tensor::of<float>({1, 2, 3, -4, -5, -6}, {2, 3})};
  const std::vector<Datum> expected = evaluate(*model.graph, inputs);
  for (int64_t opset = 7; opset <= kNewestOpset; ++opset) {
    SCOPED_TRACE(opset);
    const std::string bytes = model_bytes(model, {.opset = opset, .external_data = std::nullopt});
    const Model again = loaded(bytes);
    EXPECT_EQ(again.opsets.at(""), opset);
    EXPECT_EQ(evaluate(*again.graph, inputs)[0].tensor(), expected[0].tensor());
  }
}

TEST(SaveInOlderOpsets, NamesAllNodesThatHaveNoOlderForm) {
  ModelBuilder builder;
  GraphBuilder graph = builder.graph();
  graph.input("x", DType::kFloat, {{2, 3}});
  graph.input("axes", DType::kInt64, {{1}});
  graph.output("a");
  graph.node("Squeeze", {"x", "axes"}, {"a"});
  graph.node("Mod", {"x", "x"}, {"b"}, {{"fmod", int64_t{1}}});
  const Model model = builder.load();
  try {
    model_bytes(model, {.opset = 9, .external_data = std::nullopt});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("Squeeze_0"), HasSubstr("Mod_1"), HasSubstr("2 nodes")));
  }
  EXPECT_THROW(model_bytes(model, {.opset = 6, .external_data = std::nullopt}), Error);
  EXPECT_THROW(model_bytes(model, {.opset = 28, .external_data = std::nullopt}), Error);
}

}  // namespace
}  // namespace sardonyx
