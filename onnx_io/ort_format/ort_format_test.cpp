// Models in ONNX Runtime's own format: what is written computes the same when it is read.
#include <gmock/gmock.h>

#include "onnx_io/ort_format/flat_writer.h"
#include "onnx_io/ort_format/is_ort_model.h"
#include "onnx_io/ort_format/ort_schema.h"
#include "onnx_io/save.h"
#include "onnx_io/test_model.h"

namespace sardonyx {
namespace {

using namespace test;
using ::testing::HasSubstr;

std::string ort_bytes(const Model& model) {
  SaveOptions options;
  options.ort_format = true;
  return model_bytes(model, options);
}
Model read_back(const std::string& bytes) {
  return load_model(std::as_bytes(std::span(bytes)));
}
std::string error_of(const std::string& bytes) {
  try {
    read_back(bytes);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

void expect_the_same(const Model& model, const std::vector<Datum>& inputs) {
  const std::string bytes = ort_bytes(model);
  ASSERT_TRUE(ort_format::is_ort_model(std::as_bytes(std::span(bytes))));
  const Model again = read_back(bytes);
  verify(*again.graph);
  const std::vector<Datum> before = evaluate(*model.graph, inputs),
                           after = evaluate(*again.graph, inputs);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(before[i].tensor(), after[i].tensor());
}

// A branch takes values of the graph around it, and one of its own.
ModelBuilder branching_model() {
  ModelBuilder model(17, 8);
  GraphBuilder graph = model.graph();
  graph.input("condition", DType::kBool, {{}});
  graph.input("x", DType::kFloat, {{"n"}});
  graph.input("d", DType::kFloat, {{1}});
  graph.output("y");
  graph.initializer("w", floats({10}));
  graph.initializer("d", floats({3}));
  graph.node("Mul", {"x", "d"}, {"scaled"});
  NodeProto& choice = graph.node("If", {"condition"}, {"y"});
  GraphBuilder then_branch = add_subgraph(choice, "then_branch");
  then_branch.output("a");
  then_branch.node("Add", {"scaled", "w"}, {"a"});
  GraphBuilder else_branch = add_subgraph(choice, "else_branch");
  else_branch.output("b");
  else_branch.initializer("own", floats({7}));
  else_branch.node("Sub", {"scaled", "own"}, {"b"});
  return model;
}

TEST(OrtFormat, subgraphs_and_defaults_of_inputs_come_back) {
  const Model model = branching_model().load();
  for (const bool condition : {true, false})
    expect_the_same(model, {Tensor::scalar(condition), floats({1, 2}), floats({4})});
  const Model again = read_back(ort_bytes(model));
  EXPECT_EQ(*again.graph->inputs()[2]->default_value, floats({3}));
  EXPECT_EQ(*again.graph->inputs()[1]->type.shape, *model.graph->inputs()[1]->type.shape);
}

TEST(OrtFormat, attributes_of_all_kinds_come_back) {
  ModelBuilder model(17, 8);
  model.import("ai.onnx.ml", 2);
  GraphBuilder graph = model.graph();
  graph.input("x", DType::kFloat, {{1, 1, 4, 4}});
  graph.input("word", DType::kString, {{2}});
  graph.output("y");
  graph.output("number");
  graph.initializer("w", Tensor::of<float>({0.5F, 1, 2, -1}, {1, 1, 2, 2}));
  graph.node("Conv", {"x", "w"}, {"c"},
             {{"strides", std::vector<int64_t>{2, 2}}, {"auto_pad", std::string("VALID")}});
  graph.node("LeakyRelu", {"c"}, {"y"}, {{"alpha", 0.25F}});
  graph
      .node("LabelEncoder", {"word"}, {"number"},
            {{"keys_strings", std::vector<std::string>{"a", "b"}},
             {"values_floats", std::vector<float>{1.5F, 2.5F}}})
      .set_domain("ai.onnx.ml");
  expect_the_same(model.load(), {Tensor::of(std::vector<float>(16, -3), {1, 1, 4, 4}),
                                 Tensor::vector<std::string>({"b", "a"})});
}

TEST(OrtFormat, large_initializers_come_back) {
  ModelBuilder model(17, 8);
  GraphBuilder graph = model.graph();
  graph.input("x", DType::kFloat, {{5000}});
  graph.output("y");
  std::vector<float> values(5000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(i);
  graph.initializer("w", floats(values));
  graph.node("Add", {"x", "w"}, {"y"});
  expect_the_same(model.load(), {floats(values)});
}

TEST(OrtFormat, what_the_model_says_of_itself_comes_back) {
  ModelBuilder builder = branching_model();
  builder.proto.set_producer_name("a maker");
  builder.proto.set_model_version(7);
  builder.proto.set_doc_string("what it is");
  auto& entry = *builder.proto.add_metadata_props();
  entry.set_key("key");
  entry.set_value("value");
  const Model model = read_back(ort_bytes(builder.load()));
  EXPECT_EQ(model.producer_name, "a maker");
  EXPECT_EQ(model.model_version, 7);
  EXPECT_EQ(model.doc, "what it is");
  EXPECT_EQ(model.metadata.at("key"), "value");
}

TEST(OrtFormat, versions_that_are_not_known_are_refused) {
  std::string bytes = ort_bytes(branching_model().load());
  const size_t at =
      bytes.find(std::string("\x01\0\0\0"
                             "4",
                             5));
  ASSERT_NE(at, std::string::npos);
  bytes[at + 4] = '9';
  EXPECT_THAT(error_of(bytes), HasSubstr("ORT format model version [\"9\"]"));
}

TEST(OrtFormat, external_data_are_refused) {
  SaveOptions options;
  options.ort_format = true;
  options.place = [](const std::string&, const Tensor&) { return DataPlace{"w.bin", 0, 4}; };
  EXPECT_THROW(model_bytes(branching_model().load(), options), Error);
}

// Every prefix, and every byte changed: refused or read, and nothing beyond the end is.
TEST(OrtFormat, corrupt_files_are_read_within_their_bounds) {
  const std::string whole = ort_bytes(branching_model().load());
  const auto try_to_read = [](const std::string& bytes) {
    const std::vector<char> exact(bytes.begin(), bytes.end());  // its end is the block's
    try {
      load_model(std::as_bytes(std::span(exact)));
    } catch (const Error&) {
    }
  };
  for (size_t size = 0; size < whole.size(); size += 3)
    try_to_read(whole.substr(0, size));
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char change : {'\x01', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ change);
      try_to_read(changed);
    }
  }
}

// Every node of the list is the same one, and so is every attribute of it.
std::string bytes_of_shared_tables(size_t nodes, size_t attributes, size_t floats) {
  using namespace ort_format;
  FlatWriter file(kModelIdentifier);
  const auto session = FlatFields()
                           .offset(SessionField::kVersion)
                           .offset(SessionField::kModel)
                           .write(file, FlatWriter::root());
  file.text(session[SessionField::kVersion], "6");
  const auto model = FlatFields()
                         .number<int64_t>(ModelField::kIrVersion, 8)
                         .offset(ModelField::kGraph)
                         .write(file, session[SessionField::kModel]);
  const auto graph = FlatFields().offset(GraphField::kNodes).write(file, model[ModelField::kGraph]);
  const std::vector<size_t> places = file.offsets(graph[GraphField::kNodes], nodes);
  const auto node = FlatFields().offset(NodeField::kAttributes).write(file, places[0]);
  for (const size_t place : places)
    file.refer(place, node[NodeField::kAttributes] - 4);
  const std::vector<size_t> inner = file.offsets(node[NodeField::kAttributes], attributes);
  const auto attribute = FlatFields()
                             .number<int32_t>(AttributeField::kType, 6)
                             .offset(AttributeField::kFloats)
                             .write(file, inner[0]);
  const size_t table = attribute[AttributeField::kType] - 4;
  for (const size_t place : inner)
    file.refer(place, table);
  file.numbers(attribute[AttributeField::kFloats], std::vector<float>(floats));
  const std::vector<std::byte> bytes = file.take();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(OrtFormat, lists_that_many_tables_share_are_bounded) {
  EXPECT_THAT(error_of(bytes_of_shared_tables(1000, 900, 4096)),
              HasSubstr("the tables of the file are too large"));
  EXPECT_THAT(error_of(bytes_of_shared_tables(2000, 2000, 0)),
              HasSubstr("the tables of the file are too many"));
}

}  // namespace
}  // namespace sardonyx
