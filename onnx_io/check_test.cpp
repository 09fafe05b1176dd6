#include "onnx_io/check.h"

#include <gmock/gmock.h>

#include "onnx_io/test_model.h"

namespace sardonyx {
namespace {

using namespace test;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<Problem> problems_of(const ModelBuilder& model) {
  const std::string bytes = model.bytes();
  return check_model(std::as_bytes(std::span(bytes)));
}

ModelBuilder good_model() {
  ModelBuilder model;
  model.graph().input("x", DType::kFloat, {{"n"}});
  model.graph().output("y");
  model.graph().node("Relu", {"x"}, {"y"});
  return model;
}

TEST(Check, AGoodModelHasNone) {
  EXPECT_THAT(problems_of(good_model()), IsEmpty());
}

TEST(Check, FindsAllIndependentFaults) {
  ModelBuilder model = good_model();
  GraphBuilder graph = model.graph();
  graph.initializer("w", Tensor::vector<float>({1}));
  model.proto.mutable_graph()->mutable_initializer(0)->clear_raw_data();
  graph.node("Reluu", {"x"}, {"a"});
  graph.node("Neg", {"missing"}, {"b"});
  graph.node("Add", {"b", "x"}, {"c"});  // follows from the fault before
  graph.node("Concat", {"x", "x"}, {"d"});
  graph.node("Neg", {"w"}, {"e"});  // asks for what can't be read
  graph.output("phantom");
  const std::vector<Problem> problems = problems_of(model);
  ASSERT_EQ(problems.size(), 5u);
  EXPECT_THAT(problems[0].message, HasSubstr("\"w\""));
  EXPECT_EQ(problems[1].node, "Reluu_1");
  EXPECT_EQ(problems[2].node, "Neg_2");
  EXPECT_THAT(problems[2].message, HasSubstr("missing"));
  EXPECT_THAT(problems[3].message, AllOf(HasSubstr("Concat_4"), HasSubstr("axis")));
  EXPECT_THAT(problems[4].message, HasSubstr("phantom"));
}

TEST(Check, LooksIntoSubgraphs) {
  ModelBuilder model = good_model();
  GraphBuilder graph = model.graph();
  graph.input("condition", DType::kBool, {{}});
  NodeProto& choice = graph.node("If", {"condition"}, {"z"});
  for (const char* name : {"then_branch", "else_branch"}) {
    GraphBuilder branch = add_subgraph(choice, name);
    branch.output(std::string(name) + "_out");
    branch.node(std::string("Unknown_") + name, {"x"}, {std::string(name) + "_out"});
  }
  const std::vector<Problem> problems = problems_of(model);
  ASSERT_GE(problems.size(), 2u);
  EXPECT_THAT(problems[1].message, HasSubstr("Unknown_else_branch"));
  EXPECT_THAT(problems[0].message, HasSubstr("Unknown_then_branch"));
}

TEST(Check, SaysWhatIsNoModel) {
  const std::vector<Problem> problems =
      check_model(std::as_bytes(std::span(std::string_view("{}"))));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_THAT(problems[0].message, HasSubstr("JSON"));
  EXPECT_EQ(check_model(std::filesystem::path("/nonexistent")).size(), 1u);
}

}  // namespace
}  // namespace sardonyx
