#include "executor/shared_symbols.h"

#include <map>

namespace sardonyx {

SharedSymbols::SharedSymbols(std::span<const ValueInfo> inputs) {
  std::map<std::string, std::vector<InputAxis>> by_name;
  for (size_t i = 0; i < inputs.size(); ++i) {
    input_names_.push_back(inputs[i].name);
    if (!inputs[i].type.is_tensor() || !inputs[i].type.shape) continue;
    for (size_t axis = 0; axis < inputs[i].type.rank(); ++axis) {
      const Dim& dim = (*inputs[i].type.shape)[axis];
      if (!dim.is_known()) by_name[dim.text()].push_back({i, axis});
    }
  }
  for (auto& [name, places] : by_name) {
    if (places.size() > 1) symbols_.push_back({name, std::move(places)});
  }
}

std::optional<std::string> SharedSymbols::conflict(std::span<const Datum* const> given) const {
  for (const auto& [name, places] : symbols_) {
    const InputAxis* first = nullptr;
    int64_t size = 0;
    for (const InputAxis& place : places) {
      if (!given[place.input]->defined()) continue;
      const int64_t other = given[place.input]->tensor().shape()[place.axis];
      if (!first) {
        first = &place;
        size = other;
      }
      if (other == size) continue;
      return text("input ", input_names_[place.input], ": dim ", place.axis, " is ", other,
                  ", but input ", input_names_[first->input], " gave ", size, " for the same ",
                  name);
    }
  }
  return std::nullopt;
}

void set_symbols_apart(Graph& graph) {
  for (Value* input : graph.inputs()) {
    if (!input->type.shape) continue;
    for (Dim& dim : *input->type.shape) {
      if (!dim.is_known()) dim = Graph::fresh_symbol();
    }
  }
  // Types that were inferred or declared before say that dims are equal.
  for (const auto& node : graph.nodes()) {
    for (Value* output : node->outputs) {
      if (!output) continue;
      output->type = Type::none();
      output->dims.reset();
    }
  }
  infer_types(graph);
}

}  // namespace sardonyx
