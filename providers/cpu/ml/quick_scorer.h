// Small decision trees of float32, decided for many rows at once: every branch of a tree is
// compared, and those that fail strike out the leaves that they cut off. The first leaf that is
// left is the one that a walk comes to (Lucchese and others, "QuickScorer", SIGIR 2015).
#pragma once

#include <cstddef>
#include <cstdint>

namespace sardonyx::cpu {

constexpr size_t kMaxMaskedLeaves = 64;

struct MaskedBranch {
  float split;
  uint32_t feature;
  bool nan_passes;
  uint32_t kept[2];  // the leaves, a bit each, that are left where not x <= split
};

// leaves[row] = the number of the leaf that row `row` comes to, of a tree with `count` branches.
// `x` is [features][row_step]. Leaves beyond the 32nd are looked for if `is_wide`. What is read and
// written goes to the next multiple of masked_rows() beyond `rows`.
void find_leaves(const MaskedBranch* branches, size_t count, bool is_wide, const float* x,
                 size_t row_step, size_t rows, int32_t* leaves);
size_t masked_rows();

// sums[row] += weights[leaves[row]]; reads and writes as find_leaves() does.
void add_leaf_weights(const float* weights, const int32_t* leaves, size_t rows, float* sums);

}  // namespace sardonyx::cpu
