#include "executor/symbolic_values.h"

#include <algorithm>

#include "ir/dims_value.h"

namespace sardonyx {
namespace {

// Values of other types and ranks are not made from dims.
bool can_be_made(const Value& value) {
  if (!value.dims || value.constant || !value.producer || !value.type.is_tensor()) return false;
  if (value.type.dtype != DType::kInt64 && value.type.dtype != DType::kInt32) return false;
  const std::optional<Shape> shape = value.type.known_shape();
  return shape && element_count(*shape) == static_cast<int64_t>(value.dims->size());
}

}  // namespace

SymbolicValues::SymbolicValues(std::span<const Value* const> values, std::span<const ValueId> given)
    : values_(values.begin(), values.end()) {
  for (const ValueId id : given) {
    const Type& type = values[id]->type;
    for (size_t axis = 0; type.is_tensor() && type.shape && axis < type.rank(); ++axis) {
      const Dim& dim = (*type.shape)[axis];
      if (dim.is_known() || !(dim == Dim::symbol(dim.text()))) continue;
      const size_t symbol = symbols_.emplace(dim.text(), symbols_.size()).first->second;
      places_.push_back({id, axis, symbol});
    }
  }
  made_of_.resize(values.size());
  for (ValueId id = 0; id < values.size(); ++id) {
    if (!can_be_made(*values[id])) continue;
    std::vector<size_t> needed;
    bool all = true;
    for (const Dim& dim : *values[id]->dims) {
      if (dim.is_known()) continue;
      for (const std::string& name : dim.symbols()) {
        const auto at = symbols_.find(name);
        all = all && at != symbols_.end();
        if (all) needed.push_back(at->second);
      }
    }
    if (all) made_of_[id] = std::move(needed);
  }
}

SymbolicValues::Sizes SymbolicValues::sizes(const ShapeOf& shape_of) const {
  Sizes sizes(symbols_.size());
  for (const Place& place : places_) {
    const Shape* shape = shape_of(place.value);
    if (!shape || place.axis >= shape->size()) continue;
    const int64_t size = (*shape)[place.axis];
    if (sizes[place.symbol].value_or(size) != size) return {};
    sizes[place.symbol] = size;
  }
  return sizes;
}

bool SymbolicValues::knows(ValueId value, const Sizes& sizes) const {
  if (value == kNoValue || !made_of_[value]) return false;
  return std::ranges::all_of(*made_of_[value], [&](size_t symbol) {
    return symbol < sizes.size() && sizes[symbol].has_value();
  });
}

Tensor SymbolicValues::compute(ValueId value, const Sizes& sizes) const {
  const auto lookup = [&](std::string_view name) -> std::optional<Dim> {
    return Dim(*sizes[symbols_.at(std::string(name))]);
  };
  Dims dims = *values_[value]->dims;
  for (Dim& dim : dims) {
    if (!dim.is_known()) dim = dim.substitute(lookup);
  }
  const std::optional<Tensor> made = tensor_of_dims(values_[value]->type, dims);
  SARDONYX_CHECK(made.has_value());
  return *made;
}

}  // namespace sardonyx
