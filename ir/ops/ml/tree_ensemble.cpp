#include "ir/ops/ml/tree_ensemble.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "ir/core/error.h"

namespace sardonyx::ops {
namespace {

template <typename... Parts>
[[noreturn]] void reject(const Parts&... parts) {
  fail(ErrorCode::kInvalidModel, parts...);
}

void require_entries(std::string_view name, size_t length, size_t expected, std::string_view of) {
  if (length != expected) {
    reject("attribute ", name, ": expected ", expected, " elements, one for each of ", of, ", got ",
           length);
  }
}

// nullopt for a leaf.
std::optional<NodeMode> comparison_named(const std::string& mode) {
  if (mode == "LEAF") return std::nullopt;
  if (mode == "BRANCH_LEQ") return NodeMode::kLessOrEqual;
  if (mode == "BRANCH_LT") return NodeMode::kLess;
  if (mode == "BRANCH_GTE") return NodeMode::kGreaterOrEqual;
  if (mode == "BRANCH_GT") return NodeMode::kGreater;
  if (mode == "BRANCH_EQ") return NodeMode::kEqual;
  if (mode == "BRANCH_NEQ") return NodeMode::kNotEqual;
  reject("attribute nodes_modes: expected LEAF or BRANCH_ with LEQ, LT, GTE, GT, EQ or NEQ, got '",
         mode, "'");
}

template <typename T>
bool goes_true(const TreeEnsembleModel<T>& model, const Branch<T>& branch, T x) {
  if (branch.nan_is_true && std::isnan(x)) return true;
  switch (branch.comparison) {
    case NodeMode::kLessOrEqual:
      return x <= branch.split;
    case NodeMode::kLess:
      return x < branch.split;
    case NodeMode::kGreaterOrEqual:
      return x >= branch.split;
    case NodeMode::kGreater:
      return x > branch.split;
    case NodeMode::kEqual:
      return x == branch.split;
    case NodeMode::kNotEqual:
      return x != branch.split;
    case NodeMode::kMember:
      break;
  }
  const std::vector<T>& members = model.members[branch.members];
  return !std::isnan(x) && std::binary_search(members.begin(), members.end(), x);
}

// Nodes may share children (exporters write set membership so), but no path may come back to where
// it was. Depth is bounded by the number of branches, not by the stack.
template <typename T>
void check_acyclic(const TreeEnsembleModel<T>& model) {
  enum Mark : uint8_t { kNew, kOpen, kDone };
  std::vector<Mark> marks(model.branches.size(), kNew);
  std::vector<std::pair<NodeRef, int>> path;
  for (const NodeRef root : model.roots) {
    if (root >= 0 && marks[root] == kNew) {
      marks[root] = kOpen;
      path.emplace_back(root, 0);
    }
    while (!path.empty()) {
      auto& [at, visited] = path.back();
      if (visited == 2) {
        marks[at] = kDone;
        path.pop_back();
        continue;
      }
      const Branch<T>& branch = model.branches[at];
      const NodeRef child = visited++ == 0 ? branch.if_true : branch.if_false;
      if (child < 0 || marks[child] == kDone) continue;
      if (marks[child] == kOpen) reject("tree node ", child, " is reached from itself: a cycle");
      marks[child] = kOpen;
      path.emplace_back(child, 0);
    }
  }
}

using NodeIndex = std::map<std::pair<int64_t, int64_t>, size_t>;  // (tree, node) -> position

size_t find_node(const NodeIndex& index, int64_t tree, int64_t node, std::string_view attribute) {
  const auto found = index.find({tree, node});
  if (found == index.end()) {
    reject("attribute ", attribute, ": there is no node ", node, " in tree ", tree);
  }
  return found->second;
}

template <typename T>
NodeIndex index_nodes(const NodeLists<T>& lists, std::vector<size_t>& roots) {
  NodeIndex index;
  std::map<int64_t, size_t> seen_trees;
  for (size_t i = 0; i < lists.node_ids.size(); ++i) {
    const int64_t tree = lists.tree_ids[i];
    if (!index.emplace(std::pair(tree, lists.node_ids[i]), i).second) {
      reject("attribute nodes_nodeids: node ", lists.node_ids[i], " of tree ", tree,
             " is listed twice");
    }
    if (seen_trees.emplace(tree, i).second) roots.push_back(i);
  }
  return index;
}

template <typename T>
void check_lengths(const NodeLists<T>& lists) {
  const size_t nodes = lists.node_ids.size();
  const std::string_view of = "nodes_nodeids";
  require_entries("nodes_treeids", lists.tree_ids.size(), nodes, of);
  require_entries("nodes_featureids", lists.features.size(), nodes, of);
  require_entries("nodes_truenodeids", lists.if_true.size(), nodes, of);
  require_entries("nodes_falsenodeids", lists.if_false.size(), nodes, of);
  require_entries("nodes_modes", lists.modes.size(), nodes, of);
  require_entries("nodes_values", lists.splits.size(), nodes, of);
  if (!lists.nan_is_true.empty()) {
    require_entries("nodes_missing_value_tracks_true", lists.nan_is_true.size(), nodes, of);
  }
  const size_t weights = lists.weights.size();
  require_entries("treeids of the weights", lists.weight_trees.size(), weights, "the weights");
  require_entries("nodeids of the weights", lists.weight_nodes.size(), weights, "the weights");
  require_entries("ids of the weights", lists.weight_targets.size(), weights, "the weights");
}

template <typename T>
void check_lengths(const BranchLists<T>& lists) {
  const size_t nodes = lists.features.size();
  const std::string_view of = "nodes_featureids";
  require_entries("nodes_truenodeids", lists.if_true.size(), nodes, of);
  require_entries("nodes_falsenodeids", lists.if_false.size(), nodes, of);
  require_entries("nodes_trueleafs", lists.true_is_leaf.size(), nodes, of);
  require_entries("nodes_falseleafs", lists.false_is_leaf.size(), nodes, of);
  require_entries("nodes_modes", lists.modes.size(), nodes, of);
  require_entries("nodes_splits", lists.splits.size(), nodes, of);
  if (!lists.nan_is_true.empty()) {
    require_entries("nodes_missing_value_tracks_true", lists.nan_is_true.size(), nodes, of);
  }
  require_entries("leaf_weights", lists.leaf_weights.size(), lists.leaf_targets.size(),
                  "leaf_targetids");
}

// The sets of the kMember nodes, in the nodes' order; each ends with a NaN (the last one may do
// without).
template <typename T>
std::vector<std::vector<T>> split_members(const BranchLists<T>& lists) {
  std::vector<std::vector<T>> sets;
  bool open = false;
  for (const T value : lists.members) {
    if (!open) sets.emplace_back();
    open = !std::isnan(value);
    if (open) sets.back().push_back(value);
  }
  const auto wanted = static_cast<size_t>(
      std::count(lists.modes.begin(), lists.modes.end(), static_cast<int64_t>(NodeMode::kMember)));
  if (sets.size() != wanted) {
    reject("attribute membership_values: expected ", wanted,
           " sets, each ended by a NaN, one for each node of mode 6, got ", sets.size());
  }
  for (auto& set : sets)
    std::sort(set.begin(), set.end());
  return sets;
}

NodeRef checked_ref(int64_t id, bool is_leaf, size_t branches, size_t leaves,
                    std::string_view attribute) {
  const size_t count = is_leaf ? leaves : branches;
  if (id < 0 || static_cast<uint64_t>(id) >= count) {
    reject("attribute ", attribute, ": ", is_leaf ? "leaf " : "node ", id, " is outside 0..", count,
           " (exclusive)");
  }
  return is_leaf ? ~id : id;
}

}  // namespace

Aggregate aggregate_named(std::string_view name) {
  if (name == "AVERAGE") return Aggregate::kAverage;
  if (name == "SUM") return Aggregate::kSum;
  if (name == "MIN") return Aggregate::kMin;
  if (name == "MAX") return Aggregate::kMax;
  reject("attribute aggregate_function: expected AVERAGE, SUM, MIN or MAX, got '", name, "'");
}

template <typename T>
void TreeEnsembleModel<T>::check(int64_t features) const {
  for (const Branch<T>& branch : branches) {
    if (branch.feature < 0 || (features >= 0 && branch.feature >= features)) {
      reject("attribute nodes_featureids: feature ", branch.feature, " is outside 0..", features,
             " (exclusive), the features of X");
    }
  }
  for (const auto& leaf : leaves) {
    for (const LeafWeight<T>& weight : leaf) {
      if (weight.target < 0 || weight.target >= targets) {
        reject("a leaf votes for target ", weight.target, ", which is outside 0..", targets,
               " (exclusive)");
      }
    }
  }
  check_acyclic(*this);
}

template <typename T>
const std::vector<LeafWeight<T>>& TreeEnsembleModel<T>::leaf_of(NodeRef root, const T* row) const {
  NodeRef at = root;
  while (at >= 0) {
    const Branch<T>& branch = branches[at];
    at = goes_true(*this, branch, row[branch.feature]) ? branch.if_true : branch.if_false;
  }
  return leaves[~at];
}

template <typename T>
void TreeEnsembleModel<T>::score(const T* row, Aggregate aggregate,
                                 std::span<TargetScore<T>> scores) const {
  std::fill(scores.begin(), scores.end(), TargetScore<T>{});
  for (const NodeRef root : roots) {
    for (const LeafWeight<T>& vote : leaf_of(root, row))
      add_vote(vote, aggregate, scores[static_cast<size_t>(vote.target)]);
  }
}

template <typename T>
TreeEnsembleModel<T> build_ensemble(const NodeLists<T>& lists) {
  check_lengths(lists);
  TreeEnsembleModel<T> model;
  model.targets = lists.targets;
  std::vector<size_t> roots;
  const NodeIndex index = index_nodes(lists, roots);
  std::vector<NodeRef> refs(lists.node_ids.size());
  for (size_t i = 0; i < refs.size(); ++i) {
    const std::optional<NodeMode> comparison = comparison_named(lists.modes[i]);
    if (comparison) {
      refs[i] = static_cast<NodeRef>(model.branches.size());
      const bool nan_is_true = !lists.nan_is_true.empty() && lists.nan_is_true[i] != 0;
      model.branches.push_back({.comparison = *comparison,
                                .nan_is_true = nan_is_true,
                                .feature = lists.features[i],
                                .split = lists.splits[i]});
    } else {
      refs[i] = ~static_cast<NodeRef>(model.leaves.size());
      model.leaves.emplace_back();
    }
  }
  for (size_t i = 0; i < refs.size(); ++i) {
    if (refs[i] < 0) continue;
    Branch<T>& branch = model.branches[refs[i]];
    const int64_t tree = lists.tree_ids[i];
    branch.if_true = refs[find_node(index, tree, lists.if_true[i], "nodes_truenodeids")];
    branch.if_false = refs[find_node(index, tree, lists.if_false[i], "nodes_falsenodeids")];
  }
  for (const size_t root : roots)
    model.roots.push_back(refs[root]);
  for (size_t i = 0; i < lists.weights.size(); ++i) {
    const size_t at =
        find_node(index, lists.weight_trees[i], lists.weight_nodes[i], "nodeids of the weights");
    // Weights of inner nodes are written by some exporters and mean nothing.
    if (refs[at] < 0) {
      model.leaves[~refs[at]].push_back({lists.weight_targets[i], lists.weights[i]});
    }
  }
  model.has_one_target = !lists.weight_targets.empty() &&
                         std::ranges::all_of(lists.weight_targets, [&](int64_t target) {
                           return target == lists.weight_targets[0];
                         });
  model.is_nonnegative = std::ranges::all_of(lists.weights, [](T weight) { return weight >= 0; });
  return model;
}

template <typename T>
TreeEnsembleModel<T> build_ensemble(const BranchLists<T>& lists) {
  check_lengths(lists);
  TreeEnsembleModel<T> model;
  model.targets = lists.targets;
  for (const int64_t mode : lists.modes) {
    if (mode < 0 || mode > static_cast<int64_t>(NodeMode::kMember)) {
      reject("attribute nodes_modes: expected 0 to 6, got ", mode);
    }
  }
  model.members = split_members(lists);
  const size_t branches = lists.features.size(), leaves = lists.leaf_targets.size();
  size_t next_set = 0;
  for (size_t i = 0; i < branches; ++i) {
    const auto comparison = static_cast<NodeMode>(lists.modes[i]);
    const bool if_true_leaf = lists.true_is_leaf[i] != 0,
               if_false_leaf = lists.false_is_leaf[i] != 0;
    model.branches.push_back(
        {.comparison = comparison,
         .nan_is_true = !lists.nan_is_true.empty() && lists.nan_is_true[i] != 0,
         .feature = lists.features[i],
         .split = lists.splits[i],
         .members = comparison == NodeMode::kMember ? next_set++ : 0,
         .if_true =
             checked_ref(lists.if_true[i], if_true_leaf, branches, leaves, "nodes_truenodeids"),
         .if_false = checked_ref(lists.if_false[i], if_false_leaf, branches, leaves,
                                 "nodes_falsenodeids")});
  }
  for (size_t i = 0; i < leaves; ++i) {
    model.leaves.push_back({{lists.leaf_targets[i], lists.leaf_weights[i]}});
  }
  for (const int64_t root : lists.roots) {
    model.roots.push_back(checked_ref(root, false, branches, leaves, "tree_roots"));
  }
  return model;
}

template struct TreeEnsembleModel<float>;
template struct TreeEnsembleModel<double>;
template TreeEnsembleModel<float> build_ensemble(const NodeLists<float>&);
template TreeEnsembleModel<double> build_ensemble(const NodeLists<double>&);
template TreeEnsembleModel<float> build_ensemble(const BranchLists<float>&);
template TreeEnsembleModel<double> build_ensemble(const BranchLists<double>&);

}  // namespace sardonyx::ops
