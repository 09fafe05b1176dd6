#include "executor/overridable_initializers.h"

#include <utility>

#include "ir/core/error.h"

namespace sardonyx {
namespace {

void make_constant(Graph& graph, Value& input) {
  Value* constant = graph.add_constant("", *input.default_value);
  graph.replace_uses(input, *constant);
  graph.take_name(*constant, input);
  graph.erase_value(input);
}

// Of what was known before, symbols that inference made say nothing beside what it finds now: one
// that stays would hide that two dims are equal.
Type without_made_symbols(Type known, const Type& inferred) {
  if (!known.shape || !inferred.shape || known.rank() != inferred.rank()) return known;
  for (size_t i = 0; i < known.rank(); ++i) {
    Dim& dim = (*known.shape)[i];
    if (!dim.is_known() && dim.text().starts_with('?')) dim = (*inferred.shape)[i];
  }
  return known;
}

}  // namespace

void defaults_to_constants(Graph& graph,
                           const std::function<bool(const std::string& name)>& is_given,
                           const std::function<void(const Error& contradiction)>& tell) {
  const std::vector<Value*> inputs = graph.inputs();
  bool has_constants = false;
  for (Value* input : inputs) {
    if (!input->default_value || is_given(input->name)) continue;
    make_constant(graph, *input);
    has_constants = true;
  }
  if (!has_constants) return;
  for (const auto& node : graph.nodes()) {
    std::vector<Type> known;
    for (Value* output : node->outputs) {
      known.push_back(output ? std::exchange(output->type, Type::none()) : Type::none());
      if (output) output->dims.reset();
    }
    infer_node(graph, *node);
    for (size_t i = 0; i < known.size(); ++i) {
      Value* output = node->outputs[i];
      if (!output) continue;
      try {
        output->type =
            merge_types(output->type, without_made_symbols(known[i], output->type), output->name);
      } catch (const Error& error) {
        tell(error);
      }
    }
  }
}

}  // namespace sardonyx
