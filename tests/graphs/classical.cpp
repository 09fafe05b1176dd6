// Pipelines of classical machine learning: columns are prepared, joined and scored.
#include "tests/graphs/families.h"

namespace sardonyx::graph_test {
namespace {

using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

Floats drawn(GraphBuilder& b, int64_t count, double low, double high) {
  Floats values(static_cast<size_t>(count));
  for (float& value : values)
    value = static_cast<float>(b.draw.real(low, high));
  return values;
}

// Multiples of 1/8: sums of few of them are exact, and no threshold of a tree is among them.
Tensor eighths(const Shape& shape, Draw& draw) {
  Tensor tensor = Tensor::allocate(DType::kFloat, shape);
  for (float& value : tensor.mutable_values<float>())
    value = static_cast<float>(draw.between(-16, 16)) / 8;
  return tensor;
}

// Trees as lists of nodes, in the form of operator versions 1 to 3.
struct Forest {
  Ints trees, nodes, features, on_true, on_false, tracks_true, leaf_trees, leaf_nodes, leaf_ids;
  Floats thresholds, leaf_weights;
  Strings modes;
};

class ForestBuilder {
 public:
  ForestBuilder(GraphBuilder& b, int64_t features, int64_t targets)
      : b_(b), features_(features), targets_(targets) {
    mixed_ = b.draw.one_in(4);
    mode_ = drawn_mode();
  }
  Forest build() {
    for (tree_ = b_.draw.between(1, 6); tree_-- > 0;) {
      next_ = 0;
      grow(b_.draw.between(0, 5));
    }
    return std::move(forest_);
  }

 private:
  std::string drawn_mode() {
    return b_.draw.pick({"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GT", "BRANCH_GTE"});
  }
  // Gives the number of the node at the top.
  int64_t grow(int64_t depth) {
    const size_t at = forest_.trees.size();
    const int64_t id = next_++;
    const bool is_leaf = depth == 0 || b_.draw.one_in(5);
    forest_.trees.push_back(tree_);
    forest_.nodes.push_back(id);
    forest_.features.push_back(is_leaf ? 0 : b_.draw.below(features_));
    forest_.thresholds.push_back(
        is_leaf ? 0 : static_cast<float>(b_.draw.between(-12, 12)) / 8 + 0.0625f);
    forest_.modes.push_back(is_leaf ? "LEAF" : mixed_ ? drawn_mode() : mode_);
    forest_.tracks_true.push_back(b_.draw.below(2));
    forest_.on_true.push_back(0);
    forest_.on_false.push_back(0);
    if (is_leaf) {
      const bool votes_for_all = b_.draw.one_in(3);
      for (int64_t target = 0; target < targets_; ++target) {
        if (!votes_for_all && target != id % targets_) continue;
        forest_.leaf_trees.push_back(tree_);
        forest_.leaf_nodes.push_back(id);
        forest_.leaf_ids.push_back(target);
        forest_.leaf_weights.push_back(static_cast<float>(b_.draw.real(-1, 1)));
      }
      return id;
    }
    const int64_t on_true = grow(depth - 1), on_false = grow(depth - 1);
    forest_.on_true[at] = on_true;
    forest_.on_false[at] = on_false;
    return id;
  }

  GraphBuilder& b_;
  int64_t features_, targets_, tree_ = 0, next_ = 0;
  bool mixed_ = false;
  std::string mode_;
  Forest forest_;
};

AttrMap node_attrs(const Forest& forest) {
  return {{"nodes_treeids", forest.trees},
          {"nodes_nodeids", forest.nodes},
          {"nodes_featureids", forest.features},
          {"nodes_modes", forest.modes},
          {"nodes_values", forest.thresholds},
          {"nodes_truenodeids", forest.on_true},
          {"nodes_falsenodeids", forest.on_false},
          {"nodes_missing_value_tracks_true", forest.tracks_true}};
}

// Labels of classes: numbers that are not their places, or words.
void add_labels(GraphBuilder& b, AttrMap& attrs, const std::string& ints,
                const std::string& strings, int64_t classes) {
  Ints numbers;
  Strings words;
  for (int64_t i = 0; i < classes; ++i) {
    numbers.push_back(i);
    words.push_back("class " + std::to_string(i));
  }
  if (b.draw.coin())
    attrs[ints] = numbers;
  else
    attrs[strings] = words;
}

void give_scores(GraphBuilder& b, const Vals& scored, const AttrMap& attrs, const std::string& ints,
                 const std::string& strings) {
  b.output(scored[0]);
  if (!b.draw.one_in(3)) return b.output(scored[1]);
  b.note("ZipMap");
  AttrMap labels;
  if (attrs.contains(ints))
    labels["classlabels_int64s"] = attrs.at(ints);
  else
    labels["classlabels_strings"] = attrs.at(strings);
  b.output(b.call("ai.onnx.ml::ZipMap", {scored[1]}, labels));
}

void tree_regressor(GraphBuilder& b, const Val& x, int64_t features) {
  b.note("TreeEnsembleRegressor");
  const int64_t targets = b.draw.pick({1, 1, 3});
  const Forest forest = ForestBuilder(b, features, targets).build();
  AttrMap attrs = node_attrs(forest);
  attrs["target_treeids"] = forest.leaf_trees;
  attrs["target_nodeids"] = forest.leaf_nodes;
  attrs["target_ids"] = forest.leaf_ids;
  attrs["target_weights"] = forest.leaf_weights;
  attrs["n_targets"] = targets;
  attrs["aggregate_function"] = std::string(b.draw.pick({"SUM", "SUM", "AVERAGE"}));
  // ONNX Runtime leaves them out of targets that no leaf votes for.
  if (targets == 1 && b.draw.coin()) attrs["base_values"] = drawn(b, targets, -1, 1);
  b.output(b.call("ai.onnx.ml::TreeEnsembleRegressor", {x}, attrs));
}

void tree_classifier(GraphBuilder& b, const Val& x, int64_t features) {
  b.note("TreeEnsembleClassifier");
  const int64_t classes = b.draw.between(3, 5);
  const Forest forest = ForestBuilder(b, features, classes).build();
  AttrMap attrs = node_attrs(forest);
  attrs["class_treeids"] = forest.leaf_trees;
  attrs["class_nodeids"] = forest.leaf_nodes;
  attrs["class_ids"] = forest.leaf_ids;
  attrs["class_weights"] = forest.leaf_weights;
  attrs["base_values"] = drawn(b, classes, -1, 1);
  attrs["post_transform"] = std::string(b.draw.pick({"NONE", "SOFTMAX", "LOGISTIC"}));
  add_labels(b, attrs, "classlabels_int64s", "classlabels_strings", classes);
  const Vals scored = b.calls("ai.onnx.ml::TreeEnsembleClassifier", {x}, attrs, 2);
  give_scores(b, scored, attrs, "classlabels_int64s", "classlabels_strings");
}

void linear_regressor(GraphBuilder& b, const Val& x, int64_t features) {
  b.note("LinearRegressor");
  const int64_t targets = b.draw.pick({1, 2, 5});
  b.output(b.call("ai.onnx.ml::LinearRegressor", {x},
                  {{"coefficients", drawn(b, targets * features, -1, 1)},
                   {"intercepts", drawn(b, targets, -1, 1)},
                   {"targets", targets}}));
}

void linear_classifier(GraphBuilder& b, const Val& x, int64_t features) {
  b.note("LinearClassifier");
  const int64_t classes = b.draw.between(3, 6);
  AttrMap attrs{{"coefficients", drawn(b, classes * features, -1, 1)},
                {"intercepts", drawn(b, classes, -1, 1)},
                {"post_transform", std::string(b.draw.pick({"NONE", "SOFTMAX", "LOGISTIC"}))}};
  add_labels(b, attrs, "classlabels_ints", "classlabels_strings", classes);
  const Vals scored = b.calls("ai.onnx.ml::LinearClassifier", {x}, attrs, 2);
  give_scores(b, scored, attrs, "classlabels_ints", "classlabels_strings");
}

void add_kernel(GraphBuilder& b, AttrMap& attrs) {
  attrs["kernel_type"] = std::string(b.draw.pick({"LINEAR", "RBF", "POLY", "SIGMOID"}));
  attrs["kernel_params"] = Floats{0.3f, 0.5f, 2};
}

void svm_regressor(GraphBuilder& b, const Val& x, int64_t features) {
  b.note("SVMRegressor");
  const int64_t supports = b.draw.between(1, 9);
  AttrMap attrs{{"n_supports", supports},
                {"support_vectors", drawn(b, supports * features, -1, 1)},
                {"coefficients", drawn(b, supports, -1, 1)},
                {"rho", drawn(b, 1, -1, 1)}};
  add_kernel(b, attrs);
  b.output(b.call("ai.onnx.ml::SVMRegressor", {x}, attrs));
}

void svm_classifier(GraphBuilder& b, const Val& x, int64_t features) {
  b.note("SVMClassifier");
  const int64_t classes = b.draw.between(2, 4), pairs = classes * (classes - 1) / 2;
  Ints per_class;
  int64_t supports = 0;
  for (int64_t i = 0; i < classes; ++i)
    supports += per_class.emplace_back(b.draw.between(1, 4));
  AttrMap attrs{{"vectors_per_class", per_class},
                {"support_vectors", drawn(b, supports * features, -1, 1)},
                {"coefficients", drawn(b, supports * (classes - 1), -1, 1)},
                {"rho", drawn(b, pairs, -0.3, 0.3)}};
  add_kernel(b, attrs);
  if (b.draw.coin()) {
    attrs["prob_a"] = drawn(b, pairs, -1.5, -0.5);
    attrs["prob_b"] = drawn(b, pairs, -0.3, 0.3);
  }
  add_labels(b, attrs, "classlabels_ints", "classlabels_strings", classes);
  const Vals scored = b.calls("ai.onnx.ml::SVMClassifier", {x}, attrs, 2);
  b.output(scored[0]);
  b.output(scored[1]);
}

// Columns of numbers, prepared.
Val prepared(GraphBuilder& b, const Dim& rows, int64_t features) {
  Val x = b.input("numbers", DType::kFloat, {rows, features},
                  [](const Shape& shape, Draw& draw, const auto&) { return eighths(shape, draw); });
  if (b.draw.one_in(3)) {
    b.note("Imputer");
    x = b.call(
        "ai.onnx.ml::Imputer", {x},
        {{"imputed_value_floats", drawn(b, features, -1, 1)}, {"replaced_value_float", 0.5f}});
  }
  if (b.draw.one_in(3)) {
    b.note("Scaler");
    x = b.call("ai.onnx.ml::Scaler", {x},
               {{"offset", drawn(b, features, -1, 1)}, {"scale", drawn(b, features, 0.5, 1.5)}});
  }
  if (b.draw.one_in(4)) {
    b.note("Normalizer");
    x = b.call("ai.onnx.ml::Normalizer", {x}, {{"norm", std::string(b.draw.pick({"L1", "L2"}))}});
    // ONNX Runtime 1.30 computes it in place where it is no output, and reads what it has written.
    b.output(x);
  }
  if (b.draw.one_in(5)) {
    b.note("Binarizer");
    x = b.call("ai.onnx.ml::Binarizer", {x}, {{"threshold", 0.0625f}});
  }
  return x;
}

// Words as columns of 0 and 1, or as numbers.
Val encoded_words(GraphBuilder& b, const Dim& rows) {
  const Strings words{"red", "green", "blue", "", "unknown"};
  const Val x = b.input("words", DType::kString, {rows, 1},
                        [words](const Shape& shape, Draw& draw, const auto&) {
                          std::vector<std::string> drawn(static_cast<size_t>(shape[0] * shape[1]));
                          for (std::string& word : drawn)
                            word = draw.pick(words);
                          return Tensor::of(drawn, shape);
                        });
  const Strings known{"red", "green", "blue"};
  if (b.draw.coin()) {
    b.note("OneHotEncoder");
    const Val hot =
        b.call("ai.onnx.ml::OneHotEncoder", {x}, {{"cats_strings", known}, {"zeros", int64_t{1}}});
    return b.call("Reshape", {hot, b.ints({-1, 3})});
  }
  b.note("LabelEncoder");
  return b.call("ai.onnx.ml::LabelEncoder", {x},
                {{"keys_strings", known},
                 {"values_floats", Floats{1.5f, -0.5f, 0.25f}},
                 {"default_float", -1.0f}});
}

void count_words(GraphBuilder& b) {
  b.note("TfIdfVectorizer");
  const Val x =
      b.integers("tokens", DType::kInt64, {b.dim("n", {3, 1, 5}), b.dim("t", {8, 2, 11})}, 1, 5);
  AttrMap attrs{{"mode", std::string(b.draw.pick({"TF", "IDF", "TFIDF"}))},
                {"max_gram_length", int64_t{2}},
                {"min_gram_length", b.draw.between(1, 2)},
                {"max_skip_count", b.draw.below(3)},
                {"ngram_counts", Ints{0, 4}},
                {"ngram_indexes", Ints{3, 0, 2, 1, 5, 4, 6}},
                {"pool_int64s", Ints{1, 2, 3, 4, 1, 2, 2, 3, 4, 4}}};
  if (b.draw.coin()) attrs["weights"] = drawn(b, 7, 0.5, 2);
  const Val counted = b.call("TfIdfVectorizer", {x}, attrs);
  b.output(counted);
  linear_regressor(b, counted, 7);
}

}  // namespace

void build_classical(GraphBuilder& b) {
  if (b.draw.one_in(6)) return count_words(b);
  const Dim rows = b.dim("n", {3, 1, 40, 7, 0});
  int64_t features = b.draw.between(1, 9);
  Val x = prepared(b, rows, features);
  if (b.draw.one_in(3)) {
    const Val words = encoded_words(b, rows);
    features += b.size(words, 1);
    x = b.call("Concat", {x, words}, {{"axis", int64_t{1}}});
  }
  using Model = void (*)(GraphBuilder&, const Val&, int64_t);
  constexpr Model kModels[] = {tree_regressor,    tree_classifier, tree_regressor, linear_regressor,
                               linear_classifier, svm_regressor,   svm_classifier};
  kModels[b.draw.below(static_cast<int64_t>(std::size(kModels)))](b, x, features);
}

}  // namespace sardonyx::graph_test
