// The gradient of Einsum: for each operand, another Einsum of the result's gradient and the other
// operands.
#include <algorithm>

#include "ir/ops/gemm/einsum.h"
#include "ir/ops/gradient/gradient_rules.h"

namespace sardonyx::ops {
namespace {

using Indices = std::vector<int>;

bool has(const Indices& list, int label) {
  return std::ranges::find(list, label) != list.end();
}

// An equation in the making.
class EquationBuilder {
 public:
  explicit EquationBuilder(Emitter& e) : e_(e) {}

  void add(const Val& operand, const Indices& indices) {
    operands_.push_back(operand);
    if (operands_.size() > 1) equation_ += ',';
    equation_ += letters(indices);
    const std::optional<Dims> dims = e_.type(operand).shape;
    for (size_t axis = 0; dims && axis < indices.size(); ++axis)
      named_.emplace_back(indices[axis], (*dims)[axis]);
  }
  // Whether there is an operand from which the index certainly takes this size (where not 1).
  bool provides(int label, const Dim& size) const {
    return std::ranges::any_of(named_, [&](const auto& named) {
      return named.first == label && (size == 1 || named.second == size);
    });
  }

  Term result(const Indices& indices) const {
    const AttrMap attrs{{"equation", equation_ + "->" + letters(indices)}};
    return {&e_, e_.call_many("Einsum", operands_, attrs, 1)[0]};
  }

 private:
  static std::string letters(const Indices& indices) {
    static constexpr std::string_view kLetters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string text;
    for (const int label : indices) {
      if (label >= static_cast<int>(kLetters.size())) {
        fail(ErrorCode::kUnsupported, "the gradient needs more than ", kLetters.size(), " indices");
      }
      text += kLetters[static_cast<size_t>(label)];
    }
    return text;
  }

  Emitter& e_;
  Vals operands_;
  std::string equation_;
  std::vector<std::pair<int, Dim>> named_;
};

// Ones along one dim of x.
Term ones_along(const Term& x, size_t axis) {
  const auto at = static_cast<int64_t>(axis);
  const auto rank = static_cast<int64_t>(x.e->type(x).rank());
  const Term size = at + 1 == rank ? sizes_of(x, at) : sizes_of(x, at, at + 1);
  return apply("Expand", x.number(1), size);
}

Term unit_matrix(const Term& x, size_t axis) {
  const Term ones = ones_along(x, axis);
  const Term matrix = ones * apply("Unsqueeze", ones, int64s(*x.e, {1}));
  return apply("EyeLike", matrix);
}

Term operand_gradient(Emitter& e, const GradCall& c, const EinsumLabels& labels, size_t operand) {
  const Term x = input(e, c, operand);
  EquationBuilder product(e);
  product.add(c.d_outputs[0], labels.output);
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (i != operand) product.add(c.inputs[i], labels.operands[i]);
  }
  const Indices& own = labels.operands[operand];
  Indices wanted;
  const Dims dims = *e.type(x).shape;
  int fresh = labels.count;
  for (size_t axis = 0; axis < own.size(); ++axis) {
    const int label = own[axis];
    // An index that was summed out, or that other operands only repeat.
    if (!product.provides(label, dims[axis])) product.add(ones_along(x, axis), {label});
    if (has(wanted, label)) {  // a diagonal: elements beside it have no part in the result
      product.add(unit_matrix(x, axis), {label, fresh});
      wanted.push_back(fresh++);
    } else {
      wanted.push_back(label);
    }
  }
  return {&e, sum_to(e, product.result(wanted), x)};
}

}  // namespace

Vals einsum_gradient(Emitter& e, const GradCall& c) {
  std::vector<size_t> ranks;
  for (const Val& operand : c.inputs) {
    const Type type = e.type(operand);
    if (!type.has_rank()) {
      fail(ErrorCode::kUnsupported, "the ranks of the operands must be known to differentiate");
    }
    ranks.push_back(type.rank());
  }
  const EinsumLabels labels = parse_einsum(c.attrs<EinsumAttrs>().equation, ranks);
  Vals gradients(c.inputs.size());
  for (size_t i = 0; i < gradients.size(); ++i) {
    if (c.wants(i)) gradients[i] = operand_gradient(e, c, labels, i);
  }
  return gradients;
}

}  // namespace sardonyx::ops
