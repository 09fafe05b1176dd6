// ai.onnx.ml, text, box selection and updates of training: calls that do not fit.
#include "tests/support/expect_op_error.h"

namespace sardonyx {
namespace {

using std::string;

const Datum x = zeros({2, 3}), row = zeros({3}), scalar = zeros({});
const char* const kBoth = "class labels: expected a list of strings or one of integers, got both";
const char* const kNeither = "class labels: expected a list of strings or of integers, got neither";

AttrMap with(AttrMap attrs, const AttrMap& more) {
  for (const auto& [name, value] : more)
    attrs[name] = value;
  return attrs;
}

TEST(LearningRefusals, Encoders) {
  const AttrMap pairs{{"keys_int64s", Ints{1, 2}}, {"values_floats", Floats{1, 2}}};
  const Datum words = strings({"a"}), numbers = ints({1});
  const char *label = "ai.onnx.ml::LabelEncoder", *one_hot = "ai.onnx.ml::OneHotEncoder";
  const char *pick = "ai.onnx.ml::ArrayFeatureExtractor", *join = "ai.onnx.ml::FeatureVectorizer";
  expect_refused(std::vector<Refused>{
      {pick, {scalar, numbers}, {}, "input X (float[]): expected at least one dim"},
      {pick, {x, ints({3})}, {}, "index 3 is outside 0..3 (exclusive)", kBadArgument},
      {pick, {x, ints({-1})}, {}, "index -1 is outside 0..3", kBadArgument},
      {"ai.onnx.ml::CategoryMapper",
       {words},
       {{"cats_int64s", Ints{1, 2}}, {"cats_strings", Strings{"a"}}},
       "cats_int64s: expected 1 elements, as many as cats_strings, got 2"},
      {label, {numbers}, {{"values_floats", Floats{1}}}, "just one of the attributes keys_floats"},
      {label, {numbers}, {{"keys_int64s", Ints{1}}}, "just one of the attributes values_floats"},
      {label,
       {numbers},
       with(pairs, {{"values_floats", Floats{1}}}),
       "as many values as keys (2), got"},
      {label, {words}, pairs, "expected elements of int64, the type of the keys"},
      {label,
       {numbers},
       with(pairs, {{"default_tensor", Tensor::vector<int64_t>({1})}}),
       "default_tensor: expected an element of float"},
      {label,
       {numbers},
       with(pairs, {{"default_tensor", Tensor::vector<float>({1, 2})}}),
       "default_tensor: expected one element, got 2"},
      {one_hot, {words}, {{"cats_int64s", Ints{1}}}, "attribute cats_strings: expected categories"},
      {one_hot,
       {numbers},
       {{"cats_strings", Strings{"a"}}},
       "attribute cats_int64s: expected categ"},
      {join,
       {x},
       {{"inputdimensions", Ints{1, 2}}},
       "expected 1 elements, one for each input, got 2"},
      {join, {x}, {{"inputdimensions", Ints{-1}}}, "inputdimensions: -1 is negative"},
      {join, {scalar}, {}, "expected at least one dim"},
      {join, {x, zeros({3, 1})}, {}, "rows: 2 and 3 differ"},
  });
}

TEST(LearningRefusals, Maps) {
  const auto map = [](Ints keys, Floats values) -> Datum {
    return Map{Tensor::vector(keys), Tensor::vector(values)};
  };
  const Datum words = Map{Tensor::vector<string>({"a"}), Tensor::vector<float>({1})};
  const Datum one = map({1}, {1});
  const char *cast = "ai.onnx.ml::CastMap", *vectorize = "ai.onnx.ml::DictVectorizer";
  const char* zip = "ai.onnx.ml::ZipMap";
  const AttrMap sparse{{"map_form", string("SPARSE")}, {"max_map", 3}};
  expect_refused(std::vector<Refused>{
      {cast, {one}, {{"map_form", string("odd")}}, "map_form: expected DENSE or SPARSE, got 'odd'"},
      {cast, {one}, with(sparse, {{"max_map", -1}}), "max_map: expected at least 0, got -1"},
      {cast,
       {one},
       {{"cast_to", string("odd")}},
       "cast_to: expected TO_FLOAT, TO_STRING or TO_INT64"},
      {cast, {map({1, 2}, {1})}, {}, "a map has 2 keys and 1 values", kBadArgument},
      {cast, {map({-1}, {1})}, sparse, "key -1 is negative", kBadArgument},
      {vectorize,
       {one},
       {{"string_vocabulary", Strings{"a"}}},
       "expected attribute int64_vocabulary"},
      {vectorize, {words}, {{"int64_vocabulary", Ints{1}}}, "expected attribute string_vocabulary"},
      {zip, {x}, {}, kNeither},
      {zip,
       {x},
       {{"classlabels_int64s", Ints{1, 2, 3}}, {"classlabels_strings", Strings{"a", "b", "c"}}},
       kBoth},
      {zip,
       {zeros({1, 2, 3})},
       {{"classlabels_int64s", Ints{1, 2, 3}}},
       "expected [rows, features]"},
      {zip, {scalar}, {{"classlabels_int64s", Ints{1}}}, "expected [rows, features] or [features]"},
      {zip,
       {x},
       {{"classlabels_int64s", Ints{1, 2}}},
       "input X (float[2, 3]): expected 2 columns, one for each class label"},
  });
}

TEST(LearningRefusals, LinearModels) {
  const char *classifier = "ai.onnx.ml::LinearClassifier",
             *regressor = "ai.onnx.ml::LinearRegressor";
  const AttrMap two{{"classlabels_ints", Ints{0, 1}},
                    {"intercepts", Floats{0, 0}},
                    {"coefficients", Floats{1, 2, 3, 4, 5, 6}}};
  const AttrMap one{{"coefficients", Floats{1, 2, 3}}, {"intercepts", Floats{0}}};
  const char* imputer = "ai.onnx.ml::Imputer";
  EXPECT_EQ(error_of(classifier, {x}, two, 2), "");
  expect_refused(std::vector<Refused>{
      {classifier, {x}, with(two, {{"classlabels_ints", Ints{}}}), kNeither, kBadModel, 2},
      {classifier,
       {x},
       with(two, {{"classlabels_strings", Strings{"a", "b"}}}),
       kBoth,
       kBadModel,
       2},
      {classifier,
       {x},
       with(two, {{"post_transform", string("odd")}}),
       "post_transform: expected NONE",
       kBadModel,
       2},
      {classifier,
       {x},
       with(two, {{"intercepts", Floats{0, 0, 0}}}),
       "intercepts: expected 2 (one for each class) or 1, got 3",
       kBadModel,
       2},
      {classifier,
       {x},
       with(two, {{"coefficients", Floats{1, 2, 3}}}),
       "coefficients: expected 2 rows of 3",
       kBadModel,
       2},
      {regressor,
       {x},
       with(one, {{"post_transform", string("odd")}}),
       "post_transform: expected NONE"},
      {regressor, {x}, with(one, {{"targets", 0}}), "targets: expected at least 1, got 0"},
      {regressor, {x}, with(one, {{"intercepts", Floats{0, 0}}}), "intercepts: expected none or 1"},
      {regressor,
       {x},
       with(one, {{"coefficients", Floats{1, 2}}}),
       "coefficients: expected 1 rows of"},
      {"ai.onnx.ml::Scaler",
       {x},
       {{"offset", Floats{1, 2}}},
       "attribute offset: expected 1 element or 3 (one for each feature), got "},
      {"ai.onnx.ml::Scaler",
       {x},
       {{"scale", Floats{1, 2}}},
       "attribute scale: expected 1 element or 3 (one for each feature), got 2"},
      {"ai.onnx.ml::Scaler",
       {x},
       {{"offset", Floats{1, 2, 3}}, {"scale", Floats{1}}},
       "attribute scale: expected 3 elements, as many as offset has, got 1"},
      {"ai.onnx.ml::Normalizer",
       {x},
       {{"norm", string("odd")}},
       "norm: expected MAX, L1 or L2, got"},
      {imputer, {x}, {}, "imputed_value_floats: expected values, as X has elements of float"},
      {imputer,
       {ints({1})},
       {},
       "imputed_value_int64s: expected values, as X has elements of int64"},
      {imputer, {x}, {{"imputed_value_floats", Floats{1, 2}}}, "imputed_value_floats"},
      {imputer,
       {zeros({1, 1}, DType::kInt32)},
       {{"imputed_value_int64s", Ints{int64_t{1} << 32}}},
       "4294967296 does not fit int32, the type of X"},
  });
}

TEST(LearningRefusals, VectorMachines) {
  const char *classifier = "ai.onnx.ml::SVMClassifier", *regressor = "ai.onnx.ml::SVMRegressor";
  // Two classes, one vector of three features each.
  const AttrMap two{{"classlabels_ints", Ints{0, 1}},
                    {"vectors_per_class", Ints{1, 1}},
                    {"support_vectors", Floats{1, 2, 3, 4, 5, 6}},
                    {"coefficients", Floats{1, -1}},
                    {"rho", Floats{0}}};
  const AttrMap one{{"n_supports", 1},
                    {"support_vectors", Floats{1, 2, 3}},
                    {"coefficients", Floats{1}},
                    {"rho", Floats{0}}};
  EXPECT_EQ(error_of(classifier, {x}, two, 2), "");
  EXPECT_EQ(error_of(regressor, {x}, one), "");
  const auto machine = [&](const AttrMap& more, const char* mention) {
    return Refused{classifier, {x}, with(two, more), mention, kBadModel, 2};
  };
  const auto regression = [&](const AttrMap& more, const char* mention) {
    return Refused{regressor, {x}, with(one, more), mention};
  };
  expect_refused(std::vector<Refused>{
      machine({{"kernel_type", string("odd")}},
              "kernel_type: expected LINEAR, POLY, RBF or SIGMOID"),
      machine({{"kernel_params", Floats{1}}},
              "kernel_params: expected gamma, coef0 and degree, got 1"),
      machine({{"post_transform", string("odd")}}, "post_transform: expected NONE"),
      machine({{"classlabels_ints", Ints{}}}, kNeither),
      machine({{"classlabels_strings", Strings{"a"}}}, kBoth),
      machine({{"classlabels_ints", Ints(65536, 0)}}, "at most 65535 are supported, got 65536"),
      machine({{"prob_a", Floats{1}}}, "prob_b: expected 1 elements, as many as prob_a, got 0"),
      machine({{"vectors_per_class", Ints{-1, 1}}}, "vectors_per_class: -1 is outside 0..6"),
      machine({{"vectors_per_class", Ints{7, 1}}}, "vectors_per_class: 7 is outside 0..6"),
      machine({{"classlabels_ints", Ints{0}}}, "class labels: expected at least 2, got 1"),
      machine({{"vectors_per_class", Ints{2}}},
              "vectors_per_class: expected 2 elements (one for each"),
      machine({{"vectors_per_class", Ints{2, 2}}}, "6 elements are not 4 rows of one length"),
      machine({{"vectors_per_class", Ints{2, 1}}},
              "expected rows of 3 elements (the features of X)"),
      machine({{"coefficients", Floats{1}}}, "coefficients: expected 1 rows of 2 elements, got 1"),
      machine({{"rho", Floats{}}}, "attribute rho: expected at least 1 elements, got 0"),
      machine({{"prob_a", Floats{}}, {"prob_b", Floats{1}}}, "prob_b: expected 0 elements"),
      machine({{"classlabels_ints", Ints{0, 1, 2}},
               {"vectors_per_class", Ints{1, 1, 0}},
               {"coefficients", Floats{1, 1, 1, 1}},
               {"rho", Floats{0, 0, 0}},
               {"prob_a", Floats{1}},
               {"prob_b", Floats{1}}},
              "attribute prob_a: expected at least 3 elements, got 1"),
      machine({{"vectors_per_class", Ints{}}}, "coefficients: expected rows of 3 elements"),
      machine({{"vectors_per_class", Ints{}}, {"rho", Floats{}}},
              "attribute rho: expected at least 1 elements, got 0"),
      regression({{"kernel_type", string("odd")}},
                 "kernel_type: expected LINEAR, POLY, RBF or SIGM"),
      regression({{"n_supports", -1}}, "n_supports: expected at least 0, got -1"),
      regression({{"rho", Floats{}}}, "attribute rho: expected at least 1 elements, got 0"),
      regression({{"n_supports", 2}}, "3 elements are not 2 rows of one length"),
      regression({{"coefficients", Floats{}}},
                 "attribute coefficients: expected at least 1 elements, got 0"),
      regression({{"n_supports", 0}, {"support_vectors", Floats{}}, {"coefficients", Floats{1, 2}}},
                 "attribute coefficients: expected rows of 3 elements (the features of X), got 2"),
      regression({{"support_vectors", Floats{1, 2}}},
                 "expected rows of 3 elements (the features of"),
  });
}

// One split of feature 0 with two leaves.
TEST(LearningRefusals, Trees) {
  const AttrMap nodes{
      {"nodes_treeids", Ints{0, 0, 0}},     {"nodes_nodeids", Ints{0, 1, 2}},
      {"nodes_featureids", Ints{0, 0, 0}},  {"nodes_modes", Strings{"BRANCH_LEQ", "LEAF", "LEAF"}},
      {"nodes_values", Floats{0, 0, 0}},    {"nodes_truenodeids", Ints{1, 0, 0}},
      {"nodes_falsenodeids", Ints{2, 0, 0}}};
  const AttrMap votes{{"target_treeids", Ints{0, 0}},
                      {"target_nodeids", Ints{1, 2}},
                      {"target_ids", Ints{0, 0}},
                      {"target_weights", Floats{1, 2}}};
  const AttrMap classes{{"class_treeids", Ints{0, 0}},
                        {"class_nodeids", Ints{1, 2}},
                        {"class_ids", Ints{0, 1}},
                        {"class_weights", Floats{1, 1}},
                        {"classlabels_int64s", Ints{0, 1}}};
  const char *regressor = "ai.onnx.ml::TreeEnsembleRegressor",
             *classifier = "ai.onnx.ml::TreeEnsembleClassifier";
  EXPECT_EQ(error_of(regressor, {x}, with(nodes, votes)), "");
  EXPECT_EQ(error_of(classifier, {x}, with(nodes, classes), 2), "");
  const auto tree = [&](const AttrMap& more, const char* mention) {
    return Refused{regressor, {x}, with(with(nodes, votes), more), mention};
  };
  const auto classes_of = [&](const AttrMap& more, const char* mention) {
    return Refused{classifier, {x}, with(with(nodes, classes), more), mention, kBadModel, 2};
  };
  expect_refused(std::vector<Refused>{
      tree({{"nodes_treeids", Ints{0, 0}}}, "nodes_treeids: expected 3 elements, one for each of"),
      tree({{"nodes_featureids", Ints{0}}}, "nodes_featureids: expected 3 elements"),
      tree({{"nodes_truenodeids", Ints{1}}}, "nodes_truenodeids: expected 3 elements"),
      tree({{"nodes_falsenodeids", Ints{1}}}, "nodes_falsenodeids: expected 3 elements"),
      tree({{"nodes_modes", Strings{"LEAF"}}}, "nodes_modes: expected 3 elements"),
      tree({{"nodes_values", Floats{0}}}, "nodes_values: expected 3 elements"),
      tree({{"nodes_missing_value_tracks_true", Ints{0}}}, "tracks_true: expected 3 elements"),
      tree({{"target_treeids", Ints{0}}}, "treeids of the weights: expected 2 elements"),
      tree({{"target_nodeids", Ints{0}}}, "nodeids of the weights: expected 2 elements"),
      tree({{"target_ids", Ints{0}}}, "ids of the weights: expected 2 elements"),
      tree({{"target_weights_as_tensor", Tensor::vector<float>({1, 2})}},
           "target_weights is given"),
      tree({{"n_targets", 0}}, "n_targets: expected at least 1, got 0"),
      tree({{"target_ids", Ints{0, -3}}}, "a leaf votes for target -3"),
      tree({{"target_ids", Ints{-3, -3}}}, "ids of targets: -3 is out of range"),
      tree({{"target_ids", Ints{0, INT64_MAX}}}, "is out of range"),
      tree({{"nodes_modes", Strings{"ODD", "LEAF", "LEAF"}}},
           "nodes_modes: expected LEAF or BRANCH_"),
      tree({{"nodes_nodeids", Ints{0, 1, 1}}}, "node 1 of tree 0 is listed twice"),
      tree({{"nodes_truenodeids", Ints{7, 0, 0}}},
           "nodes_truenodeids: there is no node 7 in tree 0"),
      tree({{"nodes_falsenodeids", Ints{7, 0, 0}}}, "nodes_falsenodeids: there is no node 7"),
      tree({{"target_nodeids", Ints{1, 7}}}, "nodeids of the weights: there is no node 7"),
      tree({{"nodes_featureids", Ints{3, 0, 0}}}, "feature 3 is outside 0..3 (exclusive)"),
      tree({{"nodes_featureids", Ints{-1, 0, 0}}}, "feature -1 is outside 0..3"),
      tree({{"nodes_truenodeids", Ints{0, 0, 0}}}, "tree node 0 is reached from itself: a cycle"),
      tree({{"aggregate_function", string("odd")}}, "aggregate_function: expected AVERAGE, SUM"),
      tree({{"post_transform", string("odd")}}, "post_transform: expected NONE"),
      classes_of({{"classlabels_int64s", Ints{}}}, kNeither),
      classes_of({{"classlabels_strings", Strings{"a"}}}, kBoth),
      classes_of({{"post_transform", string("odd")}}, "post_transform: expected NONE"),
      classes_of({{"base_values", Floats{1, 2, 3}}}, "base_values: expected at most 2"),
      classes_of({{"class_ids", Ints{0, 2}}}, "a leaf votes for target 2, which is outside 0..2"),
  });
}

TEST(LearningRefusals, TreeEnsemble) {
  const AttrMap good{{"leaf_targetids", Ints{0, 0}},
                     {"leaf_weights", Tensor::vector<float>({1, 2})},
                     {"nodes_falseleafs", Ints{1}},
                     {"nodes_falsenodeids", Ints{1}},
                     {"nodes_featureids", Ints{0}},
                     {"nodes_modes", Tensor::vector<uint8_t>({0})},
                     {"nodes_splits", Tensor::vector<float>({0})},
                     {"nodes_trueleafs", Ints{1}},
                     {"nodes_truenodeids", Ints{0}},
                     {"tree_roots", Ints{0}},
                     {"n_targets", 1}};
  EXPECT_EQ(error_of("ai.onnx.ml::TreeEnsemble", {x}, good), "");
  const auto tree = [&](const AttrMap& more, const char* mention) {
    return Refused{"ai.onnx.ml::TreeEnsemble", {x}, with(good, more), mention};
  };
  // Before the run, too.
  expect_refused(std::vector<RefusedTypes>{
      {"ai.onnx.ml::TreeEnsemble",
       {Type::tensor(DType::kFloat, Dims{Dim::symbol("n"), 3})},
       with(good, {{"nodes_featureids", Ints{3}}}),
       "feature 3 is outside 0..3 (exclusive)"},
  });
  const auto bytes = [](uint8_t value) { return Tensor::vector<uint8_t>({value}); };
  expect_refused(std::vector<Refused>{
      tree({{"nodes_truenodeids", Ints{0, 0}}}, "nodes_truenodeids: expected 1 elements"),
      tree({{"nodes_falsenodeids", Ints{0, 0}}}, "nodes_falsenodeids: expected 1 elements"),
      tree({{"nodes_trueleafs", Ints{1, 1}}}, "nodes_trueleafs: expected 1 elements"),
      tree({{"nodes_falseleafs", Ints{1, 1}}}, "nodes_falseleafs: expected 1 elements"),
      tree({{"nodes_modes", Tensor::vector<uint8_t>({0, 0})}}, "nodes_modes: expected 1 elements"),
      tree({{"nodes_splits", Tensor::vector<float>({0, 0})}}, "nodes_splits: expected 1 elements"),
      tree({{"nodes_missing_value_tracks_true", Ints{0, 0}}}, "tracks_true: expected 1 elements"),
      tree({{"leaf_weights", Tensor::vector<float>({1})}}, "leaf_weights: expected 2 elements"),
      tree({{"nodes_modes", bytes(7)}}, "nodes_modes: expected 0 to 6, got 7"),
      tree({{"nodes_modes", bytes(6)}}, "membership_values: expected 1 sets"),
      tree({{"nodes_truenodeids", Ints{2}}},
           "nodes_truenodeids: leaf 2 is outside 0..2 (exclusive)"),
      tree({{"nodes_falsenodeids", Ints{-1}}}, "nodes_falsenodeids: leaf -1 is outside 0..2"),
      tree({{"nodes_falseleafs", Ints{0}}},
           "nodes_falsenodeids: node 1 is outside 0..1 (exclusive)"),
      tree({{"tree_roots", Ints{1}}}, "tree_roots"),
      tree({{"nodes_falseleafs", Ints{0}}, {"nodes_falsenodeids", Ints{0}}}, "a cycle"),
      tree({{"aggregate_function", 9}}, "aggregate_function"),
      tree({{"post_transform", 9}}, "post_transform"),
      tree({{"n_targets", 0}}, "n_targets: expected at least 1, got 0"),
      tree({{"leaf_targetids", Ints{0, 1}}}, "a leaf votes for target 1"),
  });
}

TEST(LearningRefusals, Text) {
  const Datum words = strings({"a"}), numbers = ints({1, 2});
  const auto grams = [&](const AttrMap& more, const char* mention, const Datum& given) {
    const AttrMap attrs{{"max_gram_length", 1},     {"max_skip_count", 0},
                        {"min_gram_length", 1},     {"mode", string("TF")},
                        {"ngram_counts", Ints{0}},  {"ngram_indexes", Ints{0, 1}},
                        {"pool_int64s", Ints{1, 2}}};
    return Refused{"TfIdfVectorizer", {given}, with(attrs, more), mention};
  };
  EXPECT_EQ(error_of("TfIdfVectorizer", {numbers}, grams({}, "", numbers).attrs), "");
  const char *normalizer = "StringNormalizer", *regex = "RegexFullMatch";
  expect_refused(std::vector<Refused>{
      grams({{"mode", string("odd")}}, "mode: expected TF, IDF or TFIDF, got \"odd\"", numbers),
      grams({{"min_gram_length", 0}}, "gram lengths: expected 1 or more, got 0 to 1", numbers),
      grams({{"min_gram_length", 2}}, "gram lengths: expected 1 or more, got 2 to 1", numbers),
      grams({{"max_skip_count", -1}}, "max_skip_count: expected at least 0, got -1", numbers),
      grams({{"pool_strings", Strings{"a"}}}, "both pool_int64s and pool_strings are given",
            numbers),
      grams({{"mode", string("IDF")}, {"weights", Floats{1}}}, "weights: expected 2 elements",
            numbers),
      grams({}, "pool_strings is missing for an input of string", words),
      grams({}, "expected shape [C] or [N, C]", zeros({1, 1, 1}, DType::kInt64)),
      grams({{"ngram_indexes", Ints{}}}, "ngram_indexes is empty", numbers),
      grams({{"ngram_indexes", Ints{-1, 0}}}, "ngram_indexes: expected at least 0, got -1",
            numbers),
      grams({{"ngram_indexes", Ints{0, INT64_MAX}}}, "ngram_indexes: expected at least 0", numbers),
      grams({{"ngram_counts", Ints{3}}}, "1-grams end before they begin or past the pool", numbers),
      grams({{"ngram_counts", Ints{-1}}}, "1-grams end before they begin or past the pool",
            numbers),
      grams({{"ngram_counts", Ints{2, 1}}}, "1-grams end before they begin or past", numbers),
      grams({{"ngram_counts", Ints{0, 1}}}, "the pool has 1 items for 2-grams", numbers),
      grams({{"ngram_indexes", Ints{0}}}, "fewer elements than the pool has n-grams", numbers),
      {normalizer,
       {words},
       {{"case_change_action", string("odd")}},
       "case_change_action: expected NONE, LOWER or UPPER, got \"odd\""},
      {normalizer, {zeros({2, 2}, DType::kString)}, {}, "expected shape [C] or [1, C]"},
      {normalizer, {zeros({}, DType::kString)}, {}, "expected shape [C] or [1, C]"},
      {regex, {words}, {}, "the attribute pattern is missing"},
      {regex, {words}, {{"pattern", string("(")}}, "RegexFullMatch: pattern: "},
  });
}

TEST(LearningRefusals, BoxSelection) {
  const Datum boxes = zeros({1, 2, 4}), scores = zeros({1, 1, 2}), most = ints({1});
  const char* op = "NonMaxSuppression";
  const auto number = [](float value) -> Datum { return Tensor::scalar(value); };
  expect_refused(std::vector<Refused>{
      {op, {x, scores}, {}, "input boxes (float[2, 3]): expected rank 3, got 2"},
      {op, {boxes, x}, {}, "input scores (float[2, 3]): expected rank 3, got 2"},
      {op,
       {boxes, scores, ints({1, 2})},
       {},
       "input max_output_boxes_per_class (int64[2]): expected"},
      {op, {boxes, scores, most, row}, {}, "input iou_threshold (float[3]): expected a scalar"},
      {op,
       {boxes, scores, most, scalar, row},
       {},
       "input score_threshold (float[3]): expected a sc"},
      {op, {boxes, scores, most, number(1.5f)}, {}, "iou_threshold: expected 0 to 1", kBadArgument},
      {op, {boxes, scores, most, number(-1)}, {}, "iou_threshold: expected 0 to 1", kBadArgument},
      {op, {zeros({1, 2, 3}), scores}, {}, "the last dim of boxes: 3 and 4 differ"},
      {op, {zeros({1, 3, 4}), scores}, {}, "boxes and scores: 3 and 2 differ"},
  });
}

TEST(LearningRefusals, Updates) {
  const Datum rate = scalar, step = Tensor::scalar(int64_t{1}), two = zeros({2});
  const char *adagrad = "ai.onnx.preview.training::Adagrad",
             *momentum = "ai.onnx.preview.training::Momentum";
  const AttrMap settings{{"alpha", 0.f}, {"beta", 0.f}, {"norm_coefficient", 0.f}};
  expect_refused(std::vector<Refused>{
      {adagrad, {two, step, x, x, x}, {}, "input R (float[2]): expected a scalar", kBadModel, 2},
      {adagrad,
       {rate, ints({1, 2}), x, x, x},
       {},
       "input T (int64[2]): expected a scalar",
       kBadModel,
       2},
      {adagrad, {rate, step, x, x}, {}, "expected R, T and 3 inputs for each tensor", kBadModel, 2},
      {adagrad, {rate, step, x, x, x}, {}, "expected 2 outputs, got 1"},
      {adagrad,
       {rate, step, x, zeros({2, 3}, DType::kDouble), x},
       {},
       "must have the type of",
       kBadModel,
       2},
      {adagrad, {rate, step, x, row, x}, {}, "must have the shape [2, 3]", kBadModel, 2},
      {adagrad, {rate, step, x, zeros({2, 4}), x}, {}, "4 and 3 differ", kBadModel, 2},
      {momentum,
       {rate, step, x, x, x},
       with(settings, {{"mode", string("odd")}}),
       "mode: expected standard or nesterov, got odd",
       kBadModel,
       2},
  });
  const char* sgd = nullptr;
  for (const OpDef* op : all_ops()) {
    if (op->domain == "sardonyx" &&
        op->signature.starts_with("(X: T, G: T, rate: R, count?: int64"))
      sgd = op->name.data();
  }
  ASSERT_TRUE(sgd);
  const string name = "sardonyx::" + string(sgd);
  expect_refused(std::vector<Refused>{
      {name.c_str(), {x, x, two}, {}, "input rate (float[2]): expected a scalar"},
      {name.c_str(), {x, row, rate}, {}, "must have the shape [2, 3]"},
      {name.c_str(), {x, zeros({2, 4}), rate}, {}, "4 and 3 differ"},
      {name.c_str(), {x, x, rate}, {}, "'s next value, which is missing", kBadModel, 2},
  });
}

}  // namespace
}  // namespace sardonyx
