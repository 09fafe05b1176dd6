// A value of a graph as a polynomial in others, so that formulas are recognised however an exporter
// has ordered and grouped their products and sums.
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"

namespace sardonyx::passes {

// factor * the product of `powers` (sorted by address; x^2 holds x twice).
struct Monomial {
  double factor = 1;
  std::vector<Value*> powers;
};

struct Polynomial {
  std::vector<Monomial> terms;  // with different powers, no factor of 0

  // The factor of the term that has these powers (in any order); 0 where there is none.
  double factor_of(std::vector<Value*> powers) const;
};

// Expands Add, Sub, Mul, Neg, Div by a constant and Pow by 2 or 3 of float values, from the output
// of `node` down to values that more than one node reads (or the graph gives): these and the
// outputs of other ops are the indeterminates. nullopt where it grows beyond a few terms.
std::optional<Polynomial> polynomial_of(const Graph& graph, const Node& node);
// The polynomial that computes input `slot` of `node`.
std::optional<Polynomial> polynomial_of_input(const Graph& graph, const Node& node, size_t slot);

// Whether `value` is within 1e-5 of `expected`, the rounding that exporters give to constants.
bool is_about(double value, double expected);

}  // namespace sardonyx::passes
