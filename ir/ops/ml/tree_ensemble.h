// Ensembles of decision trees: built and checked from the attributes of the ops of ai.onnx.ml, then
// walked for each row of features.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::ops {

// The numbers are those of TreeEnsemble's attributes.
enum class NodeMode : uint8_t {
  kLessOrEqual,
  kLess,
  kGreaterOrEqual,
  kGreater,
  kEqual,
  kNotEqual,
  kMember
};
enum class Aggregate { kAverage, kSum, kMin, kMax };
// Throws kInvalidModel.
Aggregate aggregate_named(std::string_view name);

// A branch (>= 0) or a leaf (~leaf).
using NodeRef = int64_t;

template <typename T>
struct Branch {
  NodeMode comparison = NodeMode::kLessOrEqual;
  bool nan_is_true = false;
  int64_t feature = 0;
  T split = 0;
  size_t members = 0;  // of kMember: index into TreeEnsembleModel::members
  NodeRef if_true = 0, if_false = 0;
};

template <typename T>
struct LeafWeight {
  int64_t target;
  T weight;
};

template <typename T>
struct TargetScore {
  T value = 0;
  bool present = false;  // did any leaf speak of it?
};

// Puts a leaf's weight to the target's score.
template <typename T>
void add_vote(const LeafWeight<T>& vote, Aggregate aggregate, TargetScore<T>& score) {
  if (!score.present) {
    score.value = vote.weight;
  } else if (aggregate == Aggregate::kMin) {
    score.value = std::min(score.value, vote.weight);
  } else if (aggregate == Aggregate::kMax) {
    score.value = std::max(score.value, vote.weight);
  } else {
    score.value += vote.weight;
  }
  score.present = true;
}

template <typename T>
struct TreeEnsembleModel {
  std::vector<Branch<T>> branches;
  std::vector<std::vector<LeafWeight<T>>> leaves;
  std::vector<std::vector<T>> members;  // sorted
  std::vector<NodeRef> roots;
  int64_t targets = 0;
  // Of all weights that were listed, where there are any.
  bool has_one_target = false, is_nonnegative = true;

  // Throws kInvalidModel where a walk could leave the ensemble, not end, or name a target or (if
  // `features` >= 0) a feature that there is not.
  void check(int64_t features) const;
  const std::vector<LeafWeight<T>>& leaf_of(NodeRef root, const T* row) const;
  // The leaves of one row, assembled for each target. An average is not yet divided.
  void score(const T* row, Aggregate aggregate, std::span<TargetScore<T>> scores) const;
};

// The lists of TreeEnsembleRegressor and -Classifier, each entry a node (leaves among them) or a
// weight of a leaf.
template <typename T>
struct NodeLists {
  const std::vector<int64_t>&tree_ids, &node_ids, &features, &if_true, &if_false, &nan_is_true;
  const std::vector<std::string>& modes;
  const std::vector<T> splits;
  const std::vector<int64_t>&weight_trees, &weight_nodes, &weight_targets;
  const std::vector<T> weights;
  int64_t targets;
};
// The first listed node of a tree is its root. Throws kInvalidModel.
template <typename T>
TreeEnsembleModel<T> build_ensemble(const NodeLists<T>& lists);

// The lists of TreeEnsemble, branches and leaves apart.
template <typename T>
struct BranchLists {
  const std::vector<int64_t>&roots, &features, &if_true, &if_false, &true_is_leaf, &false_is_leaf,
      &nan_is_true;
  const std::vector<int64_t> modes;
  const std::vector<T> splits, members;
  const std::vector<int64_t>& leaf_targets;
  const std::vector<T> leaf_weights;
  int64_t targets;
};
template <typename T>
TreeEnsembleModel<T> build_ensemble(const BranchLists<T>& lists);

}  // namespace sardonyx::ops
