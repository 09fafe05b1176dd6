#include "onnx_io/model_addition.h"

#include <gtest/gtest.h>

#include "ir/reference_evaluator.h"
#include "tests/support/expect_error.h"

namespace sardonyx {
namespace {

Type float_type(Dims dims) {
  return Type::tensor(DType::kFloat, std::move(dims));
}

Model loaded_with(const std::string& bytes, const ModelAddition& addition) {
  LoadOptions options;
  options.initializers = addition.initializers;
  return load_model(std::as_bytes(std::span(bytes)), options);
}

// y = x + w
ModelAddition adding() {
  return {.opsets = {{"", 18}},
          .nodes = {{"Add", "", "the sum", {"x", "w"}, {"y"}}},
          .initializers = {{"w", Tensor::vector<float>({10, 20})}},
          .inputs = {{"x", float_type({Dim::symbol("n"), 2})}},
          .outputs = {{"y", Type::none()}}};
}

TEST(ModelAddition, makes_a_model_of_nothing) {
  const ModelAddition addition = adding();
  const Model model = loaded_with(with_addition({}, addition), addition);
  EXPECT_EQ(model.graph->inputs()[0]->type.text(), "float[n, 2]");
  const Datum x[] = {Datum(Tensor::of<float>({1, 2}, {1, 2}))};
  EXPECT_EQ(evaluate(*model.graph, x)[0].tensor(), Tensor::of<float>({11, 22}, {1, 2}));
}

TEST(ModelAddition, goes_on_from_a_model_and_may_come_before_it) {
  const ModelAddition first = adding();
  const std::string bytes = with_addition({}, first);
  const ModelAddition more{
      .opsets = {{"ai.onnx", 20}, {"com.microsoft", 1}},
      .nodes = {{"LeakyRelu", "ai.onnx", "behind", {"y"}, {"z"}, {{"alpha", 0.5f}}},
                {"Neg", "", "before", {"v"}, {"x"}}},
      .inputs = {{"v", float_type({1, 2})}},
      .outputs = {{"z", float_type({1, 2})}, {"y", Type::none()}}};
  const Model model = loaded_with(with_addition(std::as_bytes(std::span(bytes)), more), first);
  EXPECT_EQ(model.opsets.at(""), 20);
  const Datum v[] = {Datum(Tensor::of<float>({11, 2}, {1, 2}))};
  const std::vector<Datum> got = evaluate(*model.graph, v);
  EXPECT_EQ(got[0].tensor(), Tensor::of<float>({-0.5f, 18}, {1, 2}));
  EXPECT_EQ(got[1].tensor(), Tensor::of<float>({-1, 18}, {1, 2}));
}

TEST(ModelAddition, keeps_attributes_of_all_kinds) {
  ModelAddition addition = adding();
  const Tensor table = Tensor::vector<float>({1, 2, 3});
  addition.nodes = {{"Constant", "", "", {}, {"w2"}, {{"value", table}}},
                    {"Constant", "", "", {}, {"axes"}, {{"value_ints", std::vector<int64_t>{0}}}},
                    {"ReduceSum", "", "", {"w2", "axes"}, {"y"}, {{"keepdims", int64_t{0}}}}};
  addition.initializers.clear();
  const Model model = loaded_with(with_addition({}, addition), addition);
  const Datum x[] = {Datum(Tensor::of<float>({1, 2}, {1, 2}))};
  EXPECT_EQ(evaluate(*model.graph, x)[0].tensor(), Tensor::scalar<float>(6));
}

TEST(ModelAddition, refuses_what_is_no_model_and_graphs) {
  const std::string nonsense = "this is no model";
  expect_refusal(ErrorCode::kInvalidModel, "the model",
                 [&] { with_addition(std::as_bytes(std::span(nonsense)), adding()); });
  ModelAddition addition = adding();
  addition.nodes[0].attrs.emplace("then_branch", std::make_shared<Graph>());
  expect_refusal(ErrorCode::kUnsupported, "attribute then_branch: graphs can't be added",
                 [&] { with_addition({}, addition); });
}

}  // namespace
}  // namespace sardonyx
