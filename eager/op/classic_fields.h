// The fields of the attributes, for conversions.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op/classic.h"

namespace sardonyx::eager::op {

namespace ml {

template <typename F>
void each_field(const TreeEnsembleAttrs*, F&& field) {
  field("aggregate_function", &TreeEnsembleAttrs::aggregate_function);
  field("leaf_targetids", &TreeEnsembleAttrs::leaf_targetids);
  field("leaf_weights", &TreeEnsembleAttrs::leaf_weights);
  field("membership_values", &TreeEnsembleAttrs::membership_values);
  field("n_targets", &TreeEnsembleAttrs::n_targets);
  field("nodes_falseleafs", &TreeEnsembleAttrs::nodes_falseleafs);
  field("nodes_falsenodeids", &TreeEnsembleAttrs::nodes_falsenodeids);
  field("nodes_featureids", &TreeEnsembleAttrs::nodes_featureids);
  field("nodes_hitrates", &TreeEnsembleAttrs::nodes_hitrates);
  field("nodes_missing_value_tracks_true", &TreeEnsembleAttrs::nodes_missing_value_tracks_true);
  field("nodes_modes", &TreeEnsembleAttrs::nodes_modes);
  field("nodes_splits", &TreeEnsembleAttrs::nodes_splits);
  field("nodes_trueleafs", &TreeEnsembleAttrs::nodes_trueleafs);
  field("nodes_truenodeids", &TreeEnsembleAttrs::nodes_truenodeids);
  field("post_transform", &TreeEnsembleAttrs::post_transform);
  field("tree_roots", &TreeEnsembleAttrs::tree_roots);
}
template <typename F>
void each_field(const TreeEnsembleClassifierAttrs*, F&& field) {
  field("base_values", &TreeEnsembleClassifierAttrs::base_values);
  field("base_values_as_tensor", &TreeEnsembleClassifierAttrs::base_values_as_tensor);
  field("nodes_falsenodeids", &TreeEnsembleClassifierAttrs::nodes_falsenodeids);
  field("nodes_featureids", &TreeEnsembleClassifierAttrs::nodes_featureids);
  field("nodes_hitrates", &TreeEnsembleClassifierAttrs::nodes_hitrates);
  field("nodes_hitrates_as_tensor", &TreeEnsembleClassifierAttrs::nodes_hitrates_as_tensor);
  field("nodes_missing_value_tracks_true",
      &TreeEnsembleClassifierAttrs::nodes_missing_value_tracks_true);
  field("nodes_modes", &TreeEnsembleClassifierAttrs::nodes_modes);
  field("nodes_nodeids", &TreeEnsembleClassifierAttrs::nodes_nodeids);
  field("nodes_treeids", &TreeEnsembleClassifierAttrs::nodes_treeids);
  field("nodes_truenodeids", &TreeEnsembleClassifierAttrs::nodes_truenodeids);
  field("nodes_values", &TreeEnsembleClassifierAttrs::nodes_values);
  field("nodes_values_as_tensor", &TreeEnsembleClassifierAttrs::nodes_values_as_tensor);
  field("post_transform", &TreeEnsembleClassifierAttrs::post_transform);
  field("class_ids", &TreeEnsembleClassifierAttrs::class_ids);
  field("class_nodeids", &TreeEnsembleClassifierAttrs::class_nodeids);
  field("class_treeids", &TreeEnsembleClassifierAttrs::class_treeids);
  field("class_weights", &TreeEnsembleClassifierAttrs::class_weights);
  field("class_weights_as_tensor", &TreeEnsembleClassifierAttrs::class_weights_as_tensor);
  field("classlabels_int64s", &TreeEnsembleClassifierAttrs::classlabels_int64s);
  field("classlabels_strings", &TreeEnsembleClassifierAttrs::classlabels_strings);
}
template <typename F>
void each_field(const TreeEnsembleRegressorAttrs*, F&& field) {
  field("base_values", &TreeEnsembleRegressorAttrs::base_values);
  field("base_values_as_tensor", &TreeEnsembleRegressorAttrs::base_values_as_tensor);
  field("nodes_falsenodeids", &TreeEnsembleRegressorAttrs::nodes_falsenodeids);
  field("nodes_featureids", &TreeEnsembleRegressorAttrs::nodes_featureids);
  field("nodes_hitrates", &TreeEnsembleRegressorAttrs::nodes_hitrates);
  field("nodes_hitrates_as_tensor", &TreeEnsembleRegressorAttrs::nodes_hitrates_as_tensor);
  field("nodes_missing_value_tracks_true",
      &TreeEnsembleRegressorAttrs::nodes_missing_value_tracks_true);
  field("nodes_modes", &TreeEnsembleRegressorAttrs::nodes_modes);
  field("nodes_nodeids", &TreeEnsembleRegressorAttrs::nodes_nodeids);
  field("nodes_treeids", &TreeEnsembleRegressorAttrs::nodes_treeids);
  field("nodes_truenodeids", &TreeEnsembleRegressorAttrs::nodes_truenodeids);
  field("nodes_values", &TreeEnsembleRegressorAttrs::nodes_values);
  field("nodes_values_as_tensor", &TreeEnsembleRegressorAttrs::nodes_values_as_tensor);
  field("post_transform", &TreeEnsembleRegressorAttrs::post_transform);
  field("aggregate_function", &TreeEnsembleRegressorAttrs::aggregate_function);
  field("n_targets", &TreeEnsembleRegressorAttrs::n_targets);
  field("target_ids", &TreeEnsembleRegressorAttrs::target_ids);
  field("target_nodeids", &TreeEnsembleRegressorAttrs::target_nodeids);
  field("target_treeids", &TreeEnsembleRegressorAttrs::target_treeids);
  field("target_weights", &TreeEnsembleRegressorAttrs::target_weights);
  field("target_weights_as_tensor", &TreeEnsembleRegressorAttrs::target_weights_as_tensor);
}
template <typename F>
void each_field(const BinarizerAttrs*, F&& field) {
  field("threshold", &BinarizerAttrs::threshold);
}
template <typename F>
void each_field(const ImputerAttrs*, F&& field) {
  field("imputed_value_floats", &ImputerAttrs::imputed_value_floats);
  field("imputed_value_int64s", &ImputerAttrs::imputed_value_int64s);
  field("replaced_value_float", &ImputerAttrs::replaced_value_float);
  field("replaced_value_int64", &ImputerAttrs::replaced_value_int64);
}
template <typename F>
void each_field(const LinearClassifierAttrs*, F&& field) {
  field("classlabels_ints", &LinearClassifierAttrs::classlabels_ints);
  field("classlabels_strings", &LinearClassifierAttrs::classlabels_strings);
  field("coefficients", &LinearClassifierAttrs::coefficients);
  field("intercepts", &LinearClassifierAttrs::intercepts);
  field("multi_class", &LinearClassifierAttrs::multi_class);
  field("post_transform", &LinearClassifierAttrs::post_transform);
}
template <typename F>
void each_field(const LinearRegressorAttrs*, F&& field) {
  field("coefficients", &LinearRegressorAttrs::coefficients);
  field("intercepts", &LinearRegressorAttrs::intercepts);
  field("post_transform", &LinearRegressorAttrs::post_transform);
  field("targets", &LinearRegressorAttrs::targets);
}
template <typename F>
void each_field(const NormalizerAttrs*, F&& field) {
  field("norm", &NormalizerAttrs::norm);
}
template <typename F>
void each_field(const ScalerAttrs*, F&& field) {
  field("offset", &ScalerAttrs::offset);
  field("scale", &ScalerAttrs::scale);
}
template <typename F>
void each_field(const SVMClassifierAttrs*, F&& field) {
  field("coefficients", &SVMClassifierAttrs::coefficients);
  field("kernel_params", &SVMClassifierAttrs::kernel_params);
  field("kernel_type", &SVMClassifierAttrs::kernel_type);
  field("post_transform", &SVMClassifierAttrs::post_transform);
  field("rho", &SVMClassifierAttrs::rho);
  field("support_vectors", &SVMClassifierAttrs::support_vectors);
  field("classlabels_ints", &SVMClassifierAttrs::classlabels_ints);
  field("classlabels_strings", &SVMClassifierAttrs::classlabels_strings);
  field("prob_a", &SVMClassifierAttrs::prob_a);
  field("prob_b", &SVMClassifierAttrs::prob_b);
  field("vectors_per_class", &SVMClassifierAttrs::vectors_per_class);
}
template <typename F>
void each_field(const SVMRegressorAttrs*, F&& field) {
  field("coefficients", &SVMRegressorAttrs::coefficients);
  field("kernel_params", &SVMRegressorAttrs::kernel_params);
  field("kernel_type", &SVMRegressorAttrs::kernel_type);
  field("post_transform", &SVMRegressorAttrs::post_transform);
  field("rho", &SVMRegressorAttrs::rho);
  field("support_vectors", &SVMRegressorAttrs::support_vectors);
  field("n_supports", &SVMRegressorAttrs::n_supports);
  field("one_class", &SVMRegressorAttrs::one_class);
}
template <typename F>
void each_field(const CategoryMapperAttrs*, F&& field) {
  field("cats_int64s", &CategoryMapperAttrs::cats_int64s);
  field("cats_strings", &CategoryMapperAttrs::cats_strings);
  field("default_int64", &CategoryMapperAttrs::default_int64);
  field("default_string", &CategoryMapperAttrs::default_string);
}
template <typename F>
void each_field(const FeatureVectorizerAttrs*, F&& field) {
  field("inputdimensions", &FeatureVectorizerAttrs::inputdimensions);
}
template <typename F>
void each_field(const LabelEncoderAttrs*, F&& field) {
  field("default_float", &LabelEncoderAttrs::default_float);
  field("default_int64", &LabelEncoderAttrs::default_int64);
  field("default_string", &LabelEncoderAttrs::default_string);
  field("default_tensor", &LabelEncoderAttrs::default_tensor);
  field("keys_floats", &LabelEncoderAttrs::keys_floats);
  field("keys_int64s", &LabelEncoderAttrs::keys_int64s);
  field("keys_strings", &LabelEncoderAttrs::keys_strings);
  field("keys_tensor", &LabelEncoderAttrs::keys_tensor);
  field("values_floats", &LabelEncoderAttrs::values_floats);
  field("values_int64s", &LabelEncoderAttrs::values_int64s);
  field("values_strings", &LabelEncoderAttrs::values_strings);
  field("values_tensor", &LabelEncoderAttrs::values_tensor);
}
template <typename F>
void each_field(const OneHotEncoderAttrs*, F&& field) {
  field("cats_int64s", &OneHotEncoderAttrs::cats_int64s);
  field("cats_strings", &OneHotEncoderAttrs::cats_strings);
  field("zeros", &OneHotEncoderAttrs::zeros);
}
template <typename F>
void each_field(const CastMapAttrs*, F&& field) {
  field("cast_to", &CastMapAttrs::cast_to);
  field("map_form", &CastMapAttrs::map_form);
  field("max_map", &CastMapAttrs::max_map);
}
template <typename F>
void each_field(const DictVectorizerAttrs*, F&& field) {
  field("int64_vocabulary", &DictVectorizerAttrs::int64_vocabulary);
  field("string_vocabulary", &DictVectorizerAttrs::string_vocabulary);
}
template <typename F>
void each_field(const ZipMapAttrs*, F&& field) {
  field("classlabels_int64s", &ZipMapAttrs::classlabels_int64s);
  field("classlabels_strings", &ZipMapAttrs::classlabels_strings);
}

}  // namespace ml


}  // namespace sardonyx::eager::op
