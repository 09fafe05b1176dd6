// Small integer values that inference has worked out as expressions of the inputs' sizes: a plan
// computes them from the sizes, and leaves out the nodes that would.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/segment.h"

namespace sardonyx {

class SymbolicValues {
 public:
  SymbolicValues() = default;
  // `values` by ValueId; of these, `given` come with the run.
  SymbolicValues(std::span<const Value* const> values, std::span<const ValueId> given);

  using ShapeOf = std::function<const Shape*(ValueId)>;  // null where not known
  // The sizes that symbols stand for in one plan.
  using Sizes = std::vector<std::optional<int64_t>>;
  // From the shapes of what was given. Empty where two dims that bear one symbol differ: then
  // nothing is computed from symbols.
  Sizes sizes(const ShapeOf& shape_of) const;
  // Can `value` be computed? Its node need not run then.
  bool knows(ValueId value, const Sizes& sizes) const;
  Tensor compute(ValueId value, const Sizes& sizes) const;

 private:
  struct Place {
    ValueId value;
    size_t axis;
    size_t symbol;
  };
  std::vector<const Value*> values_;
  std::vector<Place> places_;  // dims of given values that are one symbol
  std::unordered_map<std::string, size_t> symbols_;
  // By ValueId: the symbols that its elements are made of; nullopt where they are not expressions,
  // or of symbols that no given value has.
  std::vector<std::optional<std::vector<size_t>>> made_of_;
};

}  // namespace sardonyx
