// The attributes of the ops of tree ensembles in ai.onnx.ml, and the ensembles they describe.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ir/attributes.h"
#include "ir/ops/ml/post_transform.h"
#include "ir/ops/ml/tree_ensemble.h"

namespace sardonyx::ops {

struct TreeEnsembleAttrs {
  int64_t aggregate_function = 1;
  std::vector<int64_t> leaf_targetids;
  Tensor leaf_weights;
  std::optional<Tensor> membership_values;
  std::optional<int64_t> n_targets;
  std::vector<int64_t> nodes_falseleafs, nodes_falsenodeids, nodes_featureids;
  std::optional<Tensor> nodes_hitrates;
  std::vector<int64_t> nodes_missing_value_tracks_true;
  Tensor nodes_modes, nodes_splits;
  std::vector<int64_t> nodes_trueleafs, nodes_truenodeids;
  int64_t post_transform = 0;
  std::vector<int64_t> tree_roots;
  static auto fields() {
    using A = TreeEnsembleAttrs;
    return std::tuple{field("aggregate_function", &A::aggregate_function),
                      required("leaf_targetids", &A::leaf_targetids),
                      required("leaf_weights", &A::leaf_weights),
                      field("membership_values", &A::membership_values),
                      field("n_targets", &A::n_targets),
                      required("nodes_falseleafs", &A::nodes_falseleafs),
                      required("nodes_falsenodeids", &A::nodes_falsenodeids),
                      required("nodes_featureids", &A::nodes_featureids),
                      field("nodes_hitrates", &A::nodes_hitrates),
                      field("nodes_missing_value_tracks_true", &A::nodes_missing_value_tracks_true),
                      required("nodes_modes", &A::nodes_modes),
                      required("nodes_splits", &A::nodes_splits),
                      required("nodes_trueleafs", &A::nodes_trueleafs),
                      required("nodes_truenodeids", &A::nodes_truenodeids),
                      field("post_transform", &A::post_transform),
                      required("tree_roots", &A::tree_roots)};
  }
};

// The lists that TreeEnsembleRegressor and -Classifier have in common.
struct TreeNodeAttrs {
  std::vector<float> base_values;
  std::optional<Tensor> base_values_as_tensor;
  std::vector<int64_t> nodes_falsenodeids, nodes_featureids;
  std::vector<float> nodes_hitrates;
  std::optional<Tensor> nodes_hitrates_as_tensor;
  std::vector<int64_t> nodes_missing_value_tracks_true;
  std::vector<std::string> nodes_modes;
  std::vector<int64_t> nodes_nodeids, nodes_treeids, nodes_truenodeids;
  std::vector<float> nodes_values;
  std::optional<Tensor> nodes_values_as_tensor;
  std::string post_transform = "NONE";
  template <typename A>
  static auto shared_fields() {
    return std::tuple{
        Field<A, std::vector<float>>{"base_values", &A::base_values},
        Field<A, std::optional<Tensor>>{"base_values_as_tensor", &A::base_values_as_tensor},
        Field<A, std::vector<int64_t>>{"nodes_falsenodeids", &A::nodes_falsenodeids},
        Field<A, std::vector<int64_t>>{"nodes_featureids", &A::nodes_featureids},
        Field<A, std::vector<float>>{"nodes_hitrates", &A::nodes_hitrates},
        Field<A, std::optional<Tensor>>{"nodes_hitrates_as_tensor", &A::nodes_hitrates_as_tensor},
        Field<A, std::vector<int64_t>>{"nodes_missing_value_tracks_true",
                                       &A::nodes_missing_value_tracks_true},
        Field<A, std::vector<std::string>>{"nodes_modes", &A::nodes_modes},
        Field<A, std::vector<int64_t>>{"nodes_nodeids", &A::nodes_nodeids},
        Field<A, std::vector<int64_t>>{"nodes_treeids", &A::nodes_treeids},
        Field<A, std::vector<int64_t>>{"nodes_truenodeids", &A::nodes_truenodeids},
        Field<A, std::vector<float>>{"nodes_values", &A::nodes_values},
        Field<A, std::optional<Tensor>>{"nodes_values_as_tensor", &A::nodes_values_as_tensor},
        Field<A, std::string>{"post_transform", &A::post_transform}};
  }
};

struct TreeRegressorAttrs : TreeNodeAttrs {
  std::string aggregate_function = "SUM";
  std::optional<int64_t> n_targets;
  std::vector<int64_t> target_ids, target_nodeids, target_treeids;
  std::vector<float> target_weights;
  std::optional<Tensor> target_weights_as_tensor;
  static auto fields() {
    using A = TreeRegressorAttrs;
    return std::tuple_cat(
        shared_fields<A>(),
        std::tuple{field("aggregate_function", &A::aggregate_function),
                   field("n_targets", &A::n_targets), field("target_ids", &A::target_ids),
                   field("target_nodeids", &A::target_nodeids),
                   field("target_treeids", &A::target_treeids),
                   field("target_weights", &A::target_weights),
                   field("target_weights_as_tensor", &A::target_weights_as_tensor)});
  }
};

struct TreeClassifierAttrs : TreeNodeAttrs {
  std::vector<int64_t> class_ids, class_nodeids, class_treeids;
  std::vector<float> class_weights;
  std::optional<Tensor> class_weights_as_tensor;
  std::vector<int64_t> classlabels_int64s;
  std::vector<std::string> classlabels_strings;
  static auto fields() {
    using A = TreeClassifierAttrs;
    return std::tuple_cat(
        shared_fields<A>(),
        std::tuple{field("class_ids", &A::class_ids), field("class_nodeids", &A::class_nodeids),
                   field("class_treeids", &A::class_treeids),
                   field("class_weights", &A::class_weights),
                   field("class_weights_as_tensor", &A::class_weights_as_tensor),
                   field("classlabels_int64s", &A::classlabels_int64s),
                   field("classlabels_strings", &A::classlabels_strings)});
  }
};

ClassLabels labels_of(const TreeClassifierAttrs& attrs);

// The ensembles, with all numbers as T. Throw kInvalidModel.
template <typename T>
TreeEnsembleModel<T> build_ensemble(const TreeEnsembleAttrs& attrs);
template <typename T>
TreeEnsembleModel<T> build_ensemble(const TreeRegressorAttrs& attrs);
template <typename T>
TreeEnsembleModel<T> build_ensemble(const TreeClassifierAttrs& attrs);

// The base values, which are added to the scores: none, one for all targets or one for each. Throws
// kInvalidModel where they are given twice.
template <typename T>
std::vector<T> base_values(const TreeNodeAttrs& attrs);

// Whether scores for X of type `input` are summed in double.
bool in_double(const TreeEnsembleAttrs& attrs, DType input);
bool in_double(const TreeRegressorAttrs& attrs, DType input);
bool in_double(const TreeClassifierAttrs& attrs, DType input);

}  // namespace sardonyx::ops
