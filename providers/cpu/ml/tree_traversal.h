// Decision trees laid out for walks of several at once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/ops/ml/tree_ensemble.h"
#include "providers/cpu/ml/quick_scorer.h"

namespace sardonyx::cpu {

// A tree ensemble with one kind of comparison for all branches; leaves are nodes whose children are
// themselves. So every step of a traversal executes the same loads, and traversals of several rows
// overlap.
template <typename T>
class TreeTraversal {
 public:
  // nullopt where a branch asks for equality or membership or is split at NaN, where there is no
  // branch or there are too many nodes.
  static std::optional<TreeTraversal> of(const ops::TreeEnsembleModel<T>& model);

  static constexpr size_t kRowsAtOnce = 64;
  size_t trees() const { return roots_.size(); }
  // Steps from a root to the leaf that is farthest.
  int depth() const { return depth_; }

  // The floats of scratch memory that score() needs for up to `rows` rows.
  size_t scratch_floats(size_t features, size_t rows) const;
  // The scores [rows, targets] of up to kRowsAtOnce rows: leaves are aggregated in the order of the
  // trees, as in TreeEnsembleModel::score(). An average is not yet divided.
  void score(const T* x, size_t features, size_t rows, ops::Aggregate aggregate, size_t targets,
             ops::TargetScore<T>* scores, float* scratch) const;

 private:
  struct TreeNode {
    T split;
    uint32_t feature;  // kNanBit is set where NaN takes next[1]
    int32_t next[2];   // [1] where x <= split
  };
  struct Root {
    int32_t node;
    int32_t depth;
  };
  static constexpr uint32_t kNanBit = 1u << 31;
  static constexpr size_t kLanes = 8;

  void add_branch(const ops::Branch<T>& branch);
  void measure_depths(const ops::TreeEnsembleModel<T>& model);
  int32_t index_of(ops::NodeRef ref) const {
    return static_cast<int32_t>(ref >= 0 ? ref : static_cast<int64_t>(branches_) + ~ref);
  }
  template <bool kNans>
  void walk(const T* const (&rows)[kLanes], int32_t depth, int32_t (&at)[kLanes]) const;
  void walk_to_leaves(const T* const (&rows)[kLanes], int32_t depth, int32_t (&at)[kLanes]) const;
  void add_leaf(int32_t node, ops::Aggregate aggregate, ops::TargetScore<T>* scores) const;
  void find_single_votes();

  // Trees of float with few leaves, for find_leaves(); none where one of them is larger.
  struct MaskedTree {
    size_t first_branch, branches, first_leaf, leaves;
    bool is_wide() const { return leaves > kMaxMaskedLeaves / 2; }
  };
  void mask_trees();
  bool mask_branches(int32_t node, size_t depth, MaskedTree& tree);
  bool takes_masks(size_t features, size_t rows) const;
  void score_masked(const float* x, size_t features, size_t rows, ops::Aggregate aggregate,
                    size_t targets, ops::TargetScore<T>* scores, float* scratch) const;

  std::vector<TreeNode> nodes_;
  std::vector<Root> roots_;
  std::vector<uint32_t> first_weights_;  // per leaf, and one past the last leaf
  std::vector<ops::LeafWeight<T>> weights_;
  struct Vote {
    T weight;
    int32_t target;
  };
  std::vector<Vote> votes_;  // per leaf, where each has one weight; else empty
  std::vector<MaskedTree> masked_trees_;
  std::vector<MaskedBranch> masked_branches_;
  std::vector<int32_t> masked_leaves_;  // nodes, in the order of the bits
  std::vector<float> masked_weights_;   // of these leaves, where each has one for target 0
  size_t branches_ = 0;
  int depth_ = 0;
  bool has_nans_ = false;
};

}  // namespace sardonyx::cpu
