// Selection of the executable that serves a request, by its optional inputs and by the values that
// it asks for.
#include "executor/prepare_graph.h"
#include "executor/session/session_impl.h"

namespace sardonyx {

std::shared_ptr<Session::Impl::InputVariant> Session::Impl::form_for(
    std::span<const size_t> given_options) {
  if (given_options.empty()) return plain;
  return others.find(given_options, session_state.max_plans, [&] {
    session_state.weight_residency.restore(*original);
    return made_form(clone(*original), given_options, /*may_evict_weights=*/false);
  });
}

Session::Impl::Selected Session::Impl::choice_of(const std::shared_ptr<InputVariant>& form,
                                                 std::span<const size_t> chosen) {
  if (chosen.empty()) return {form, &form->whole};
  require_ascending(chosen);
  return form->choices.find(chosen, session_state.max_plans, [&] {
    std::vector<std::string> names;
    for (const size_t index : chosen)
      names.push_back(form->graph->outputs()[index]->name);
    return std::make_shared<const PartialExecutable>(selection(selected(*form->graph, names)));
  });
}

void Session::Impl::require_ascending(std::span<const size_t> chosen) const {
  const auto is_not_less = [](size_t a, size_t b) { return a >= b; };
  if (std::ranges::adjacent_find(chosen, is_not_less) != chosen.end() ||
      chosen.back() >= outputs.size()) {
    fail(ErrorCode::kInvalidArgument, "outputs: expected ascending indices below ", outputs.size());
  }
}

PartialExecutables<std::string>::Made Session::Impl::fetcher(std::span<const std::string> names) {
  return fetched_plain.find(names, session_state.max_plans, [&] {
    const RunControl control = load_control();
    const ControlScope scope(control);
    session_state.weight_residency.restore(*original);
    auto graph = selected(*original, names);
    SessionOptions unchanged = options;
    unchanged.optimization_level = 0;
    prepare_graph(*graph, unchanged, session_state.providers);
    return std::make_shared<const PartialExecutable>(selection(std::move(graph)));
  });
}

// Recomputes the values with an executable that does not take equal symbols for equal sizes.
PartialExecutables<std::string>::Made Session::Impl::without_shared_symbols(const Graph& graph) {
  std::vector<std::string> names;
  for (const Value* output : graph.outputs())
    names.push_back(output->name);
  return apart.find(names, session_state.max_plans, [&] {
    session_state.weight_residency.restore(*original);
    auto own = selected(*original, names);
    set_symbols_apart(*own);
    prepare_graph(*own, options, session_state.providers);
    return std::make_shared<const PartialExecutable>(selection(std::move(own)));
  });
}

PartialExecutable Session::Impl::selection(std::shared_ptr<const Graph> graph) {
  PartialExecutable made;
  for (const Value* input : graph->inputs()) {
    const auto at = std::ranges::find(inputs.all(), input->name, &ValueInfo::name);
    made.inputs.push_back(static_cast<size_t>(at - inputs.all().begin()));
  }
  made.executable =
      std::make_unique<Executable>(std::move(graph), session_state, session_state.max_plans);
  return made;
}

std::optional<std::vector<size_t>> Session::Impl::outputs_named(
    std::span<const std::string> names) const {
  std::vector<size_t> indices;
  for (const std::string& name : names) {
    const auto at = std::ranges::find(outputs, name, &ValueInfo::name);
    if (at == outputs.end()) return std::nullopt;
    indices.push_back(static_cast<size_t>(at - outputs.begin()));
  }
  return indices;
}

size_t Session::Impl::plan_count() const {
  size_t count = plain->whole.executable->plan_count();
  others.each([&](const InputVariant& form) { count += form.whole.executable->plan_count(); });
  return count;
}

}  // namespace sardonyx
