#include "providers/cpu/ml/tree_traversal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace sardonyx::cpu {

using ops::NodeMode;

namespace {

bool is_ordered(NodeMode comparison) {
  return comparison == NodeMode::kLessOrEqual || comparison == NodeMode::kLess ||
         comparison == NodeMode::kGreaterOrEqual || comparison == NodeMode::kGreater;
}

// x < split is x <= the number before it; nothing is less than the least number.
template <typename T>
T before(T split) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  if (split == -kInfinity) return std::numeric_limits<T>::quiet_NaN();
  return std::nextafter(split, -kInfinity);
}

}  // namespace

template <typename T>
std::optional<TreeTraversal<T>> TreeTraversal<T>::of(const ops::TreeEnsembleModel<T>& model) {
  constexpr size_t kMaxNodes = 1u << 30;
  size_t weights = 0;
  for (const auto& leaf : model.leaves)
    weights += leaf.size();
  if (model.branches.empty() || model.branches.size() + model.leaves.size() > kMaxNodes ||
      weights > kMaxNodes) {
    return std::nullopt;
  }
  TreeTraversal made;
  made.branches_ = model.branches.size();
  made.nodes_.reserve(made.branches_ + model.leaves.size());
  for (const ops::Branch<T>& branch : model.branches) {
    if (!is_ordered(branch.comparison) || branch.feature >= kNanBit || std::isnan(branch.split))
      return std::nullopt;
    made.add_branch(branch);
  }
  for (const auto& leaf : model.leaves) {
    const auto self = static_cast<int32_t>(made.nodes_.size());
    made.nodes_.push_back({T(0), 0, {self, self}});
    made.first_weights_.push_back(static_cast<uint32_t>(made.weights_.size()));
    made.weights_.insert(made.weights_.end(), leaf.begin(), leaf.end());
  }
  made.first_weights_.push_back(static_cast<uint32_t>(made.weights_.size()));
  made.find_single_votes();
  made.measure_depths(model);
  if constexpr (std::is_same_v<T, float>) made.mask_trees();
  return made;
}

template <typename T>
void TreeTraversal<T>::find_single_votes() {
  if (weights_.size() + 1 != first_weights_.size()) return;
  for (size_t leaf = 0; leaf < weights_.size(); ++leaf) {
    if (first_weights_[leaf] != leaf || weights_[leaf].target > INT32_MAX) return votes_.clear();
    votes_.push_back({weights_[leaf].weight, static_cast<int32_t>(weights_[leaf].target)});
  }
}

// Greater is "not less or equal" with its ways exchanged, but for NaNs, which are not greater
// either.
template <typename T>
void TreeTraversal<T>::add_branch(const ops::Branch<T>& branch) {
  const NodeMode comparison = branch.comparison;
  const bool exchanged =
      comparison == NodeMode::kGreaterOrEqual || comparison == NodeMode::kGreater;
  const bool is_strict = comparison == NodeMode::kLess || comparison == NodeMode::kGreaterOrEqual;
  const bool nan_passes = branch.nan_is_true != exchanged;
  has_nans_ |= nan_passes;
  const int32_t passed = index_of(exchanged ? branch.if_false : branch.if_true);
  const int32_t failed = index_of(exchanged ? branch.if_true : branch.if_false);
  nodes_.push_back({is_strict ? before(branch.split) : branch.split,
                    static_cast<uint32_t>(branch.feature) | (nan_passes ? kNanBit : 0),
                    {failed, passed}});
}

// Depths of branches whose children are all measured, until none is left: the ensemble was checked
// to have no cycle.
template <typename T>
void TreeTraversal<T>::measure_depths(const ops::TreeEnsembleModel<T>& model) {
  std::vector<int32_t> depths(nodes_.size(), 0);
  std::vector<int32_t> path;
  const auto is_known = [&](int32_t node) {
    return node >= static_cast<int32_t>(branches_) || depths[static_cast<size_t>(node)] > 0;
  };
  for (const ops::NodeRef root : model.roots) {
    path.push_back(index_of(root));
    while (!path.empty()) {
      const int32_t at = path.back();
      const TreeNode& node = nodes_[static_cast<size_t>(at)];
      const size_t waiting = path.size();
      for (const int32_t child : node.next) {
        if (!is_known(at) && !is_known(child)) path.push_back(child);
      }
      if (path.size() > waiting) continue;
      path.pop_back();
      if (is_known(at)) continue;
      depths[static_cast<size_t>(at)] = 1 + std::max(depths[static_cast<size_t>(node.next[0])],
                                                     depths[static_cast<size_t>(node.next[1])]);
    }
    const int32_t node = index_of(root);
    roots_.push_back({node, depths[static_cast<size_t>(node)]});
    depth_ = std::max(depth_, depths[static_cast<size_t>(node)]);
  }
}

template <typename T>
template <bool kNans>
void TreeTraversal<T>::walk(const T* const (&rows)[kLanes], int32_t depth,
                            int32_t (&at)[kLanes]) const {
  // Steps between two checks whether all rows are at a leaf; a check costs about half a step.
  constexpr int32_t kSteps = 4;
  const TreeNode* nodes = nodes_.data();
  const auto branches = static_cast<int32_t>(branches_);
  int32_t here[kLanes];  // in registers
  std::copy_n(at, kLanes, here);
  for (int32_t done = 0; done < depth; done += kSteps) {
#pragma GCC unroll 4
    for (int32_t step = 0; step < kSteps; ++step) {
#pragma GCC unroll 8
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const TreeNode& node = nodes[here[lane]];
        const T value = rows[lane][kNans ? node.feature & ~kNanBit : node.feature];
        bool passes = value <= node.split;
        if constexpr (kNans) passes |= (value != value) & (node.feature >= kNanBit);
        here[lane] = node.next[passes];
      }
    }
    int32_t least = here[0];
#pragma GCC unroll 8
    for (size_t lane = 1; lane < kLanes; ++lane)
      least = std::min(least, here[lane]);
    if (least >= branches) break;
  }
  std::copy_n(here, kLanes, at);
}

template <typename T>
void TreeTraversal<T>::walk_to_leaves(const T* const (&rows)[kLanes], int32_t depth,
                                      int32_t (&at)[kLanes]) const {
  has_nans_ ? walk<true>(rows, depth, at) : walk<false>(rows, depth, at);
}

template <typename T>
void TreeTraversal<T>::add_leaf(int32_t node, ops::Aggregate aggregate,
                                ops::TargetScore<T>* scores) const {
  const size_t leaf = static_cast<size_t>(node) - branches_;
  if (!votes_.empty()) {
    const Vote& vote = votes_[leaf];
    return ops::add_vote<T>({vote.target, vote.weight}, aggregate, scores[vote.target]);
  }
  for (uint32_t i = first_weights_[leaf]; i < first_weights_[leaf + 1]; ++i) {
    ops::add_vote(weights_[i], aggregate, scores[weights_[i].target]);
  }
}

template <typename T>
void TreeTraversal<T>::score(const T* x, size_t features, size_t rows, ops::Aggregate aggregate,
                             size_t targets, ops::TargetScore<T>* scores, float* scratch) const {
  std::fill_n(scores, rows * targets, ops::TargetScore<T>{});
  if constexpr (std::is_same_v<T, float>) {
    if (takes_masks(features, rows))
      return score_masked(x, features, rows, aggregate, targets, scores, scratch);
  }
  const T* lanes[kLanes];
  int32_t at[kLanes];
  size_t row = 0;
  // A few rows traverse several trees at once; many rows traverse one tree after the other.
  for (; rows - row < kLanes && row < rows; ++row) {
    std::fill_n(lanes, kLanes, x + row * features);
    for (size_t tree = 0; tree < roots_.size(); tree += kLanes) {
      const size_t count = std::min(kLanes, roots_.size() - tree);
      int32_t depth = 0;
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const Root& root = roots_[tree + std::min(lane, count - 1)];
        at[lane] = root.node;
        depth = std::max(depth, root.depth);
      }
      walk_to_leaves(lanes, depth, at);
      for (size_t lane = 0; lane < count; ++lane)
        add_leaf(at[lane], aggregate, scores + row * targets);
    }
  }
  if (row == rows) return;
  for (const Root& root : roots_) {
    for (size_t first = 0; first < rows; first += kLanes) {
      const size_t count = std::min(kLanes, rows - first);
      for (size_t lane = 0; lane < kLanes; ++lane) {
        lanes[lane] = x + (first + std::min(lane, count - 1)) * features;
        at[lane] = root.node;
      }
      walk_to_leaves(lanes, root.depth, at);
      for (size_t lane = 0; lane < count; ++lane)
        add_leaf(at[lane], aggregate, scores + (first + lane) * targets);
    }
  }
}

template <typename T>
void TreeTraversal<T>::mask_trees() {
  for (const Root& root : roots_) {
    MaskedTree tree{masked_branches_.size(), 0, masked_leaves_.size(), 0};
    // Trees may share branches, so the number of copies is limited.
    const bool is_small = masked_branches_.size() <= 4 * nodes_.size();
    if (!is_small || !mask_branches(root.node, 0, tree)) {
      masked_trees_.clear();
      masked_branches_.clear();
      masked_leaves_.clear();
      return;
    }
    masked_trees_.push_back(tree);
  }
  const auto is_first = [](const Vote& vote) { return vote.target == 0; };
  if (votes_.empty() || !std::ranges::all_of(votes_, is_first)) return;
  for (const int32_t leaf : masked_leaves_)
    masked_weights_.push_back(
        static_cast<float>(votes_[static_cast<size_t>(leaf) - branches_].weight));
}

// Lists the leaves in the order of a walk that takes the passing side first. A subtree that several
// branches share is listed once for each.
template <typename T>
bool TreeTraversal<T>::mask_branches(int32_t at, size_t depth, MaskedTree& tree) {
  if (at >= static_cast<int32_t>(branches_)) {
    masked_leaves_.push_back(at);
    return ++tree.leaves <= kMaxMaskedLeaves;
  }
  if (depth >= kMaxMaskedLeaves) return false;
  const TreeNode& node = nodes_[static_cast<size_t>(at)];
  const size_t place = masked_branches_.size(), first = tree.leaves;
  ++tree.branches;
  masked_branches_.push_back({static_cast<float>(node.split),
                              node.feature & ~kNanBit,
                              (node.feature & kNanBit) != 0,
                              {~0u, ~0u}});
  if (!mask_branches(node.next[1], depth + 1, tree)) return false;
  for (size_t leaf = first; leaf < tree.leaves; ++leaf)
    masked_branches_[place].kept[leaf / 32] &= ~(1u << leaf % 32);
  return mask_branches(node.next[0], depth + 1, tree);
}

// Whether bit masks pay: enough rows to fill a vector, and few enough features for a table that
// stays in a near cache.
template <typename T>
bool TreeTraversal<T>::takes_masks(size_t features, size_t rows) const {
  constexpr size_t kFewestRows = 8, kMaxFeatures = 2048;
  return !masked_trees_.empty() && rows >= kFewestRows && features <= kMaxFeatures;
}

template <typename T>
size_t TreeTraversal<T>::scratch_floats(size_t features, size_t rows) const {
  if (!takes_masks(features, rows)) return 0;
  return (features + 2) * kRowsAtOnce;  // the rows' features, their leaves and sums
}

template <typename T>
void TreeTraversal<T>::score_masked(const float* x, size_t features, size_t rows,
                                    ops::Aggregate aggregate, size_t targets,
                                    ops::TargetScore<T>* scores, float* scratch) const {
  const size_t unit = masked_rows(), padded = (rows + unit - 1) / unit * unit;
  float *table = scratch, *sums = scratch + features * kRowsAtOnce;
  auto* leaves = reinterpret_cast<int32_t*>(sums + kRowsAtOnce);
  for (size_t feature = 0; feature < features; ++feature) {
    float* to = table + feature * kRowsAtOnce;
    for (size_t row = 0; row < padded; ++row)
      to[row] = row < rows ? x[row * features + feature] : 0;
  }
  const bool is_sum = aggregate == ops::Aggregate::kSum || aggregate == ops::Aggregate::kAverage;
  const bool has_sums = is_sum && targets == 1 && !masked_weights_.empty();
  // Minus zero is the neutral element of addition.
  if (has_sums) std::fill_n(sums, padded, -0.0f);
  for (const MaskedTree& tree : masked_trees_) {
    find_leaves(masked_branches_.data() + tree.first_branch, tree.branches, tree.is_wide(), table,
                kRowsAtOnce, rows, leaves);
    if (has_sums) {
      add_leaf_weights(masked_weights_.data() + tree.first_leaf, leaves, rows, sums);
      continue;
    }
    for (size_t row = 0; row < rows; ++row) {
      const auto leaf = tree.first_leaf + static_cast<size_t>(leaves[row]);
      add_leaf(masked_leaves_[leaf], aggregate, scores + row * targets);
    }
  }
  for (size_t row = 0; has_sums && row < rows; ++row)
    scores[row] = {static_cast<T>(sums[row]), true};
}

template class TreeTraversal<float>;
template class TreeTraversal<double>;

}  // namespace sardonyx::cpu
