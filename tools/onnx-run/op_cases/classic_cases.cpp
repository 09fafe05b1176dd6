// ai.onnx.ml.
#include "tools/onnx-run/op_cases/op_case.h"

namespace sardonyx::tool {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

constexpr int64_t kRows = 1000, kFeatures = 20, kTrees = 100, kDepth = 6;

// Numbers that need not be good, only uneven.
float uneven(int64_t i) {
  return static_cast<float>(i * 7919 % 2003) / 1001.5f - 1;
}

Floats uneven_floats(int64_t count) {
  Floats values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(uneven(i));
  return values;
}

Ints counted(int64_t count) {
  Ints values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(i);
  return values;
}

// A forest of full binary trees; `kind` is "target" or "class".
AttrMap forest(const std::string& kind) {
  Ints trees, nodes, features, yes, no, leaf_trees, leaf_nodes, leaf_ids;
  Strings modes;
  Floats splits, leaf_weights;
  constexpr int64_t kInner = (1 << kDepth) - 1, kAll = (2 << kDepth) - 1;
  for (int64_t tree = 0; tree < kTrees; ++tree) {
    for (int64_t node = 0; node < kAll; ++node) {
      const bool is_leaf = node >= kInner;
      trees.push_back(tree);
      nodes.push_back(node);
      features.push_back(is_leaf ? 0 : (tree * 31 + node * 17) % kFeatures);
      modes.push_back(is_leaf ? "LEAF" : "BRANCH_LEQ");
      splits.push_back(is_leaf ? 0 : uneven(tree * kAll + node));
      yes.push_back(is_leaf ? 0 : 2 * node + 1);
      no.push_back(is_leaf ? 0 : 2 * node + 2);
      if (!is_leaf) continue;
      leaf_trees.push_back(tree);
      leaf_nodes.push_back(node);
      leaf_ids.push_back(kind == "class" ? node % 3 : 0);
      leaf_weights.push_back(uneven(node + tree));
    }
  }
  return {
      {"nodes_treeids", trees},   {"nodes_nodeids", nodes},         {"nodes_featureids", features},
      {"nodes_modes", modes},     {"nodes_values", splits},         {"nodes_truenodeids", yes},
      {"nodes_falsenodeids", no}, {kind + "_treeids", leaf_trees},  {kind + "_nodeids", leaf_nodes},
      {kind + "_ids", leaf_ids},  {kind + "_weights", leaf_weights}};
}

// The same forest as the newest op has it: leaves apart from nodes.
AttrMap new_forest() {
  Ints roots, features, yes, no, yes_leaf, no_leaf, targets;
  std::vector<uint8_t> modes;
  Floats splits, weights;
  constexpr int64_t kInner = (1 << kDepth) - 1;
  for (int64_t tree = 0; tree < kTrees; ++tree) {
    const int64_t first = tree * kInner, first_leaf = tree * (kInner + 1);
    roots.push_back(first);
    for (int64_t node = 0; node < kInner; ++node) {
      const bool is_last = 2 * node + 1 >= kInner;
      features.push_back((tree * 31 + node * 17) % kFeatures);
      splits.push_back(uneven(first + node));
      modes.push_back(0);
      yes.push_back(is_last ? first_leaf + 2 * node + 1 - kInner : first + 2 * node + 1);
      no.push_back(is_last ? first_leaf + 2 * node + 2 - kInner : first + 2 * node + 2);
      yes_leaf.push_back(is_last);
      no_leaf.push_back(is_last);
    }
    for (int64_t leaf = 0; leaf <= kInner; ++leaf) {
      targets.push_back(0);
      weights.push_back(uneven(first_leaf + leaf));
    }
  }
  return {{"tree_roots", roots},
          {"nodes_featureids", features},
          {"nodes_modes", Tensor::vector<uint8_t>(modes)},
          {"nodes_splits", Tensor::vector<float>(splits)},
          {"nodes_truenodeids", yes},
          {"nodes_trueleafs", yes_leaf},
          {"nodes_falsenodeids", no},
          {"nodes_falseleafs", no_leaf},
          {"leaf_targetids", targets},
          {"leaf_weights", Tensor::vector<float>(weights)},
          {"n_targets", int64_t{1}}};
}

void add_trees(std::vector<OpCase>& cases) {
  AttrMap regressor = forest("target"), classifier = forest("class");
  regressor["n_targets"] = int64_t{1};
  classifier["classlabels_int64s"] = Ints{0, 1, 2};
  for (const int64_t rows : {int64_t{1}, kRows}) {
    const CaseOperand x = input({rows, kFeatures}, DType::kFloat, -1, 1);
    const char* variant = rows == 1 ? "one row" : "";
    cases.push_back({"ai.onnx.ml::TreeEnsembleRegressor", variant, {x}, regressor});
    cases.push_back({"ai.onnx.ml::TreeEnsembleClassifier", variant, {x}, classifier, 2});
    cases.push_back({"ai.onnx.ml::TreeEnsemble", variant, {x}, new_forest()});
  }
}

void add_vectors(std::vector<OpCase>& cases) {
  const CaseOperand x = input({kRows, kFeatures});
  constexpr int64_t kSupports = 200;
  AttrMap svm{{"kernel_type", std::string("RBF")},
              {"kernel_params", Floats{0.1f, 0, 0}},
              {"support_vectors", uneven_floats(kSupports * kFeatures)},
              {"coefficients", uneven_floats(kSupports)},
              {"rho", Floats{0.5f}}};
  AttrMap classifier = svm;
  svm["n_supports"] = kSupports;
  classifier["vectors_per_class"] = Ints{kSupports / 2, kSupports / 2};
  classifier["classlabels_ints"] = Ints{0, 1};
  cases.push_back({"ai.onnx.ml::SVMRegressor", "", {x}, svm});
  cases.push_back({"ai.onnx.ml::SVMClassifier", "", {x}, classifier, 2});
  cases.push_back({"ai.onnx.ml::LinearRegressor",
                   "",
                   {x},
                   {{"coefficients", uneven_floats(kFeatures)}, {"intercepts", Floats{0.5f}}}});
  cases.push_back({"ai.onnx.ml::LinearClassifier",
                   "",
                   {x},
                   {{"coefficients", uneven_floats(3 * kFeatures)},
                    {"intercepts", Floats{0.5f, 0.1f, 0}},
                    {"classlabels_ints", Ints{0, 1, 2}},
                    {"post_transform", std::string("SOFTMAX")}},
                   2});
  cases.push_back({"ai.onnx.ml::Scaler",
                   "",
                   {x},
                   {{"offset", uneven_floats(kFeatures)}, {"scale", uneven_floats(kFeatures)}}});
  cases.push_back({"ai.onnx.ml::Normalizer", "", {x}, {{"norm", std::string("L2")}}});
  cases.push_back({"ai.onnx.ml::Imputer",
                   "",
                   {x},
                   {{"imputed_value_floats", Floats{1}}, {"replaced_value_float", 0.f}}});
  cases.push_back({"ai.onnx.ml::Binarizer", "", {x}});
  cases.push_back({"ai.onnx.ml::FeatureVectorizer",
                   "",
                   {x, x},
                   {{"inputdimensions", Ints{kFeatures, kFeatures}}}});
}

void add_encoders(std::vector<OpCase>& cases) {
  const CaseOperand words = input({10000}, DType::kInt64, 0, 99);
  Strings names;
  for (int64_t i = 0; i < 100; ++i)
    names.push_back("word " + std::to_string(i));
  cases.push_back({"ai.onnx.ml::LabelEncoder",
                   "",
                   {words},
                   {{"keys_int64s", counted(100)}, {"values_floats", uneven_floats(100)}}});
  cases.push_back({"ai.onnx.ml::LabelEncoder",
                   "strings",
                   {input({10000}, DType::kString, 0, 1)},
                   {{"keys_strings", names}, {"values_int64s", counted(100)}}});
  Strings known;
  for (size_t i = 0; i < 10000; ++i)
    known.push_back(names[i * 7919 % names.size()]);
  cases.push_back({"ai.onnx.ml::LabelEncoder",
                   "known strings",
                   {given(Tensor::vector(known))},
                   {{"keys_strings", names}, {"values_int64s", counted(100)}}});
  cases.push_back({"ai.onnx.ml::CategoryMapper",
                   "",
                   {words},
                   {{"cats_int64s", counted(100)}, {"cats_strings", names}}});
  cases.push_back({"ai.onnx.ml::OneHotEncoder", "", {words}, {{"cats_int64s", counted(100)}}});
  cases.push_back(
      {"ai.onnx.ml::ArrayFeatureExtractor", "", {input({kRows, kFeatures}), int64s({1, 5, 7})}});
}

}  // namespace

std::vector<OpCase> classic_cases() {
  std::vector<OpCase> cases;
  add_trees(cases);
  add_vectors(cases);
  add_encoders(cases);
  return cases;
}

}  // namespace sardonyx::tool
