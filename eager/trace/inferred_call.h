// Sizes that symbols do not say and numbers do: what two open sizes broadcast to, for example.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "eager/trace/guards.h"
#include "ir/graph.h"

namespace sardonyx::eager {

class TraceContext;

// A recorded call, to be inferred again with the sizes at hand. It outlives the graph, which passes
// change.
class InferredCall {
 public:
  explicit InferredCall(const Node& node);
  // That its inputs' shapes and elements consist of.
  const std::set<std::string>& symbols() const { return symbols_; }
  // The size of an axis of an output; nullopt where the call is refused for such sizes, or where
  // the size depends on data.
  std::optional<int64_t> size(const SizeOf& sizes, size_t output, size_t axis) const;

 private:
  struct KnownInput {
    Type type;
    std::shared_ptr<const sardonyx::Tensor> constant;
    std::optional<Dims> dims;
  };
  const OpDef* op_;
  Attrs attrs_;
  size_t formal_inputs_, outputs_;
  std::vector<KnownInput> inputs_;
  std::set<std::string> symbols_;
};

// The frame's example and its guards learn the sizes that are new symbols in the node's outputs, so
// that comparisons of them are answered and noted as those of any other size.
void note_inferred_sizes(TraceContext& frame, const Node& node);

}  // namespace sardonyx::eager
