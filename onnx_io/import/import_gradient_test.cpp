// The operator Gradient in files.
#include <gtest/gtest.h>

#include "onnx_io/test_model.h"

namespace sardonyx {
namespace {

using namespace test;

constexpr const char* kDomain = "ai.onnx.preview.training";

// y = (x * w)^2 with a node Gradient of y.
ModelBuilder model_with(const Names& inputs, const Names& outputs, const AttrMap& attrs) {
  ModelBuilder model;
  model.import(kDomain, 1);
  GraphBuilder graph = model.graph();
  for (const char* name : {"x", "w", "u"})
    graph.input(name, DType::kFloat, std::vector<DimSpec>{"n"});
  for (const std::string& output : outputs)
    graph.output(output);
  graph.node("Mul", {"x", "w"}, {"p"});
  graph.node("Mul", {"p", "p"}, {"y"});
  graph.node("Gradient", inputs, outputs, attrs).set_domain(kDomain);
  return model;
}

std::vector<float> values_of(const Datum& datum) {
  const std::span<const float> values = datum.tensor().values<float>();
  return {values.begin(), values.end()};
}

std::vector<Datum> run(const ModelBuilder& model) {
  const auto vector = [](std::vector<float> values) { return Datum(Tensor::vector(values)); };
  const std::vector<Datum> inputs{vector({1, 2}), vector({3, -1}), vector({5, 7})};
  return evaluate(*model.load().graph, inputs);
}

TEST(GradientOperator, TakesTheGraphsOwnValues) {
  const ModelBuilder model =
      model_with({"x", "w"}, {"dx", "dw"}, {{"xs", Names{"x", "w"}}, {"y", std::string("y")}});
  const auto found = run(model);
  EXPECT_EQ(values_of(found[0]), (std::vector<float>{18, 4}));
  EXPECT_EQ(values_of(found[1]), (std::vector<float>{6, -8}));
}

TEST(GradientOperator, PutsOtherValuesInTheirPlace) {
  const ModelBuilder model = model_with(
      {"u", "w"}, {"dx"}, {{"xs", Names{"x"}}, {"zs", Names{"w"}}, {"y", std::string("y")}});
  EXPECT_EQ(values_of(run(model)[0]), (std::vector<float>{90, 14}));
}

TEST(GradientOperator, IsZeroWhereNothingDepends) {
  const ModelBuilder model =
      model_with({"u"}, {"du"}, {{"xs", Names{"u"}}, {"y", std::string("y")}});
  EXPECT_EQ(values_of(run(model)[0]), (std::vector<float>{0, 0}));
}

TEST(GradientOperator, RefusesWhatItCannotName) {
  EXPECT_NE(load_error(model_with({"x"}, {"dx"}, {{"xs", Names{"q"}}, {"y", std::string("y")}}))
                .find("\"q\" is no value of the graph"),
            std::string::npos);
  EXPECT_NE(load_error(model_with({"x"}, {"dx"}, {{"xs", Names{"x"}}})).find("attribute y"),
            std::string::npos);
  EXPECT_NE(
      load_error(model_with({"x"}, {"dx"}, {{"xs", Names{"x", "w"}}, {"y", std::string("y")}}))
          .find("expected an input for each"),
      std::string::npos);
}

}  // namespace
}  // namespace sardonyx
