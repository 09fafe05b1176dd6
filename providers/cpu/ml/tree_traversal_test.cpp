// Walks of several trees and rows at once against the walk of one.
#include "providers/cpu/ml/tree_traversal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace sardonyx::cpu {
namespace {

using ops::NodeMode;

// Trees with branches of random comparisons; a branch leads to later branches or to leaves alone,
// so there is no cycle, and some are shared.
template <typename T>
ops::TreeEnsembleModel<T> random_ensemble(std::mt19937& generator, size_t trees, size_t branches,
                                          int64_t features, bool has_nans) {
  constexpr NodeMode kOrdered[] = {NodeMode::kLessOrEqual, NodeMode::kLess,
                                   NodeMode::kGreaterOrEqual, NodeMode::kGreater};
  constexpr T kSpecial[] = {T(0), -T(0), std::numeric_limits<T>::infinity(),
                            -std::numeric_limits<T>::infinity()};
  ops::TreeEnsembleModel<T> model;
  model.targets = 3;
  for (size_t leaf = 0; leaf < 2 * branches; ++leaf) {
    auto& weights = model.leaves.emplace_back();
    for (size_t i = 0; i < leaf % 3; ++i)
      weights.push_back({static_cast<int64_t>((leaf + i) % 3), static_cast<T>(generator() % 64)});
  }
  const auto child = [&](size_t from) -> ops::NodeRef {
    const bool is_leaf = from + 1 >= branches || generator() % 4 == 0;
    if (is_leaf) return ~static_cast<ops::NodeRef>(generator() % model.leaves.size());
    return static_cast<ops::NodeRef>(from + 1 +
                                     generator() % std::min(branches - from - 1, size_t{4}));
  };
  for (size_t branch = 0; branch < branches; ++branch) {
    const T split =
        generator() % 5 == 0 ? kSpecial[generator() % 4] : static_cast<T>(generator() % 8) / 4 - 1;
    model.branches.push_back({.comparison = kOrdered[generator() % 4],
                              .nan_is_true = has_nans && generator() % 2 == 0,
                              .feature = static_cast<int64_t>(generator()) % features,
                              .split = split,
                              .if_true = child(branch),
                              .if_false = child(branch)});
  }
  for (size_t tree = 0; tree < trees; ++tree)
    model.roots.push_back(tree % 5 == 4 ? ~ops::NodeRef{1}
                                        : static_cast<ops::NodeRef>(generator() % branches));
  model.check(features);
  return model;
}

template <typename T>
void check(uint32_t seed, size_t trees, size_t branches, size_t rows, bool has_nans) {
  std::mt19937 generator(seed);
  const int64_t features = 5;
  const auto model = random_ensemble<T>(generator, trees, branches, features, has_nans);
  const auto walk = TreeTraversal<T>::of(model);
  ASSERT_TRUE(walk);
  std::vector<T> x(rows * static_cast<size_t>(features));
  for (T& value : x) {
    value = static_cast<T>(generator() % 9) / 4 - 1;
    if (generator() % 12 == 0) value = std::numeric_limits<T>::quiet_NaN();
    if (generator() % 12 == 0) value = -std::numeric_limits<T>::infinity();
  }
  for (const auto aggregate : {ops::Aggregate::kSum, ops::Aggregate::kMin, ops::Aggregate::kMax}) {
    std::vector<ops::TargetScore<T>> scores(rows * 3), expected(3);
    std::vector<float> scratch(walk->scratch_floats(static_cast<size_t>(features), rows));
    walk->score(x.data(), static_cast<size_t>(features), rows, aggregate, 3, scores.data(),
                scratch.data());
    for (size_t row = 0; row < rows; ++row) {
      model.score(x.data() + row * static_cast<size_t>(features), aggregate, expected);
      for (size_t target = 0; target < 3; ++target) {
        EXPECT_EQ(scores[row * 3 + target].value, expected[target].value);
        EXPECT_EQ(scores[row * 3 + target].present, expected[target].present);
      }
    }
  }
}

TEST(TreeTraversal, AgreesWithTheWalkOfOneRow) {
  for (const size_t rows : {1, 3, 8, 9, 15, 64}) {
    for (const bool has_nans : {false, true}) {
      check<float>(1, 1, 1, rows, has_nans);
      check<float>(2, 7, 30, rows, has_nans);
      check<float>(3, 50, 200, rows, has_nans);
      check<float>(6, 9, 6, rows, has_nans);  // of few leaves
      check<double>(4, 13, 60, rows, has_nans);
    }
  }
}

TEST(TreeTraversal, SumsOfOneTarget) {
  std::mt19937 generator(7);
  auto model = random_ensemble<float>(generator, 20, 6, 5, true);
  for (auto& leaf : model.leaves)
    leaf = {{0, static_cast<float>(generator() % 64) - 32}};
  model.targets = 1;
  const auto walk = TreeTraversal<float>::of(model);
  ASSERT_TRUE(walk);
  for (const size_t rows : {8, 17, 50, 64}) {
    std::vector<float> x(rows * 5), scratch(walk->scratch_floats(5, rows));
    EXPECT_FALSE(scratch.empty());
    for (float& value : x)
      value = generator() % 9 == 0 ? NAN : static_cast<float>(generator() % 9) / 4 - 1;
    std::vector<ops::TargetScore<float>> scores(rows), expected(1);
    walk->score(x.data(), 5, rows, ops::Aggregate::kSum, 1, scores.data(), scratch.data());
    for (size_t row = 0; row < rows; ++row) {
      model.score(x.data() + row * 5, ops::Aggregate::kSum, expected);
      EXPECT_EQ(scores[row].value, expected[0].value);
    }
  }
}

TEST(TreeTraversal, LeavesOtherComparisonsToTheReference) {
  std::mt19937 generator(5);
  auto model = random_ensemble<float>(generator, 3, 9, 5, false);
  model.branches[4].comparison = NodeMode::kEqual;
  EXPECT_FALSE(TreeTraversal<float>::of(model));
  model.branches[4].comparison = NodeMode::kMember;
  EXPECT_FALSE(TreeTraversal<float>::of(model));
  model.branches.clear();
  model.roots = {~ops::NodeRef{0}};
  EXPECT_FALSE(TreeTraversal<float>::of(model));
}

}  // namespace
}  // namespace sardonyx::cpu
