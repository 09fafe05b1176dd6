#include <cmath>
#include <limits>

#include "tests/support/call_op.h"

namespace sardonyx {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Two stumps: x0 <= 0 ? a : b and x1 > 1 ? c : d, each leaf voting for one class or target.
AttrMap two_stumps() {
  return {{"nodes_treeids", Ints{0, 0, 0, 1, 1, 1}},
          {"nodes_nodeids", Ints{0, 1, 2, 0, 1, 2}},
          {"nodes_featureids", Ints{0, 0, 0, 1, 0, 0}},
          {"nodes_modes", Strings{"BRANCH_LEQ", "LEAF", "LEAF", "BRANCH_GT", "LEAF", "LEAF"}},
          {"nodes_values", Floats{0, 0, 0, 1, 0, 0}},
          {"nodes_truenodeids", Ints{1, 0, 0, 1, 0, 0}},
          {"nodes_falsenodeids", Ints{2, 0, 0, 2, 0, 0}}};
}

AttrMap regression(const Floats& weights) {
  AttrMap attrs = two_stumps();
  attrs.insert({{"target_treeids", Ints{0, 0, 1, 1}},
                {"target_nodeids", Ints{1, 2, 1, 2}},
                {"target_ids", Ints{0, 0, 0, 0}},
                {"target_weights", weights},
                {"n_targets", int64_t{1}}});
  return attrs;
}

const Datum kRows = Tensor::of<float>({-1, 2, 1, 0, 0, 1}, {3, 2});

TEST(TreeEnsembleRegressor, NoRowsTakeNoMemory) {
  AttrMap attrs = regression({1, 2, 4, 8});
  attrs["n_targets"] = int64_t{1} << 60;
  const Datum none = Tensor::allocate(DType::kFloat, {0, 2});
  const auto out = run_op("ai.onnx.ml::TreeEnsembleRegressor", {none}, attrs);
  EXPECT_EQ(out[0].tensor().shape(), (Shape{0, int64_t{1} << 60}));
}

TEST(TreeEnsembleRegressor, AggregatesTrees) {
  const std::vector<std::pair<std::string, std::vector<double>>> cases{
      {"SUM", {5.5, 10.5, 9.5}},  // 1+4, 2+8, 1+8, and the base
      {"AVERAGE", {3, 5.5, 5}},
      {"MIN", {1.5, 2.5, 1.5}},
      {"MAX", {4.5, 8.5, 8.5}}};
  for (const auto& [function, wanted] : cases) {
    AttrMap attrs = regression({1, 2, 4, 8});
    attrs["aggregate_function"] = function;
    attrs["base_values"] = Floats{0.5f};
    expect_near(run_op("ai.onnx.ml::TreeEnsembleRegressor", {kRows}, attrs)[0], wanted, 1e-6);
  }
}

TEST(TreeEnsembleRegressor, MissingValuesTrackTrue) {
  AttrMap attrs = regression({1, 2, 4, 8});
  const Datum row = Tensor::vector<float>({kNan, kNan});
  expect_near(run_op("ai.onnx.ml::TreeEnsembleRegressor", {row}, attrs)[0], {10}, 0);
  attrs["nodes_missing_value_tracks_true"] = Ints{1, 0, 0, 1, 0, 0};
  expect_near(run_op("ai.onnx.ml::TreeEnsembleRegressor", {row}, attrs)[0], {5}, 0);
}

TEST(TreeEnsembleRegressor, DoubleTensorsKeepTheirPrecision) {
  AttrMap attrs = regression({});
  attrs.erase("target_weights");
  attrs.erase("nodes_values");
  attrs["target_weights_as_tensor"] = Tensor::vector<double>({1, 2, 4, 8});
  attrs["nodes_values_as_tensor"] = Tensor::vector<double>({1 + 1e-12, 0, 0, 1, 0, 0});
  const Datum x = Tensor::of<double>({1 + 0.5e-12, 0, 1 + 2e-12, 0}, {2, 2});
  expect_near(run_op("ai.onnx.ml::TreeEnsembleRegressor", {x}, attrs)[0], {9, 10}, 0);
}

TEST(TreeEnsembleRegressor, RefusesBrokenTrees) {
  const std::vector<std::tuple<std::string, AttrValue, std::string>> cases{
      {"nodes_truenodeids", Ints{0, 0, 0, 1, 0, 0}, "cycle"},
      {"nodes_truenodeids", Ints{9, 0, 0, 1, 0, 0}, "there is no node 9 in tree 0"},
      {"nodes_nodeids", Ints{0, 1, 1, 0, 1, 2}, "listed twice"},
      {"nodes_featureids", Ints{2, 0, 0, 1, 0, 0}, "feature 2 is outside"},
      {"nodes_featureids", Ints{-1, 0, 0, 1, 0, 0}, "feature -1 is outside"},
      {"nodes_featureids", Ints{0}, "expected 6 elements"},
      {"nodes_values", Floats{0}, "expected 6 elements"},
      {"target_ids", Ints{0, 0, 0, 1}, "votes for target 1"},
      {"target_ids", Ints{0, 0, 0, -1}, "votes for target -1"},
      {"target_nodeids", Ints{1, 2, 1, 7}, "there is no node 7 in tree 1"},
      {"nodes_modes", Strings{"BRANCH", "LEAF", "LEAF", "BRANCH_GT", "LEAF", "LEAF"}, "'BRANCH'"},
      {"n_targets", int64_t{0}, "n_targets"},
      {"base_values", Floats{1, 2}, "base_values"},
      {"aggregate_function", std::string("MEAN"), "MEAN"},
      {"post_transform", std::string("TANH"), "TANH"}};
  for (const auto& [name, value, message] : cases) {
    AttrMap attrs = regression({1, 2, 4, 8});
    attrs[name] = value;
    EXPECT_NE(error_of("ai.onnx.ml::TreeEnsembleRegressor", {kRows}, attrs).find(message),
              std::string::npos)
        << name << ": " << error_of("ai.onnx.ml::TreeEnsembleRegressor", {kRows}, attrs);
  }
}

AttrMap classification(const Ints& ids, const Floats& weights, const Ints& labels) {
  AttrMap attrs = two_stumps();
  attrs.insert({{"class_treeids", Ints{0, 0, 1, 1}},
                {"class_nodeids", Ints{1, 2, 1, 2}},
                {"class_ids", ids},
                {"class_weights", weights},
                {"classlabels_int64s", labels}});
  return attrs;
}

TEST(TreeEnsembleClassifier, ManyClasses) {
  AttrMap attrs = classification({0, 1, 2, 1}, {1, 2, 4, 8}, {10, 20, 30});
  auto out = run_op("ai.onnx.ml::TreeEnsembleClassifier", {kRows}, attrs, 2);
  EXPECT_EQ(elements<int64_t>(out[0]), (Ints{30, 20, 20}));
  expect_near(out[1], {1, 0, 4, 0, 10, 0, 1, 8, 0}, 1e-6);
  attrs["post_transform"] = std::string("SOFTMAX");
  out = run_op("ai.onnx.ml::TreeEnsembleClassifier", {kRows}, attrs, 2);
  const double sum = std::exp(1) + 1 + std::exp(4);
  EXPECT_NEAR(out[1].tensor().values<float>()[2], std::exp(4) / sum, 1e-6);
  attrs["base_values"] = Floats{100, 0, 0};
  out = run_op("ai.onnx.ml::TreeEnsembleClassifier", {kRows}, attrs, 2);
  EXPECT_EQ(elements<int64_t>(out[0]), (Ints{10, 10, 10}));
}

TEST(TreeEnsembleClassifier, TwoClassesWithVotesForOne) {
  // No negative weight: the votes are the second class's probability.
  AttrMap attrs = classification({0, 0, 0, 0}, {0.1f, 0.3f, 0.2f, 0.4f}, {0, 1});
  auto out = run_op("ai.onnx.ml::TreeEnsembleClassifier", {kRows}, attrs, 2);
  EXPECT_EQ(elements<int64_t>(out[0]), (Ints{0, 1, 0}));
  expect_near(out[1], {0.7, 0.3, 0.3, 0.7, 0.5, 0.5}, 1e-6);
  // LOGISTIC takes them for a margin; which class wins is decided before it.
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  attrs["post_transform"] = std::string("LOGISTIC");
  out = run_op("ai.onnx.ml::TreeEnsembleClassifier", {kRows}, attrs, 2);
  EXPECT_EQ(elements<int64_t>(out[0]), (Ints{0, 1, 0}));
  expect_near(
      out[1],
      {sigmoid(-0.3), sigmoid(0.3), sigmoid(-0.7), sigmoid(0.7), sigmoid(-0.5), sigmoid(0.5)},
      1e-6);
  // So are votes of which some are negative.
  attrs = classification({0, 0, 0, 0}, {-1, 3, 2, -4}, {0, 1});
  attrs["post_transform"] = std::string("LOGISTIC");
  out = run_op("ai.onnx.ml::TreeEnsembleClassifier", {kRows}, attrs, 2);
  EXPECT_EQ(elements<int64_t>(out[0]), (Ints{1, 0, 0}));
  expect_near(out[1], {sigmoid(-1), sigmoid(1), sigmoid(1), sigmoid(-1), sigmoid(5), sigmoid(-5)},
              1e-6);
}

TEST(TreeEnsembleClassifier, StringLabels) {
  AttrMap attrs = classification({0, 1, 2, 1}, {1, 2, 4, 8}, {});
  attrs["classlabels_strings"] = Strings{"a", "b", "c"};
  const auto out = run_op("ai.onnx.ml::TreeEnsembleClassifier", {kRows}, attrs, 2);
  EXPECT_EQ(elements<std::string>(out[0]), (Strings{"c", "b", "b"}));
  attrs["classlabels_int64s"] = Ints{1, 2, 3};
  EXPECT_NE(error_of("ai.onnx.ml::TreeEnsembleClassifier", {kRows}, attrs, 2).find("both"),
            std::string::npos);
}

// x0 in {1, 2} ? (x0 in {2} ? leaf 0 : leaf 1) : leaf 2
AttrMap membership() {
  return {{"tree_roots", Ints{0}},
          {"nodes_featureids", Ints{0, 0}},
          {"nodes_modes", Tensor::vector<uint8_t>({6, 6})},
          {"nodes_splits", Tensor::vector<float>({0, 0})},
          {"membership_values", Tensor::vector<float>({2, 1, kNan, 2, kNan})},
          {"nodes_truenodeids", Ints{1, 0}},
          {"nodes_trueleafs", Ints{0, 1}},
          {"nodes_falsenodeids", Ints{2, 1}},
          {"nodes_falseleafs", Ints{1, 1}},
          {"leaf_targetids", Ints{0, 1, 0}},
          {"leaf_weights", Tensor::vector<float>({1, 2, 3})},
          {"n_targets", int64_t{2}}};
}

TEST(TreeEnsemble, SetMembership) {
  const Datum x = Tensor::of<float>({1, 2, 3, kNan}, {4, 1});
  const auto out = run_op("ai.onnx.ml::TreeEnsemble", {x}, membership());
  expect_near(out[0], {0, 2, 1, 0, 3, 0, 3, 0}, 0);
}

TEST(TreeEnsemble, RefusesBrokenTrees) {
  const Datum x = Tensor::of<float>({1}, {1, 1});
  const std::vector<std::tuple<std::string, AttrValue, std::string>> cases{
      {"nodes_truenodeids", Ints{0, 0}, "cycle"},
      {"nodes_truenodeids", Ints{1, 3}, "leaf 3 is outside"},
      {"nodes_falsenodeids", Ints{2, -1}, "leaf -1 is outside"},
      {"tree_roots", Ints{2}, "node 2 is outside"},
      {"tree_roots", Ints{}, "tree_roots"},
      {"nodes_modes", Tensor::vector<uint8_t>({6, 7}), "got 7"},
      {"membership_values", Tensor::vector<float>({1, 2}), "membership_values"},
      {"leaf_targetids", Ints{0, 1, 2}, "votes for target 2"},
      {"leaf_targetids", Ints{0, 1}, "leaf_weights"},
      {"aggregate_function", int64_t{4}, "aggregate_function"},
      {"post_transform", int64_t{5}, "post_transform"}};
  for (const auto& [name, value, message] : cases) {
    AttrMap attrs = membership();
    attrs[name] = value;
    EXPECT_NE(error_of("ai.onnx.ml::TreeEnsemble", {x}, attrs).find(message), std::string::npos)
        << name << ": " << error_of("ai.onnx.ml::TreeEnsemble", {x}, attrs);
  }
}

}  // namespace
}  // namespace sardonyx
