#include "executor/plan/plan_context.h"

#include <algorithm>

namespace sardonyx {

PlanContext::PlanContext(const PlanRequest& request)
    : graph(request.graph),
      caches(request.caches),
      session(request.session),
      parent(request.parent),
      run_values(request.run_values),
      known(request.parent.known),
      node_index(request.parent.next_node) {
  if (!request.may_release) return;
  if (!caches.weight_uses) caches.weight_uses.emplace(graph.values(), graph.last_uses());
  weight_uses = &*caches.weight_uses;
}

bool PlanContext::has_only_constants() const {
  return std::ranges::all_of(indexed().inputs, [this](ValueId input) {
    return input == kNoValue || known[input].constant;
  });
}

void PlanContext::load_constants(bool all) const {
  for (size_t slot = 0; slot < indexed().inputs.size(); ++slot) {
    const bool is_wanted = all || !has_bit(op().weight_inputs, slot);
    if (is_wanted && input(slot) != kNoValue && known[input(slot)].constant)
      load_weight(*known[input(slot)].constant);
  }
}

std::optional<uint64_t> PlanContext::constant_key(size_t slot) const {
  const ValueId value = input(slot);
  const ValueState& entry = known[value];
  if (!entry.constant) return 0;
  const bool has_value = !has_bit(op().weight_inputs, slot) && is_small(*entry.facts);
  if (has_value && !entry.is_same_constant) {
    load_weight(*entry.constant);
    entry.constant = caches.inferences.same_constant(entry.constant);
    entry.is_same_constant = true;
  }
  if (!has_value && entry.constant != graph.values()[value]->constant && !entry.is_same_constant)
    return std::nullopt;
  return reinterpret_cast<uintptr_t>(entry.constant.get());
}

}  // namespace sardonyx
