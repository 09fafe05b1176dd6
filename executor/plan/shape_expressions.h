// Small integer values that inference has worked out as expressions of the inputs' sizes: a plan
// computes them from the sizes, and leaves out the nodes that would.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "executor/plan/value_id.h"
#include "ir/graph.h"

namespace sardonyx {

class ShapeExpressions {
 public:
  ShapeExpressions() = default;
  // `values` by ValueId; of these, `given` come with the run.
  ShapeExpressions(std::span<const Value* const> values, std::span<const ValueId> given);

  using ShapeOf = std::function<const Shape*(ValueId)>;  // null where not known
  // The sizes that symbols stand for in one plan.
  using Sizes = std::vector<std::optional<int64_t>>;
  // The symbols' sizes from the shapes of the given values. Empty where two dims of one symbol
  // differ: then nothing is computed from symbols.
  Sizes sizes(const ShapeOf& shape_of) const;

  // Values that are computed alike have one formula.
  static constexpr uint32_t kNoFormula = UINT32_MAX;
  uint32_t formula_of(ValueId value) const { return formula_of_[value]; }
  size_t formula_count() const { return formulas_.size(); }
  bool is_known(uint32_t formula, const Sizes& sizes) const;
  size_t expression_count() const { return expressions_.size(); }
  // `evaluated` keeps the values of expressions, from one call to the next for the same sizes.
  Tensor compute(uint32_t formula, const Sizes& sizes,
                 std::span<std::optional<int64_t>> evaluated) const;

 private:
  struct DimSymbol {
    ValueId value;
    size_t axis;
    size_t symbol;
  };
  // A size that many elements of many values are: past + 1.
  struct Expression {
    Dim dim;
    std::vector<size_t> symbols;  // that it is made of
  };
  struct Formula {
    const Value* value;            // the first that it makes
    std::vector<size_t> elements;  // the expression of each element
  };
  std::optional<std::vector<size_t>> expressions_of(const Dims& dims);
  std::optional<size_t> expression_of(const Dim& dim);
  int64_t evaluate(const Expression& expression, const Sizes& sizes) const;

  std::vector<DimSymbol> places_;  // dims of given values that are one symbol
  std::unordered_map<std::string, size_t> symbols_;
  std::vector<Expression> expressions_;
  std::unordered_map<std::string, size_t> expression_index_;  // by text
  std::vector<Formula> formulas_;
  // The formula of each value, by ValueId; kNoFormula where its elements are no expressions, or
  // have symbols that no given value has.
  std::vector<uint32_t> formula_of_;
};

// The values that one plan computes, each formula once.
class ComputedValues {
 public:
  ComputedValues(const ShapeExpressions& symbolic, ShapeExpressions::Sizes sizes);
  // Whether `value` can be computed from the sizes. Its node need not run then.
  bool knows(ValueId value) const;
  // The cached tensor of a known value, for the caller to set; null until then.
  std::shared_ptr<const Tensor>& computed(ValueId value);
  Tensor compute(ValueId value);

 private:
  const ShapeExpressions& symbolic_;
  ShapeExpressions::Sizes sizes_;
  std::vector<std::optional<int64_t>> evaluated_;        // by expression; nullopt: not yet
  std::vector<bool> is_known_;                           // by formula
  std::vector<std::shared_ptr<const Tensor>> computed_;  // by formula; null: not yet
};

}  // namespace sardonyx
