// Names, order, captures, versions and limits of models.
#include "onnx_io/load.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "onnx_io/dim_names.h"
#include "onnx_io/export/encode_type.h"
#include "onnx_io/save.h"
#include "onnx_io/test_model.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx {
namespace {

using namespace test;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// x -> Relu -> y
ModelBuilder relu_model(int64_t opset = kNewestOpset, int64_t ir_version = kNewestIrVersion) {
  ModelBuilder model(opset, ir_version);
  model.graph().input("x", DType::kFloat, {{"n"}});
  model.graph().output("y");
  model.graph().node("Relu", {"x"}, {"y"});
  return model;
}

TEST(Load, KeepsWhatTheFileSaysOfItself) {
  ModelBuilder builder = relu_model(13, 8);
  builder.proto.set_producer_name("maker");
  builder.proto.set_producer_version("1.2");
  builder.proto.set_domain("org.example");
  builder.proto.set_model_version(3);
  builder.proto.set_doc_string("doc");
  auto& entry = *builder.proto.add_metadata_props();
  entry.set_key("k");
  entry.set_value(std::string("a\0b", 3));
  const Model model = builder.load();
  EXPECT_EQ(model.ir_version, 8);
  EXPECT_EQ(model.opsets, (std::map<std::string, int64_t>{{"", 13}}));
  EXPECT_EQ(model.producer_name + model.producer_version + model.domain + model.doc,
            "maker1.2org.exampledoc");
  EXPECT_EQ(model.model_version, 3);
  EXPECT_EQ(model.metadata.at("k"), std::string("a\0b", 3));
  EXPECT_EQ(model.graph->inputs()[0]->type.text(), "float[n]");
  EXPECT_EQ(model.graph->outputs()[0]->type.text(), "float[n]");
  EXPECT_EQ(model.graph->outputs()[0]->name, "y");
}

TEST(Load, SortsNodes) {
  ModelBuilder model;
  GraphBuilder graph = model.graph();
  graph.input("x");
  graph.output("c");
  graph.node("Neg", {"b"}, {"c"});
  graph.node("Abs", {"a"}, {"b"});
  graph.node("Neg", {"x"}, {"a"});
  EXPECT_EQ(run(model, {floats({2})})[0].tensor(), floats({-2}));
}

TEST(Load, RefusesCyclesAndRepeatedNames) {
  ModelBuilder cycle = relu_model();
  cycle.graph().node("Abs", {"b"}, {"a"});
  cycle.graph().node("Neg", {"a"}, {"b"});
  EXPECT_THAT(load_error(cycle), AllOf(HasSubstr("cycle"), HasSubstr("Abs_1"), HasSubstr("Neg_2")));
  ModelBuilder twice = relu_model();
  twice.graph().node("Abs", {"x"}, {"y"});
  EXPECT_THAT(load_error(twice), AllOf(HasSubstr("\"y\""), HasSubstr("twice")));
  ModelBuilder input = relu_model();
  input.graph().input("x");
  EXPECT_THAT(load_error(input), AllOf(HasSubstr("\"x\""), HasSubstr("already")));
  ModelBuilder overwritten = relu_model();
  overwritten.graph().initializer("y", floats({1}));
  EXPECT_THAT(load_error(overwritten), AllOf(HasSubstr("\"y\""), HasSubstr("already")));
}

TEST(Load, RefusesUnknownNames) {
  ModelBuilder model = relu_model();
  model.graph().output("phantom");
  EXPECT_THAT(load_error(model), HasSubstr("phantom"));
  ModelBuilder missing = relu_model();
  missing.graph().node("Neg", {"nothing"}, {"z"});
  EXPECT_THAT(load_error(missing), AllOf(HasSubstr("nothing"), HasSubstr("Neg_1")));
}

TEST(Load, RefusesWhatLacksItsParts) {
  ModelBuilder nameless = relu_model();
  nameless.graph().node("", {"x"}, {"z"});
  EXPECT_THAT(load_error(nameless), HasSubstr("op_type"));
  ModelBuilder sparse = relu_model();
  sparse.proto.mutable_graph()->add_sparse_initializer()->mutable_values()->set_name("w");
  sparse.graph().node("Neg", {"w"}, {"z"});
  EXPECT_THAT(load_error(sparse), HasSubstr("lacks its values or its indices"));
}

TEST(Load, RefusesContradictingTypes) {
  ModelBuilder output = relu_model();
  set_type(*output.proto.mutable_graph()->mutable_output(0), DType::kInt64, std::nullopt);
  EXPECT_THAT(load_error(output), AllOf(HasSubstr("y"), HasSubstr("int64"), HasSubstr("float")));
  ModelBuilder rank = relu_model();
  set_type(*rank.proto.mutable_graph()->mutable_output(0), DType::kFloat, {{"n", 2}});
  LoadOptions strict;
  strict.strict = true;
  EXPECT_THAT(load_error(rank, strict), HasSubstr("rank"));
}

TEST(Load, ReadsDims) {
  ModelBuilder builder;
  GraphBuilder graph = builder.graph();
  graph.input("x", DType::kFloat, {{"batch", "2*h + 1", "None", "None", -1, 4}});
  const Model model = builder.load();
  const Dims& dims = *model.graph->inputs()[0]->type.shape;
  EXPECT_EQ(dims[0], Dim::symbol("batch"));
  EXPECT_EQ(dims[1], Dim(2) * Dim::symbol("h") + Dim(1));
  EXPECT_FALSE(dims[2] == dims[3]);
  EXPECT_FALSE(dims[4].is_known());
  EXPECT_EQ(dims[5], Dim(4));
}

// Exporters write "None" for sizes that may differ; who asks is told what the file says.
TEST(Load, KeepsTheNameOfDimsThatAreNotTheSame) {
  ModelBuilder builder;
  builder.graph().input("x", DType::kFloat, {{"None", "None", -1}});
  const Model model = builder.load();
  const Dims& dims = *model.graph->inputs()[0]->type.shape;
  EXPECT_EQ(name_in_file(dims[0].text()), "None");
  EXPECT_EQ(name_in_file(dims[2].text()), "");
  const onnx_schema::TypeProto written = onnx_export::encode(model.graph->inputs()[0]->type);
  const auto& shape = written.tensor_type().shape();
  EXPECT_EQ(shape.dim(0).dim_param(), "None");
  EXPECT_EQ(shape.dim(1).dim_param(), "None");
  EXPECT_EQ(shape.dim(2).dim_param(), "");
}

// A declaration without a size must not part dims that inference knows to be one.
TEST(Load, DimsThatTheFileLeavesOpenStayEqual) {
  ModelBuilder builder;
  GraphBuilder graph = builder.graph();
  graph.input("x", DType::kFloat, {{"n"}});
  graph.node("NonZero", {"x"}, {"places"});
  graph.node("Neg", {"places"}, {"negated"});
  set_type(*builder.proto.mutable_graph()->add_value_info(), DType::kInt64, {{1, -1}});
  builder.proto.mutable_graph()->mutable_value_info(0)->set_name("negated");
  graph.output("negated");
  const Model model = builder.load();
  const Value& negated = *model.graph->outputs()[0];
  EXPECT_EQ(negated.type, negated.producer->inputs[0]->type);
}

// As in folders that keep one copy of a file that several versions of a model have.
TEST(Load, FollowsLinksToTheFolderOfTheModelItself) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  const fs::path blobs = folder.path() / "blobs", version = folder.path() / "snapshots/1";
  fs::create_directories(blobs / "data");
  fs::create_directories(folder.path() / "elsewhere");
  fs::create_directories(version);
  ModelBuilder builder = relu_model();
  GraphBuilder graph = builder.graph();
  graph.node("Add", {"y", "w"}, {"z"});
  graph.output("z");
  auto& tensor = *builder.proto.mutable_graph()->add_initializer();
  tensor.set_name("w");
  tensor.add_dims(2);
  tensor.set_data_type(onnx_schema::TensorProto::FLOAT);
  tensor.set_data_location(onnx_schema::TensorProto::EXTERNAL);
  auto& entry = *tensor.add_external_data();
  entry.set_key("location");
  entry.set_value("w.bin");
  std::ofstream(blobs / "model") << builder.bytes();
  fs::create_symlink("../../blobs/model", version / "model.onnx");
  const std::string weights("\0\0\x80\x3f\0\0\0\x40", 8);  // 1, 2
  const auto load_with = [&](const fs::path& data) {
    std::ofstream(folder.path() / data) << weights;
    fs::remove(version / "w.bin");
    fs::create_symlink(fs::path("../..") / data, version / "w.bin");
    return load_model(version / "model.onnx");
  };
  for (const char* data : {"blobs/w", "blobs/data/w"}) {
    const Model model = load_with(data);
    EXPECT_EQ(evaluate(*model.graph, std::vector<Datum>{floats({1, 1})})[1].tensor(),
              floats({2, 3}));
  }
  EXPECT_THROW(load_with("elsewhere/w"), Error);
  EXPECT_THROW(load_with("w"), Error);
}

TEST(Load, ReadsNamesOfDims) {
  ModelBuilder builder;
  const std::vector<DimSpec> written{"?0", "?0", "?", "?", "n*?0 + 1", "-3", "7", "2 apples", -1};
  builder.graph().input("x", DType::kFloat, written);
  const Model model = builder.load();
  const Dims& dims = *model.graph->inputs()[0]->type.shape;
  EXPECT_EQ(dims[0], dims[1]);
  // What is written like a symbol that inference invents is none of those.
  std::set<std::string> unknown;
  for (const size_t i : {0, 2, 3, 4, 5, 6, 8}) {
    EXPECT_FALSE(dims[i].is_known());
    unknown.insert(dims[i].text());
  }
  EXPECT_EQ(unknown.size(), 7u);
  EXPECT_EQ(dims[7], Dim::symbol("2 apples"));
}

TEST(Load, ReadsAndWritesEveryKindOfType) {
  const Type floats = Type::tensor(DType::kFloat, Dims{2, Dim::symbol("n")});
  Type sparse = Type::tensor(DType::kDouble, Dims{3}), sparse_of_any = Type::tensor(DType::kInt8);
  sparse.kind = sparse_of_any.kind = Type::Kind::kSparseTensor;
  for (const Type& type :
       {floats, Type::tensor(DType::kString), sparse, sparse_of_any, Type::sequence(floats),
        Type::optional(floats), Type::optional(Type::sequence(floats)),
        Type::map(DType::kInt64, Type::tensor(DType::kFloat)),
        Type::sequence(Type::map(DType::kString, Type::tensor(DType::kFloat)))}) {
    SCOPED_TRACE(type.text());
    ModelBuilder builder = relu_model();
    auto& input = *builder.proto.mutable_graph()->add_input();
    input.set_name("other");
    *input.mutable_type() = onnx_export::encode(type);
    const Model model = builder.load();
    EXPECT_EQ(model.graph->inputs()[1]->type.text(), type.text());
    const std::string bytes = model_bytes(model);
    const Model again = load_model(std::as_bytes(std::span(bytes)));
    EXPECT_EQ(again.graph->inputs()[1]->type.text(), type.text());
  }
}

TEST(Load, DefaultsOfInputs) {
  ModelBuilder model(13, 4);
  GraphBuilder graph = model.graph();
  graph.input("x");
  graph.input("w", DType::kFloat, {{1}});
  graph.output("y");
  graph.node("Add", {"x", "w"}, {"y"});
  graph.initializer("w", floats({5}));
  const Model loaded = model.load();
  ASSERT_EQ(loaded.graph->inputs().size(), 2u);
  EXPECT_EQ(*loaded.graph->inputs()[1]->default_value, floats({5}));
  model.proto.set_ir_version(3);
  const Model old = model.load();
  EXPECT_EQ(old.graph->inputs().size(), 1u);
  EXPECT_EQ(evaluate(*old.graph, std::vector<Datum>{floats({1})})[0].tensor(), floats({6}));
}

TEST(Load, SubgraphsSeeOuterValues) {
  ModelBuilder model;
  GraphBuilder graph = model.graph();
  graph.input("condition", DType::kBool, {{}});
  graph.input("x", DType::kFloat, {{1}});
  graph.output("y");
  graph.initializer("ten", floats({10}));
  graph.node("Neg", {"x"}, {"negative"});
  NodeProto& choice = graph.node("If", {"condition"}, {"y"});
  GraphBuilder then_branch = add_subgraph(choice, "then_branch");
  then_branch.output("a");
  then_branch.node("Add", {"x", "ten"}, {"a"});
  GraphBuilder else_branch = add_subgraph(choice, "else_branch");
  else_branch.output("b");
  NodeProto& inner = else_branch.node("If", {"condition"}, {"b"});
  GraphBuilder never = add_subgraph(inner, "then_branch");
  never.output("c");
  never.node("Identity", {"x"}, {"c"});
  GraphBuilder nested = add_subgraph(inner, "else_branch");
  nested.output("d");
  nested.node("Identity", {"negative"}, {"d"});
  EXPECT_EQ(run(model, {Tensor::scalar(true), floats({1})})[0].tensor(), floats({11}));
  EXPECT_EQ(run(model, {Tensor::scalar(false), floats({1})})[0].tensor(), floats({-1}));
}

// The place of the condition counts as an input, though it is empty and nothing follows.
TEST(Load, ALoopMayEndWithItsCount) {
  ModelBuilder model;
  model.graph().input("x", DType::kFloat, {{2}});
  model.graph().initializer("n", Tensor::scalar<int64_t>(2));
  GraphBuilder body = add_subgraph(model.graph().node("Loop", {"n", ""}, {"y"}), "body");
  body.input("i", DType::kInt64, std::vector<DimSpec>{});
  body.input("goes_on", DType::kBool, std::vector<DimSpec>{});
  body.node("Identity", {"goes_on"}, {"goes_on_out"});
  body.node("Neg", {"x"}, {"row"});
  body.output("goes_on_out");
  body.output("row");
  model.graph().output("y");
  EXPECT_EQ(run(model, {floats({1, 2})})[0].tensor(), Tensor::of<float>({-1, -2, -1, -2}, {2, 2}));
}

TEST(Load, SubgraphsMayNotShadow) {
  ModelBuilder model;
  GraphBuilder graph = model.graph();
  graph.input("condition", DType::kBool, {{}});
  graph.input("x", DType::kFloat, {{1}});
  graph.output("y");
  NodeProto& choice = graph.node("If", {"condition"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    GraphBuilder branch = add_subgraph(choice, name);
    branch.output("x");
    branch.node("Neg", {"condition"}, {"x"});
  }
  EXPECT_THAT(load_error(model),
              AllOf(HasSubstr("\"x\""), HasSubstr("shadows"), HasSubstr("If_0")));
}

// ---- versions ----

TEST(LoadVersions, AreChecked) {
  EXPECT_THAT(load_error(relu_model(1, 1)), IsEmpty());
  EXPECT_THAT(load_error(relu_model(kNewestOpset + 1)), HasSubstr("opset"));
  EXPECT_THAT(load_error(relu_model(13, kNewestIrVersion + 1)), HasSubstr("ir_version"));
  ModelBuilder unversioned = relu_model(1, 2);
  unversioned.proto.clear_opset_import();
  EXPECT_THAT(load_error(unversioned), IsEmpty());
  unversioned.proto.set_ir_version(3);
  EXPECT_THAT(load_error(unversioned), HasSubstr("opset_import"));
  ModelBuilder twice = relu_model();
  twice.import("ai.onnx", 3);
  EXPECT_THAT(load_error(twice), HasSubstr("twice"));
}

TEST(LoadVersions, OperatorsMustBeOfTheOpset) {
  ModelBuilder early = relu_model(13);
  early.graph().node("Trilu", {"x"}, {"t"});
  EXPECT_THAT(load_error(early), AllOf(HasSubstr("Trilu"), HasSubstr("14")));
  ModelBuilder late = relu_model(13);
  late.graph().node("Upsample", {"x"}, {"t"});
  EXPECT_THAT(load_error(late), AllOf(HasSubstr("Upsample"), HasSubstr("removed")));
  ModelBuilder unknown = relu_model();
  unknown.graph().node("Reluu", {"x"}, {"t"});
  EXPECT_THAT(load_error(unknown), HasSubstr("Reluu"));
  ModelBuilder foreign = relu_model();
  foreign.graph().node("Scalar", {"x"}, {"t"}).set_domain("ai.onnx.ml");
  EXPECT_THAT(load_error(foreign), HasSubstr("ai.onnx.ml"));
}

// What an old form of an operator must have is not there, or does not fit.
TEST(LoadVersions, OldFormsAreCheckedAsWell) {
  const auto error = [](int64_t opset, const char* op, const Names& inputs, const AttrMap& attrs) {
    ModelBuilder model(opset, 3);
    model.graph().input("x", DType::kFloat, {{2, 4, 3}});
    model.graph().input("v", DType::kFloat, {{4}});
    model.graph().output("y");
    model.graph().node(op, inputs, {"y"}, attrs);
    return load_error(model);
  };
  EXPECT_THAT(error(2, "Pad", {"x"}, {}), AllOf(HasSubstr("Pad"), HasSubstr("pads")));
  const AttrMap broadcast{{"broadcast", int64_t{1}}, {"axis", int64_t{3}}};
  EXPECT_THAT(error(6, "Add", {"x", "v"}, broadcast), AllOf(HasSubstr("axis"), HasSubstr("3")));
  const AttrMap groups{{"num_groups", int64_t{0}}};
  EXPECT_THAT(error(18, "GroupNormalization", {"x", "v", "v"}, groups),
              AllOf(HasSubstr("num_groups"), HasSubstr("positive")));
  const AttrMap two{{"num_groups", int64_t{2}}};
  EXPECT_THAT(error(18, "GroupNormalization", {"x", "v"}, two), HasSubstr("takes 3"));
  EXPECT_THAT(error(9, "Upsample", {"x"}, {}), HasSubstr("scales"));
}

// ---- attributes ----

TEST(LoadAttributes, AreChecked) {
  ModelBuilder twice = relu_model();
  NodeProto& concat = twice.graph().node("Concat", {"x", "x"}, {"c"}, {{"axis", int64_t{0}}});
  set_attributes(concat, {{"axis", int64_t{1}}});
  EXPECT_THAT(load_error(twice), AllOf(HasSubstr("axis"), HasSubstr("twice")));
  ModelBuilder unknown = relu_model();
  set_attributes(*unknown.proto.mutable_graph()->mutable_node(0), {{"slope", 1.0f}});
  EXPECT_THAT(load_error(unknown), HasSubstr("slope"));
  ModelBuilder two = relu_model();
  two.graph().node("Constant", {}, {"c"}, {{"value_int", int64_t{1}}, {"value_float", 1.0f}});
  EXPECT_THAT(load_error(two), HasSubstr("exactly one"));
}

TEST(LoadAttributes, MayLeaveOutTheirKind) {
  ModelBuilder model = relu_model(13, 3);
  NodeProto& concat = model.graph().node("Concat", {"x", "x"}, {"c"});
  auto& axis = *concat.add_attribute();
  axis.set_name("axis");
  axis.set_i(0);
  EXPECT_THAT(load_error(model), IsEmpty());
}

// A call of a function may give attributes of any kind, those that no operator has among them; what
// they hold is read and checked.
TEST(LoadAttributes, OfEveryKind) {
  using onnx_schema::AttributeProto;
  const auto one = onnx_export::encode(floats({1}), "");
  const auto type = onnx_export::encode(Type::tensor(DType::kFloat));
  onnx_schema::SparseTensorProto sparse;
  *sparse.mutable_values() = one;
  *sparse.mutable_indices() = onnx_export::encode(Tensor::vector<int64_t>({3}), "");
  sparse.add_dims(5);
  onnx_schema::GraphProto graph;
  GraphBuilder{graph}.initializer("r", floats({1}));
  GraphBuilder{graph}.output("r");
  // Fills an attribute; the second one with what is no value of its kind.
  struct Kind {
    AttributeProto::AttributeType kind;
    std::function<void(AttributeProto&)> good, bad;
  };
  const std::vector<Kind> kinds{
      {AttributeProto::FLOAT, [](auto& a) { a.set_f(1); }, {}},
      {AttributeProto::INT, [](auto& a) { a.set_i(1); }, {}},
      {AttributeProto::STRING, [](auto& a) { a.set_s("s"); }, {}},
      {AttributeProto::TENSOR, [&](auto& a) { *a.mutable_t() = one; },
       [](auto& a) { a.mutable_t()->set_data_type(99); }},
      {AttributeProto::SPARSE_TENSOR, [&](auto& a) { *a.mutable_sparse_tensor() = sparse; },
       [](auto& a) { a.mutable_sparse_tensor(); }},
      {AttributeProto::TYPE_PROTO, [&](auto& a) { *a.mutable_tp() = type; },
       [](auto& a) { a.mutable_tp(); }},
      {AttributeProto::FLOATS, [](auto& a) { a.add_floats(1); }, {}},
      {AttributeProto::INTS, [](auto& a) { a.add_ints(1); }, {}},
      {AttributeProto::STRINGS, [](auto& a) { a.add_strings("s"); }, {}},
      {AttributeProto::TENSORS, [&](auto& a) { *a.add_tensors() = one; },
       [](auto& a) { a.add_tensors()->set_data_type(99); }},
      {AttributeProto::SPARSE_TENSORS, [&](auto& a) { *a.add_sparse_tensors() = sparse; },
       [](auto& a) { a.add_sparse_tensors(); }},
      {AttributeProto::TYPE_PROTOS, [&](auto& a) { *a.add_type_protos() = type; },
       [](auto& a) { a.add_type_protos(); }},
      {AttributeProto::GRAPH, [&](auto& a) { *a.mutable_g() = graph; }, {}},
      {AttributeProto::GRAPHS, [&](auto& a) { *a.add_graphs() = graph; }, {}},
  };
  const auto error_with = [](const std::function<void(AttributeProto&)>& fill) {
    ModelBuilder model = function_model();
    auto& function = add_function(model, "F", {"a"}, {"b"});
    function.add_attribute("given");
    add_node(*function.mutable_node(), "Neg", {"a"}, {"b"});
    call(model.graph(), "F", {"x"}, {"y"});
    auto& attribute = *model.proto.mutable_graph()->mutable_node(0)->add_attribute();
    attribute.set_name("given");
    fill(attribute);
    return load_error(model);
  };
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(AttributeProto::AttributeType_Name(kind.kind));
    EXPECT_EQ(error_with(kind.good), "");
    const auto with_kind = [&](const auto& fill) {
      return [&](AttributeProto& attribute) {
        attribute.set_type(kind.kind);
        fill(attribute);
      };
    };
    EXPECT_EQ(error_with(with_kind(kind.good)), "");
    if (kind.bad) {
      EXPECT_THAT(error_with(with_kind(kind.bad)), HasSubstr("attribute \"given\""));
    }
    // Two values, and one that is not of the kind it says.
    const auto with_another = [&](AttributeProto& attribute) {
      kind.good(attribute);
      kind.kind == AttributeProto::INT ? attribute.set_f(1) : attribute.set_i(1);
    };
    EXPECT_THAT(error_with(with_another), HasSubstr("holds values of 2 kinds"));
    const auto as_another = [&](AttributeProto& attribute) {
      kind.good(attribute);
      attribute.set_type(kind.kind == AttributeProto::INT ? AttributeProto::FLOAT
                                                          : AttributeProto::INT);
    };
    EXPECT_THAT(error_with(as_another), HasSubstr("its type does not fit the value"));
  }
}

// ---- bytes ----

TEST(LoadBytes, ThatAreNoModelAreRefused) {
  const auto error_of = [](std::string_view bytes) -> std::string {
    try {
      load_model(std::as_bytes(std::span(bytes)));
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(error_of(""), HasSubstr("graph"));
  EXPECT_THAT(error_of("<html>"), HasSubstr("HTML"));
  EXPECT_THAT(error_of("PK\x03\x04rest"), HasSubstr("zip"));
  const std::string good = relu_model().bytes();
  EXPECT_THAT(error_of(std::string_view(good).substr(0, good.size() - 1)), HasSubstr("protobuf"));
  LoadOptions small;
  small.limits.file_bytes = 10;
  EXPECT_THAT(load_error(relu_model(), small), HasSubstr("limit"));
  LoadOptions shallow;
  shallow.limits.nesting = 2;
  EXPECT_THAT(load_error(relu_model(), shallow), HasSubstr("nested"));
}

TEST(LoadBytes, NamesThatAreNotUtf8StayApart) {
  ModelBuilder model;
  model.graph().input("b\xff\xc3\xa4", DType::kFloat, {{1}});
  model.graph().input("b\xfe\xc3\xa4", DType::kFloat, {{1}});
  model.graph().node("Sub", {"b\xff\xc3\xa4", "b\xfe\xc3\xa4"}, {"d\xff"});
  model.graph().output("d\xff");
  const Model loaded = model.load();
  EXPECT_EQ(loaded.graph->inputs()[0]->name, "b\\xff\xc3\xa4");
  EXPECT_EQ(loaded.graph->outputs()[0]->name, "d\\xff");
  EXPECT_EQ(run(model, {floats({3}), floats({1})})[0].tensor(), floats({2}));
  model.graph().input("b\\xff\xc3\xa4");
  EXPECT_THAT(load_error(model), HasSubstr("stands for another one"));
}

TEST(Load, FilesThatCannotBeRead) {
  EXPECT_THROW(load_model("/nonexistent/model.onnx"), Error);
  TemporaryFolder folder;
  try {
    load_model(folder.path());
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("directory"));
  }
}

}  // namespace
}  // namespace sardonyx
