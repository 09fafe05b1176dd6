#include "executor/run/executable.h"

#include <algorithm>
#include <chrono>

#include "executor/plan/planner.h"

namespace sardonyx {
Executable::Executable(std::shared_ptr<const Graph> graph, SessionState& session_state,
                       size_t most_plans)
    : graph_(std::move(graph)), session_state_(session_state), most_plans_(most_plans) {
  const auto number = [&](const Value* value) -> ValueId {
    if (!value) return kNoValue;
    const auto [at, is_new] = ids_.emplace(value, static_cast<ValueId>(values_.size()));
    if (is_new) {
      values_.push_back(value);
      last_use_.push_back(0);
    }
    return at->second;
  };
  for (const Value* input : graph_->inputs())
    number(input);
  for (const Value* capture : graph_->captures())
    number(capture);
  for (const auto& node : graph_->nodes()) {
    Numbered numbered{node.get(), &planned_op(*node->op)};
    numbered.formal_inputs = static_cast<uint32_t>(node->formal_inputs());
    for (const Value* input : node->inputs) {
      numbered.inputs.push_back(number(input));
      if (input) last_use_[numbered.inputs.back()] = nodes_.size();
    }
    for (const Value* output : node->outputs)
      numbered.outputs.push_back(number(output));
    for (const GraphPtr& inner : subgraphs_of(*node)) {
      subprograms_.emplace(inner.get(), std::make_unique<Executable>(
                                            inner, session_state, session_state.max_inner_plans()));
    }
    nodes_.push_back(std::move(numbered));
  }
  for (const Value* output : graph_->outputs()) {
    output_ids_.push_back(number(output));
    last_use_[output_ids_.back()] = SIZE_MAX;
  }
  output_index_.resize(values_.size(), -1);
  for (size_t i = output_ids_.size(); i-- > 0;)
    output_index_[output_ids_[i]] = static_cast<int>(i);
  for (const Value* input : graph_->inputs())
    input_ids_.push_back(ids_.at(input));
  for (const Value* capture : graph_->captures())
    capture_ids_.push_back(ids_.at(capture));
  std::vector<ValueId> given = input_ids_;
  given.insert(given.end(), capture_ids_.begin(), capture_ids_.end());
  symbolic_ = ShapeExpressions(values_, given);
  root_.known = known_at_load(given);
  is_kept_.resize(values_.size());
  number_kinds();
  for (Numbered& numbered : nodes_) {
    numbered.has_formulas =
        !numbered.node->op->is(kRandom) &&
        std::ranges::all_of(numbered.outputs, [this](ValueId output) {
          return output != kNoValue && symbolic_.formula_of(output) != ShapeExpressions::kNoFormula;
        });
  }
}

const OpTraits& Executable::planned_op(const OpDef& op) {
  const auto at = ops_.find(&op);
  if (at != ops_.end()) return at->second;
  return ops_.try_emplace(&op, op, std::span(session_state_.providers)).first->second;
}

// Where few nodes share their attributes, not many others are looked at.
void Executable::number_kinds() {
  constexpr size_t kMaxTried = 8;
  std::unordered_map<const OpDef*, std::vector<const Numbered*>> seen;  // one of each kind
  uint32_t kinds = 0;
  for (Numbered& numbered : nodes_) {
    const Node& node = *numbered.node;
    if (node.op->is(kRandom) || node.captures > 0 || !subgraphs_of(node).empty()) continue;
    std::vector<const Numbered*>& others = seen[node.op];
    const auto last = others.rbegin() + std::min(others.size(), kMaxTried);
    const auto alike = std::find_if(others.rbegin(), last, [&](const Numbered* other) {
      return other->outputs.size() == numbered.outputs.size() &&
             other->inputs.size() == numbered.inputs.size() && other->node->attrs == node.attrs;
    });
    numbered.kind = alike == last ? kinds++ : (*alike)->kind;
    if (alike == last) others.push_back(&numbered);
  }
}

// The constants; what comes with the run is not known yet.
std::shared_ptr<const PlanSegment::Knowledge> Executable::known_at_load(
    std::span<const ValueId> given) {
  auto knowledge = std::make_shared<PlanSegment::Knowledge>();
  knowledge->own.resize(values_.size());
  for (ValueId id = 0; id < values_.size(); ++id) {
    PlanSegment::ValueState& entry = knowledge->own[id];
    knowledge->values.push_back(&entry);
    entry.constant = values_[id]->constant;
    if (!entry.constant) continue;
    entry.facts = inference_cache_.facts_of(entry.constant->dtype(), entry.constant->shape());
    entry.state = PlanSegment::ValueState::State::kTyped;
  }
  knowledge->dynamic.assign(given.begin(), given.end());
  for (const ValueId id : given) {
    knowledge->own[id] = {};
    knowledge->own[id].state = PlanSegment::ValueState::State::kDynamic;
  }
  return knowledge;
}

Executable::~Executable() = default;

std::string Executable::label(ValueId id) const {
  if (id == kNoValue) return "scratch";
  const Value& value = *values_[id];
  if (!value.producer) return "value " + value.name;
  return text("node ", value.producer->name, " (", full_name(*value.producer->op), "): output ",
              value.name);
}

std::unique_ptr<RunState> Executable::borrow_state() {
  {
    const std::lock_guard lock(state_mutex_);
    if (!idle_states_.empty()) {
      auto state = std::move(idle_states_.back());
      idle_states_.pop_back();
      return state;
    }
  }
  auto state = std::make_unique<RunState>();
  state->values.resize(values_.size());
  return state;
}

void Executable::return_state(std::unique_ptr<RunState> state) {
  state->clear(session_state_.buffers());
  const std::lock_guard lock(state_mutex_);
  idle_states_.push_back(std::move(state));
}

Executable::Trace Executable::segments_for(DatumRefs inputs) {
  Trace trace;
  std::unique_ptr<RunState> state = borrow_state();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].defined()) state->refer(input_ids_.at(i), &inputs[i]);
  }
  run_segments(*state, nullptr, &trace);
  return_state(std::move(state));
  return trace;
}

void Executable::prepare(DatumRefs inputs) {
  std::unique_ptr<RunState> state = borrow_state();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].defined()) state->refer(input_ids_[i], &inputs[i]);
  }
  find_or_plan(root_, *state);
  return_state(std::move(state));
}

void Executable::run_segments(RunState& state, std::vector<NodeTiming>* profile, Trace* trace) {
  std::shared_ptr<PlanSegment> current = find_or_plan(root_, state);
  while (true) {
    if (trace) trace->push_back(current);
    run_segment(current, state, profile);
    if (current->next_node == nodes_.size()) return;
    current = find_or_plan(*current, state);
  }
}

std::shared_ptr<PlanSegment> Executable::find_or_plan(PlanSegment& parent, const RunState& state) {
  static const Datum kOmitted;
  const auto fits = [&](const std::shared_ptr<PlanSegment>& child) {
    return std::ranges::all_of(child->conditions, [&](const ShapeGuard& condition) {
      const Datum* datum = state.values[condition.value];
      return condition.holds(datum ? *datum : kOmitted);
    });
  };
  const auto find = [&]() -> std::shared_ptr<PlanSegment> {
    const std::lock_guard lock(parent.mutex);
    auto& children = parent.children;
    if (children.empty()) return nullptr;
    if (fits(children.front())) return children.front();
    // Where many take turns, as in a loop, it is most likely the one that was not used for longest.
    const auto from_last = std::find_if(children.rbegin(), children.rend() - 1, fits);
    if (from_last == children.rend() - 1) return nullptr;
    const auto at = from_last.base() - 1;
    std::rotate(children.begin(), at, at + 1);  // the one used last goes first
    return children.front();
  };
  if (auto found = find()) return found;
  const std::lock_guard planning(planning_);
  if (auto found = find()) return found;  // another thread was faster
  std::shared_ptr<PlanSegment> made = plan(parent, state);
  const std::lock_guard lock(parent.mutex);
  parent.children.insert(parent.children.begin(), made);
  if (parent.children.size() > most_plans_) parent.children.pop_back();
  return made;
}

std::shared_ptr<PlanSegment> Executable::plan(PlanSegment& parent, const RunState& state) {
  const auto begin = std::chrono::steady_clock::now();
  inference_cache_.limit(nodes_.size());
  std::shared_ptr<PlanSegment> made = session_state_.weight_residency.planning(
      [&](bool may_release) { return Planner(*this, parent, state, may_release).plan(); });
  if (session_state_.plan_cache) session_state_.plan_cache->save();
  const Log& log = session_state_.log;
  if (!log.wants(LogLevel::kInfo)) return made;
  std::string given;
  for (const ValueId input : input_ids_) {
    if (const Datum* datum = state.values[input])
      given += text(given.empty() ? "" : ", ", values_[input]->name, " ", datum->type());
  }
  log.write(LogLevel::kInfo, "planned ", graph_->name.empty() ? "the graph" : graph_->name, " for ",
            given.empty() ? "no input" : given, ": ", made->steps.size(), " steps, ",
            made->arena_bytes, " bytes of intermediate values, ", session_state_.packs.bytes(),
            " of packed weights, in ", milliseconds_since(begin), " ms");
  for (const Step& step : made->steps) {
    log.write(LogLevel::kDebug, "  ", step_text(step, values_));
    if (!step.prepared) continue;
    for (const std::string& line : attempt_lines(step.prepared->attempts))
      log.write(LogLevel::kDebug, "    ", line);
  }
  return made;
}

size_t Executable::plan_count() const {
  size_t count = root_.children.size();
  for (const auto& [graph, executable] : subprograms_)
    count += executable->plan_count();
  return count;
}

}  // namespace sardonyx
