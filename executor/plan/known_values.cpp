#include "executor/plan/known_values.h"

namespace sardonyx {

using TypeState = ValueState::TypeState;

const TypeInfo ValueState::kNoFacts{Type::none(), std::nullopt};

std::shared_ptr<const ValueKnowledge> knowledge_at_load(const IndexedGraph& graph,
                                                        InferenceCache& inferences) {
  auto knowledge = std::make_shared<ValueKnowledge>();
  knowledge->own.resize(graph.values().size());
  for (ValueId id = 0; id < graph.values().size(); ++id) {
    ValueState& entry = knowledge->own[id];
    knowledge->values.push_back(&entry);
    entry.constant = graph.values()[id]->constant;
    if (!entry.constant) continue;
    entry.facts = inferences.facts_of(entry.constant->dtype(), entry.constant->shape());
    entry.state = TypeState::kTyped;
  }
  for (const std::span<const ValueId> given : {graph.inputs(), graph.captures()}) {
    for (const ValueId id : given) {
      knowledge->own[id] = {};
      knowledge->own[id].state = TypeState::kDynamic;
      knowledge->dynamic.push_back(id);
    }
  }
  return knowledge;
}

KnownValues::KnownValues(std::shared_ptr<const ValueKnowledge> inherited)
    : values_(inherited->values) {
  learned_->inherited = std::move(inherited);
}

ValueState& KnownValues::refine(ValueId value) {
  ValueState& entry = learned_->own.emplace_back(*values_[value]);
  values_[value] = &entry;
  return entry;
}

ValueState& KnownValues::set_typed(ValueId value, TypeInfoPtr facts) {
  ValueState& entry = learned_->own.emplace_back();
  entry.state = TypeState::kTyped;
  entry.facts = std::move(facts);
  values_[value] = &entry;
  return entry;
}

std::shared_ptr<const ValueKnowledge> KnownValues::take() {
  for (ValueId value = 0; value < values_.size(); ++value) {
    const ValueState& entry = *values_[value];
    if (entry.state == TypeState::kDynamic) learned_->dynamic.push_back(value);
    if (entry.state == TypeState::kTyped && !entry.constant && !entry.is_datum)
      refine(value).is_datum = true;
  }
  learned_->values = std::move(values_);
  return std::move(learned_);
}

}  // namespace sardonyx
