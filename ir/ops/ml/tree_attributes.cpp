#include "ir/ops/ml/tree_attributes.h"

#include <algorithm>

#include "ir/core/error.h"

namespace sardonyx::ops {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

// A list that may be given as floats or, for doubles, as a tensor.
template <typename T>
std::vector<T> either(const char* name, const Floats& floats, const std::optional<Tensor>& tensor) {
  if (!tensor) return {floats.begin(), floats.end()};
  if (!floats.empty()) {
    fail(ErrorCode::kInvalidModel, "attribute ", name, " is given twice: as floats and as tensor");
  }
  return read_attribute<T>(*tensor);
}

bool has_doubles(const std::optional<Tensor>& tensor) {
  return tensor && tensor->dtype() == DType::kDouble;
}

// The last of the ids plus one, where the number of targets is not given.
int64_t count_targets(const std::optional<int64_t>& given, const Ints& ids) {
  if (given) {
    if (*given < 1) {
      fail(ErrorCode::kInvalidModel, "attribute n_targets: expected at least 1, got ", *given);
    }
    return *given;
  }
  const int64_t last = ids.empty() ? 0 : *std::max_element(ids.begin(), ids.end());
  if (last < 0 || last == INT64_MAX) {
    fail(ErrorCode::kInvalidModel, "ids of targets: ", last, " is out of range");
  }
  return last + 1;
}

template <typename T>
TreeEnsembleModel<T> build_nodes(const TreeNodeAttrs& attrs, const Ints& trees, const Ints& nodes,
                                 const Ints& targets, std::vector<T> weights, int64_t count) {
  const NodeLists<T> lists{
      attrs.nodes_treeids,
      attrs.nodes_nodeids,
      attrs.nodes_featureids,
      attrs.nodes_truenodeids,
      attrs.nodes_falsenodeids,
      attrs.nodes_missing_value_tracks_true,
      attrs.nodes_modes,
      either<T>("nodes_values", attrs.nodes_values, attrs.nodes_values_as_tensor),
      trees,
      nodes,
      targets,
      std::move(weights),
      count};
  return build_ensemble(lists);
}

}  // namespace

template <typename T>
TreeEnsembleModel<T> build_ensemble(const TreeEnsembleAttrs& attrs) {
  const BranchLists<T> lists{
      attrs.tree_roots,
      attrs.nodes_featureids,
      attrs.nodes_truenodeids,
      attrs.nodes_falsenodeids,
      attrs.nodes_trueleafs,
      attrs.nodes_falseleafs,
      attrs.nodes_missing_value_tracks_true,
      attrs.nodes_modes.to_int64s(),
      read_attribute<T>(attrs.nodes_splits),
      attrs.membership_values ? read_attribute<T>(*attrs.membership_values) : std::vector<T>{},
      attrs.leaf_targetids,
      read_attribute<T>(attrs.leaf_weights),
      count_targets(attrs.n_targets, attrs.leaf_targetids)};
  return build_ensemble(lists);
}

template <typename T>
TreeEnsembleModel<T> build_ensemble(const TreeRegressorAttrs& attrs) {
  return build_nodes<T>(
      attrs, attrs.target_treeids, attrs.target_nodeids, attrs.target_ids,
      either<T>("target_weights", attrs.target_weights, attrs.target_weights_as_tensor),
      count_targets(attrs.n_targets, attrs.target_ids));
}

ClassLabels labels_of(const TreeClassifierAttrs& attrs) {
  return {attrs.classlabels_strings, attrs.classlabels_int64s};
}

template <typename T>
TreeEnsembleModel<T> build_ensemble(const TreeClassifierAttrs& attrs) {
  return build_nodes<T>(
      attrs, attrs.class_treeids, attrs.class_nodeids, attrs.class_ids,
      either<T>("class_weights", attrs.class_weights, attrs.class_weights_as_tensor),
      static_cast<int64_t>(labels_of(attrs).size()));
}

template <typename T>
std::vector<T> base_values(const TreeNodeAttrs& attrs) {
  return either<T>("base_values", attrs.base_values, attrs.base_values_as_tensor);
}

bool in_double(const TreeEnsembleAttrs&, DType input) {
  return input == DType::kDouble;
}
bool in_double(const TreeRegressorAttrs& attrs, DType input) {
  return input == DType::kDouble || has_doubles(attrs.nodes_values_as_tensor) ||
         has_doubles(attrs.target_weights_as_tensor) || has_doubles(attrs.base_values_as_tensor);
}
bool in_double(const TreeClassifierAttrs& attrs, DType input) {
  return input == DType::kDouble || has_doubles(attrs.nodes_values_as_tensor) ||
         has_doubles(attrs.class_weights_as_tensor) || has_doubles(attrs.base_values_as_tensor);
}

template TreeEnsembleModel<float> build_ensemble(const TreeEnsembleAttrs&);
template TreeEnsembleModel<double> build_ensemble(const TreeEnsembleAttrs&);
template TreeEnsembleModel<float> build_ensemble(const TreeRegressorAttrs&);
template TreeEnsembleModel<double> build_ensemble(const TreeRegressorAttrs&);
template TreeEnsembleModel<float> build_ensemble(const TreeClassifierAttrs&);
template TreeEnsembleModel<double> build_ensemble(const TreeClassifierAttrs&);
template std::vector<float> base_values(const TreeNodeAttrs&);
template std::vector<double> base_values(const TreeNodeAttrs&);

}  // namespace sardonyx::ops
