// Classic machine learning: the domain ai.onnx.ml.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op_types.h"

namespace sardonyx::eager::op {

namespace ml {

struct TreeEnsembleAttrs {
  int64_t aggregate_function = 1;
  OptionalList<int64_t> leaf_targetids = {};  // required
  Tensor leaf_weights = {};  // required
  Tensor membership_values = {};
  std::optional<int64_t> n_targets = {};
  OptionalList<int64_t> nodes_falseleafs = {};  // required
  OptionalList<int64_t> nodes_falsenodeids = {};  // required
  OptionalList<int64_t> nodes_featureids = {};  // required
  Tensor nodes_hitrates = {};
  std::vector<int64_t> nodes_missing_value_tracks_true = {};
  Tensor nodes_modes = {};  // required
  Tensor nodes_splits = {};  // required
  OptionalList<int64_t> nodes_trueleafs = {};  // required
  OptionalList<int64_t> nodes_truenodeids = {};  // required
  int64_t post_transform = 0;
  OptionalList<int64_t> tree_roots = {};  // required
};
// The aggregated leaf values of trees for each row of X [N, F]: [N, targets].
// (X: T) -> (Y: T); T: float, float16, double
Tensor TreeEnsemble(const Tensor& X, const TreeEnsembleAttrs& attrs, Loc loc = Loc::current());

struct TreeEnsembleClassifierAttrs {
  std::vector<float> base_values = {};
  Tensor base_values_as_tensor = {};
  std::vector<int64_t> nodes_falsenodeids = {};
  std::vector<int64_t> nodes_featureids = {};
  std::vector<float> nodes_hitrates = {};
  Tensor nodes_hitrates_as_tensor = {};
  std::vector<int64_t> nodes_missing_value_tracks_true = {};
  std::vector<std::string> nodes_modes = {};
  std::vector<int64_t> nodes_nodeids = {};
  std::vector<int64_t> nodes_treeids = {};
  std::vector<int64_t> nodes_truenodeids = {};
  std::vector<float> nodes_values = {};
  Tensor nodes_values_as_tensor = {};
  std::string post_transform = "NONE";
  std::vector<int64_t> class_ids = {};
  std::vector<int64_t> class_nodeids = {};
  std::vector<int64_t> class_treeids = {};
  std::vector<float> class_weights = {};
  Tensor class_weights_as_tensor = {};
  std::vector<int64_t> classlabels_int64s = {};
  std::vector<std::string> classlabels_strings = {};
};
// The class of each row of X [N, F] by a vote of trees, and the scores [N, classes].
// (X: T1) -> (Y: T2, Z: float); T1: float, int32, int64, double; T2: int64, string
std::vector<Tensor> TreeEnsembleClassifier(const Tensor& X,
    const TreeEnsembleClassifierAttrs& attrs = {}, Loc loc = Loc::current());

struct TreeEnsembleRegressorAttrs {
  std::vector<float> base_values = {};
  Tensor base_values_as_tensor = {};
  std::vector<int64_t> nodes_falsenodeids = {};
  std::vector<int64_t> nodes_featureids = {};
  std::vector<float> nodes_hitrates = {};
  Tensor nodes_hitrates_as_tensor = {};
  std::vector<int64_t> nodes_missing_value_tracks_true = {};
  std::vector<std::string> nodes_modes = {};
  std::vector<int64_t> nodes_nodeids = {};
  std::vector<int64_t> nodes_treeids = {};
  std::vector<int64_t> nodes_truenodeids = {};
  std::vector<float> nodes_values = {};
  Tensor nodes_values_as_tensor = {};
  std::string post_transform = "NONE";
  std::string aggregate_function = "SUM";
  std::optional<int64_t> n_targets = {};
  std::vector<int64_t> target_ids = {};
  std::vector<int64_t> target_nodeids = {};
  std::vector<int64_t> target_treeids = {};
  std::vector<float> target_weights = {};
  Tensor target_weights_as_tensor = {};
};
// The aggregated values of trees for each row of X [N, F]: [N, n_targets].
// (X: T) -> (Y: float); T: float, int32, int64, double
Tensor TreeEnsembleRegressor(const Tensor& X, const TreeEnsembleRegressorAttrs& attrs = {},
    Loc loc = Loc::current());

struct BinarizerAttrs {
  float threshold = 0.f;
};
// 1 where the element is above the threshold, else 0.
// (X: T) -> (Y: T); T: float, int32, int64, double
Tensor Binarizer(const Tensor& X, const BinarizerAttrs& attrs = {}, Loc loc = Loc::current());

struct ImputerAttrs {
  std::vector<float> imputed_value_floats = {};
  std::vector<int64_t> imputed_value_int64s = {};
  float replaced_value_float = 0.f;
  int64_t replaced_value_int64 = 0;
};
// X with a given value in place of missing ones, for each feature or all.
// (X: T) -> (Y: T); T: float, int32, int64, double
Tensor Imputer(const Tensor& X, const ImputerAttrs& attrs = {}, Loc loc = Loc::current());

struct LinearClassifierAttrs {
  std::vector<int64_t> classlabels_ints = {};
  std::vector<std::string> classlabels_strings = {};
  OptionalList<float> coefficients = {};  // required
  std::vector<float> intercepts = {};
  int64_t multi_class = 0;
  std::string post_transform = "NONE";
};
// The class of each row of X [N, F] by linear scores, and the scores [N, classes].
// (X: T1) -> (Y: T2, Z: float); T1: float, int32, int64, double; T2: int64, string
std::vector<Tensor> LinearClassifier(const Tensor& X, const LinearClassifierAttrs& attrs,
    Loc loc = Loc::current());

struct LinearRegressorAttrs {
  std::vector<float> coefficients = {};
  std::vector<float> intercepts = {};
  std::string post_transform = "NONE";
  int64_t targets = 1;
};
// X [N, F] times coefficients plus intercepts: [N, targets].
// (X: T) -> (Y: float); T: float, int32, int64, double
Tensor LinearRegressor(const Tensor& X, const LinearRegressorAttrs& attrs = {},
    Loc loc = Loc::current());

struct NormalizerAttrs {
  std::string norm = "MAX";
};
// Each row divided by its norm: MAX, L1 or L2.
// (X: T) -> (Y: float); T: float, int32, int64, double
Tensor Normalizer(const Tensor& X, const NormalizerAttrs& attrs = {}, Loc loc = Loc::current());

struct ScalerAttrs {
  std::vector<float> offset = {};
  std::vector<float> scale = {};
};
// (X - offset) * scale, for each feature or all.
// (X: T) -> (Y: float); T: float, int32, int64, double
Tensor Scaler(const Tensor& X, const ScalerAttrs& attrs = {}, Loc loc = Loc::current());

struct SVMClassifierAttrs {
  std::vector<float> coefficients = {};
  std::vector<float> kernel_params = {};
  std::string kernel_type = "LINEAR";
  std::string post_transform = "NONE";
  std::vector<float> rho = {};
  std::vector<float> support_vectors = {};
  std::vector<int64_t> classlabels_ints = {};
  std::vector<std::string> classlabels_strings = {};
  std::vector<float> prob_a = {};
  std::vector<float> prob_b = {};
  std::vector<int64_t> vectors_per_class = {};
};
// The class of each row of X [N, F] by support vectors, and the scores.
// (X: T1) -> (Y: T2, Z: float); T1: float, int32, int64, double; T2: int64, string
std::vector<Tensor> SVMClassifier(const Tensor& X, const SVMClassifierAttrs& attrs = {},
    Loc loc = Loc::current());

struct SVMRegressorAttrs {
  std::vector<float> coefficients = {};
  std::vector<float> kernel_params = {};
  std::string kernel_type = "LINEAR";
  std::string post_transform = "NONE";
  std::vector<float> rho = {};
  std::vector<float> support_vectors = {};
  int64_t n_supports = 0;
  int64_t one_class = 0;
};
// The value of each row of X [N, F] by support vectors: [N, 1].
// (X: T) -> (Y: float); T: float, int32, int64, double
Tensor SVMRegressor(const Tensor& X, const SVMRegressorAttrs& attrs = {}, Loc loc = Loc::current());

// The elements of the last axis of X at the indices Y.
// (X: T, Y: int64) -> (Z: T); T: float, int32, int64, string, double
Tensor ArrayFeatureExtractor(const Tensor& X, const Tensor& Y, Loc loc = Loc::current());

struct CategoryMapperAttrs {
  std::vector<int64_t> cats_int64s = {};
  std::vector<std::string> cats_strings = {};
  int64_t default_int64 = -1;
  std::string default_string = "_Unused";
};
// Strings as their integers, or integers as their strings; defaults for those that are not listed.
// (X: T1) -> (Y: T2); T1: int64, string; T2: int64, string
Tensor CategoryMapper(const Tensor& X, const CategoryMapperAttrs& attrs = {},
    Loc loc = Loc::current());

struct FeatureVectorizerAttrs {
  std::vector<int64_t> inputdimensions = {};
};
// The inputs [N, C] joined as floats: [N, sum of C].
// (X...: T1) -> (Y: float); T1: float, int32, int64, double
Tensor FeatureVectorizer(const std::vector<Tensor>& X, const FeatureVectorizerAttrs& attrs = {},
    Loc loc = Loc::current());

struct LabelEncoderAttrs {
  float default_float = -0.f;
  int64_t default_int64 = -1;
  std::string default_string = "_Unused";
  Tensor default_tensor = {};
  std::vector<float> keys_floats = {};
  std::vector<int64_t> keys_int64s = {};
  std::vector<std::string> keys_strings = {};
  Tensor keys_tensor = {};
  std::vector<float> values_floats = {};
  std::vector<int64_t> values_int64s = {};
  std::vector<std::string> values_strings = {};
  Tensor values_tensor = {};
};
// Each element replaced by its value in a table of keys and values.
// (X: T1) -> (Y: T2); T1: float, int16, int32, int64, string, double; T2: float, int16, int32,
//   int64, string, double
Tensor LabelEncoder(const Tensor& X, const LabelEncoderAttrs& attrs = {}, Loc loc = Loc::current());

struct OneHotEncoderAttrs {
  std::vector<int64_t> cats_int64s = {};
  std::vector<std::string> cats_strings = {};
  int64_t zeros = 1;
};
// Ones at each element's category in a further axis, zeros elsewhere.
// (X: T) -> (Y: float); T: float, int32, int64, string, double
Tensor OneHotEncoder(const Tensor& X, const OneHotEncoderAttrs& attrs = {},
    Loc loc = Loc::current());

struct CastMapAttrs {
  std::string cast_to = "TO_FLOAT";
  std::string map_form = "DENSE";
  int64_t max_map = 1;
};
// The values of a map from integers as a tensor [1, N], dense or sparse.
// (X: T1) -> (Y: T2); T2: float, int64, string
Tensor CastMap(const Tensor& X, const CastMapAttrs& attrs = {}, Loc loc = Loc::current());

struct DictVectorizerAttrs {
  std::vector<int64_t> int64_vocabulary = {};
  std::vector<std::string> string_vocabulary = {};
};
// The values of a map in the order of a vocabulary: [1, N], zeros for what it lacks.
// (X: T1) -> (Y: T2); T2: float, int64, string, double
Tensor DictVectorizer(const Tensor& X, const DictVectorizerAttrs& attrs = {},
    Loc loc = Loc::current());

struct ZipMapAttrs {
  std::vector<int64_t> classlabels_int64s = {};
  std::vector<std::string> classlabels_strings = {};
};
// The rows [N, classes] as a sequence of maps from class to value.
// (X: float) -> (Z: T)
Tensor ZipMap(const Tensor& X, const ZipMapAttrs& attrs = {}, Loc loc = Loc::current());


}  // namespace ml


}  // namespace sardonyx::eager::op
