// Constants that passes compute: by kernels where there are many elements, and in memory only when
// they are wanted where nobody but plans looks at them.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"
#include "ir/kernel.h"

namespace sardonyx {

struct Folding {
  // The ops' reference, which folds where there are few elements or no providers, takes a hundred
  // times as long for the product of two large matrices.
  std::span<const Provider* const> providers;
  // Constants that are weights alone (OpDef::weight_inputs) need not be in memory.
  bool may_evict_weights = false;
};

// Makes `folding` the one of this thread until the scope ends. Scopes nest.
class FoldingScope {
 public:
  explicit FoldingScope(const Folding& folding);
  ~FoldingScope();
  FoldingScope(const FoldingScope&) = delete;
  FoldingScope& operator=(const FoldingScope&) = delete;

 private:
  const Folding own_;
  const Folding* previous_;
};

// The outputs of `node`, all of whose inputs are constants. Throws as kernels do.
std::vector<Datum> fold(const Graph& graph, const Node& node);

}  // namespace sardonyx
