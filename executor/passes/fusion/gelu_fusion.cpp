// GELU and Swish written out in simpler ops become one op, in whatever order their products and
// sums stand:
//   x/2 + x/2 * Erf(x / sqrt 2)                                Gelu
//   x/2 + x/2 * Tanh(sqrt(2/pi) * (x + 0.044715 * x^3))        Gelu, approximate = "tanh"
//   x * Sigmoid(2 * sqrt(2/pi) * (x + 0.044715 * x^3))         the same
//   x * Sigmoid(alpha * x)                                     Swish
// They do not fire
//  1. where another node reads an intermediate value,
//  2. for other elements than float,
//  3. where a constant enlarges the result or is off by more than files round,
//  4. for Swish with alpha = 0.
#include <cmath>
#include <numbers>

#include "executor/passes/all_passes.h"
#include "executor/passes/fusion/polynomial_matcher.h"
#include "executor/passes/pattern.h"

namespace sardonyx::passes {
namespace {

constexpr double kCube = 0.044715;
const double kTanhScale = std::sqrt(2 / std::numbers::pi);

// x in the argument of the gate: scale * (x + cube * x^3) where cube is not 0.
bool is_argument(const Polynomial& argument, Value* x, double scale, double cube) {
  return argument.terms.size() == (cube == 0 ? 1 : 2) && is_about(argument.factor_of({x}), scale) &&
         (cube == 0 || is_about(argument.factor_of({x, x, x}), scale * cube));
}

struct MatchedActivation {
  std::string_view op;
  AttrMap attrs;
};

// The activation that y = the sum of terms in x and the gate is; nullopt if it is not in the list.
std::optional<MatchedActivation> activation(const Polynomial& y, const Node& gate, Value* x,
                                            const Polynomial& argument) {
  Value* g = gate.outputs[0];
  if (is_op(gate, "Sigmoid")) {
    if (y.terms.size() != 1 || !is_about(y.factor_of({x, g}), 1)) return std::nullopt;
    if (is_argument(argument, x, 2 * kTanhScale, kCube)) {
      return MatchedActivation{"Gelu", {{"approximate", std::string("tanh")}}};
    }
    const double alpha = argument.factor_of({x});
    if (argument.terms.size() != 1 || alpha == 0) return std::nullopt;
    return MatchedActivation{"Swish", {{"alpha", static_cast<float>(alpha)}}};
  }
  if (y.terms.size() != 2 || !is_about(y.factor_of({x}), 0.5) ||
      !is_about(y.factor_of({x, g}), 0.5)) {
    return std::nullopt;
  }
  if (is_op(gate, "Erf") && is_argument(argument, x, 1 / std::numbers::sqrt2, 0)) {
    return MatchedActivation{"Gelu", {}};
  }
  if (is_op(gate, "Tanh") && is_argument(argument, x, kTanhScale, kCube)) {
    return MatchedActivation{"Gelu", {{"approximate", std::string("tanh")}}};
  }
  return std::nullopt;
}

// The gate among the indeterminates, which nothing but `term` reads, and the other one.
std::optional<std::pair<Node*, Value*>> gate_and_x(const Graph& graph, const Monomial& term) {
  if (term.powers.size() != 2) return std::nullopt;
  for (const size_t k : {0, 1}) {
    Value* value = term.powers[k];
    Node* gate = value->producer;
    if (!gate || graph.is_output(*value) || value->uses.size() != 1) continue;
    if (is_op(*gate, "Erf") || is_op(*gate, "Tanh") || is_op(*gate, "Sigmoid")) {
      return std::pair{gate, term.powers[1 - k]};
    }
  }
  return std::nullopt;
}

}  // namespace

bool recognize_gelu(Graph& graph, Node& node) {
  if (!is_op(node, "Mul") && !is_op(node, "Add")) return false;
  if (!is_float(*node.outputs[0])) return false;
  const auto y = polynomial_of(graph, node);
  if (!y || y->terms.size() > 2) return false;
  for (const Monomial& term : y->terms) {
    const auto found = gate_and_x(graph, term);
    if (!found) continue;
    const auto [gate, x] = *found;
    if (!same_shape(*x, *node.outputs[0])) return false;
    const auto argument = polynomial_of_input(graph, *gate, 0);
    const auto form = argument ? activation(*y, *gate, x, *argument) : std::nullopt;
    if (!form) return false;
    const OpDef& op = op_named(form->op);
    graph.set_op(node, op, Attrs::parse(*op.attrs, form->attrs), {x});
    return true;
  }
  return false;
}

}  // namespace sardonyx::passes
