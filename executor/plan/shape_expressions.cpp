#include "executor/plan/shape_expressions.h"

#include <algorithm>
#include <set>

#include "ir/emitter/tensor_from_dims.h"

namespace sardonyx {
namespace {

// Whether the value has a type and rank that can be made from dims.
bool can_be_made(const Value& value) {
  if (!value.dims || value.constant || !value.producer || !value.type.is_tensor()) return false;
  if (value.type.dtype != DType::kInt64 && value.type.dtype != DType::kInt32) return false;
  const std::optional<Shape> shape = value.type.known_shape();
  return shape && element_count(*shape) == static_cast<int64_t>(value.dims->size());
}

}  // namespace

ShapeExpressions::ShapeExpressions(std::span<const Value* const> values,
                                   std::span<const ValueId> given) {
  for (const ValueId id : given) {
    const Type& type = values[id]->type;
    for (size_t axis = 0; type.is_tensor() && type.shape && axis < type.rank(); ++axis) {
      const Dim& dim = (*type.shape)[axis];
      if (dim.is_known() || !(dim == Dim::symbol(dim.text()))) continue;
      const size_t symbol = symbols_.emplace(dim.text(), symbols_.size()).first->second;
      places_.push_back({id, axis, symbol});
    }
  }
  formula_of_.resize(values.size(), kNoFormula);
  std::unordered_map<std::string, uint32_t> formulas;
  for (ValueId id = 0; id < values.size(); ++id) {
    if (!can_be_made(*values[id])) continue;
    std::optional<std::vector<size_t>> elements = expressions_of(*values[id]->dims);
    if (!elements) continue;
    const auto next = static_cast<uint32_t>(formulas_.size());
    const auto [at, is_new] =
        formulas.emplace(text(values[id]->type, to_text(*values[id]->dims)), next);
    if (is_new) formulas_.push_back({values[id], std::move(*elements)});
    formula_of_[id] = at->second;
  }
}

// nullopt where a symbol is none of the given values'.
std::optional<std::vector<size_t>> ShapeExpressions::expressions_of(const Dims& dims) {
  std::vector<size_t> elements;
  for (const Dim& dim : dims) {
    const std::optional<size_t> expression = expression_of(dim);
    if (!expression) return std::nullopt;
    elements.push_back(*expression);
  }
  return elements;
}

std::optional<size_t> ShapeExpressions::expression_of(const Dim& dim) {
  std::string name = dim.text();
  if (const auto at = expression_index_.find(name); at != expression_index_.end())
    return at->second;
  Expression expression{dim, {}};
  for (const std::string& symbol : dim.is_known() ? std::set<std::string>() : dim.symbols()) {
    const auto at = symbols_.find(symbol);
    if (at == symbols_.end()) return std::nullopt;
    expression.symbols.push_back(at->second);
  }
  expressions_.push_back(std::move(expression));
  return expression_index_.emplace(std::move(name), expressions_.size() - 1).first->second;
}

ShapeExpressions::Sizes ShapeExpressions::sizes(const ShapeOf& shape_of) const {
  Sizes sizes(symbols_.size());
  for (const DimSymbol& place : places_) {
    const Shape* shape = shape_of(place.value);
    if (!shape || place.axis >= shape->size()) continue;
    const int64_t size = (*shape)[place.axis];
    if (sizes[place.symbol].value_or(size) != size) return {};
    sizes[place.symbol] = size;
  }
  return sizes;
}

bool ShapeExpressions::is_known(uint32_t formula, const Sizes& sizes) const {
  const auto has_size = [&](size_t symbol) {
    return symbol < sizes.size() && sizes[symbol].has_value();
  };
  return std::ranges::all_of(formulas_[formula].elements, [&](size_t expression) {
    return std::ranges::all_of(expressions_[expression].symbols, has_size);
  });
}

int64_t ShapeExpressions::evaluate(const Expression& expression, const Sizes& sizes) const {
  const auto lookup = [&](std::string_view name) -> std::optional<Dim> {
    return Dim(*sizes[symbols_.at(std::string(name))]);
  };
  return expression.dim.substitute(lookup).value();
}

Tensor ShapeExpressions::compute(uint32_t formula, const Sizes& sizes,
                                 std::span<std::optional<int64_t>> evaluated) const {
  Dims dims;
  for (const size_t expression : formulas_[formula].elements) {
    std::optional<int64_t>& size = evaluated[expression];
    if (!size) size = evaluate(expressions_[expression], sizes);
    dims.emplace_back(*size);
  }
  const std::optional<Tensor> made = tensor_of_dims(formulas_[formula].value->type, dims);
  SARDONYX_CHECK(made.has_value());
  return *made;
}

ComputedValues::ComputedValues(const ShapeExpressions& symbolic, ShapeExpressions::Sizes sizes)
    : symbolic_(symbolic),
      sizes_(std::move(sizes)),
      evaluated_(symbolic.expression_count()),
      computed_(symbolic.formula_count()) {
  for (uint32_t formula = 0; formula < symbolic.formula_count(); ++formula)
    is_known_.push_back(symbolic.is_known(formula, sizes_));
}

bool ComputedValues::knows(ValueId value) const {
  if (value == kNoValue) return false;
  const uint32_t formula = symbolic_.formula_of(value);
  return formula != ShapeExpressions::kNoFormula && is_known_[formula];
}

std::shared_ptr<const Tensor>& ComputedValues::computed(ValueId value) {
  return computed_[symbolic_.formula_of(value)];
}

Tensor ComputedValues::compute(ValueId value) {
  return symbolic_.compute(symbolic_.formula_of(value), sizes_, evaluated_);
}

}  // namespace sardonyx
