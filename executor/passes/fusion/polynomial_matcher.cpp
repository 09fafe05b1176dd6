#include "executor/passes/fusion/polynomial_matcher.h"

#include <algorithm>
#include <cmath>

#include "executor/passes/pattern.h"

namespace sardonyx::passes {
namespace {

constexpr size_t kMaxTerms = 6;
constexpr size_t kMaxPower = 4;
constexpr int kMaxNodes = 24;

using Expanded = std::optional<Polynomial>;

void add_term(Polynomial& sum, Monomial term) {
  for (Monomial& known : sum.terms) {
    if (known.powers != term.powers) continue;
    known.factor += term.factor;
    if (known.factor == 0) sum.terms.erase(sum.terms.begin() + (&known - sum.terms.data()));
    return;
  }
  if (term.factor != 0) sum.terms.push_back(std::move(term));
}

Polynomial sum_of(Polynomial a, const Polynomial& b, double sign) {
  for (Monomial term : b.terms) {
    term.factor *= sign;
    add_term(a, std::move(term));
  }
  return a;
}

Polynomial product_of(const Polynomial& a, const Polynomial& b) {
  Polynomial product;
  for (const Monomial& left : a.terms) {
    for (const Monomial& right : b.terms) {
      Monomial term{left.factor * right.factor, left.powers};
      term.powers.insert(term.powers.end(), right.powers.begin(), right.powers.end());
      std::ranges::sort(term.powers);
      add_term(product, std::move(term));
    }
  }
  return product;
}

class Expander {
 public:
  explicit Expander(const Graph& graph) : graph_(graph) {}

  Expanded of_node(const Node& node) {
    if (++visited_ > kMaxNodes) return std::nullopt;
    Expanded found = combine(node);
    if (!found || found->terms.size() > kMaxTerms) return std::nullopt;
    for (const Monomial& term : found->terms) {
      if (term.powers.size() > kMaxPower || !std::isfinite(term.factor)) return std::nullopt;
    }
    return found;
  }

  Expanded of_input(const Node& node, size_t slot) {
    if (const auto constant = scalar_constant(node, slot))
      return Polynomial{{{static_cast<double>(*constant), {}}}};
    Value* value = node.inputs[slot];
    const bool is_read_elsewhere =
        graph_.is_output(*value) ||
        !std::ranges::all_of(value->uses, [&](const Use& use) { return use.node == &node; });
    if (is_read_elsewhere || !value->producer || !is_sum_or_product(*value->producer))
      return Polynomial{{{1, {value}}}};
    return of_node(*value->producer);
  }

 private:
  static std::optional<double> exponent(const Node& node) {
    if (!node.has_input(1) || !node.inputs[1]->constant) return std::nullopt;
    const Tensor& value = *node.inputs[1]->constant;
    if (value.count() != 1) return std::nullopt;
    return value.to_doubles()[0];
  }

  static bool is_sum_or_product(const Node& node) {
    if (node.outputs.size() != 1 || !is_float(*node.outputs[0])) return false;
    if (is_op(node, "Div")) return scalar_constant(node, 1).has_value();
    if (is_op(node, "Pow")) return exponent(node) == 2 || exponent(node) == 3;
    for (const std::string_view name : {"Add", "Sub", "Mul", "Neg"}) {
      if (is_op(node, name)) return true;
    }
    return false;
  }

  Expanded combine(const Node& node) {
    if (!is_sum_or_product(node)) return std::nullopt;
    const Expanded a = of_input(node, 0);
    if (!a) return std::nullopt;
    if (is_op(node, "Neg")) return sum_of({}, *a, -1);
    if (is_op(node, "Pow")) {
      const Polynomial square = product_of(*a, *a);
      return exponent(node) == 2 ? square : product_of(square, *a);
    }
    if (is_op(node, "Div")) {
      return product_of(*a, {{{1 / static_cast<double>(*scalar_constant(node, 1)), {}}}});
    }
    const Expanded b = of_input(node, 1);
    if (!b) return std::nullopt;
    if (is_op(node, "Mul")) return product_of(*a, *b);
    return sum_of(*a, *b, is_op(node, "Sub") ? -1 : 1);
  }

  const Graph& graph_;
  int visited_ = 0;
};

}  // namespace

double Polynomial::factor_of(std::vector<Value*> powers) const {
  std::ranges::sort(powers);
  for (const Monomial& term : terms) {
    if (term.powers == powers) return term.factor;
  }
  return 0;
}

std::optional<Polynomial> polynomial_of(const Graph& graph, const Node& node) {
  return Expander(graph).of_node(node);
}

std::optional<Polynomial> polynomial_of_input(const Graph& graph, const Node& node, size_t slot) {
  return Expander(graph).of_input(node, slot);
}

bool is_about(double value, double expected) {
  return std::abs(value - expected) <= 1e-5 * std::abs(expected);
}

}  // namespace sardonyx::passes
