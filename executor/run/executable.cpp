#include "executor/run/executable.h"

#include <algorithm>
#include <chrono>

#include "executor/plan/planner.h"

namespace sardonyx {

Executable::Executable(std::shared_ptr<const Graph> graph, SessionState& session_state,
                       size_t max_plans)
    : graph_(std::move(graph), session_state.providers),
      session_state_(session_state),
      max_plans_(max_plans),
      caches_(graph_.values().size()) {
  for (const IndexedNode& indexed : graph_.nodes()) {
    for (const GraphPtr& inner : subgraphs_of(*indexed.node)) {
      inner_executables_.emplace(
          inner.get(),
          std::make_unique<Executable>(inner, session_state, session_state.max_inner_plans()));
    }
  }
  root_.known = knowledge_at_load(graph_, caches_.inferences);
}

Executable::~Executable() = default;

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
  state->values.resize(graph_.values().size());
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
    if (inputs[i].defined()) state->refer(graph_.inputs()[i], &inputs[i]);
  }
  run_segments(*state, nullptr, &trace);
  return_state(std::move(state));
  return trace;
}

void Executable::prepare(DatumRefs inputs) {
  std::unique_ptr<RunState> state = borrow_state();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].defined()) state->refer(graph_.inputs()[i], &inputs[i]);
  }
  find_or_plan(root_, *state);
  return_state(std::move(state));
}

void Executable::run_segments(RunState& state, std::vector<NodeTiming>* profile, Trace* trace) {
  std::shared_ptr<PlanSegment> current = find_or_plan(root_, state);
  while (true) {
    if (trace) trace->push_back(current);
    // No plan depends on what the last segment computes.
    if (trace && current->next_node == graph_.nodes().size()) return;
    run_segment(current, state, profile);
    if (current->next_node == graph_.nodes().size()) return;
    current = find_or_plan(*current, state);
  }
}

std::shared_ptr<PlanSegment> Executable::find_or_plan(PlanSegment& parent, const RunState& state) {
  static const Datum kOmitted;
  const auto fits = [&](const std::shared_ptr<PlanSegment>& child) {
    return std::ranges::all_of(child->guards, [&](const ShapeGuard& guard) {
      const Datum* datum = state.values[guard.value];
      return guard.holds(datum ? *datum : kOmitted);
    });
  };
  const auto find = [&]() -> std::shared_ptr<PlanSegment> {
    const std::lock_guard lock(parent.mutex);
    auto& children = parent.children;
    if (children.empty()) return nullptr;
    if (fits(children.front())) return children.front();
    // Children are in order of last use. Where many take turns, as in a loop, the least recently
    // used one is the likeliest to fit, so the search goes backwards.
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
  if (parent.children.size() > max_plans_) parent.children.pop_back();
  return made;
}

std::shared_ptr<PlanSegment> Executable::plan(PlanSegment& parent, const RunState& state) {
  const auto begin = std::chrono::steady_clock::now();
  caches_.inferences.limit(graph_.nodes().size());
  std::shared_ptr<PlanSegment> made =
      session_state_.weight_residency.planning([&](bool may_release) {
        return plan_segment({graph_, caches_, session_state_, parent, state.values, may_release});
      });
  if (session_state_.plan_cache) session_state_.plan_cache->save();
  const Log& log = session_state_.log;
  if (!log.wants(LogLevel::kInfo)) return made;
  std::string given;
  for (const ValueId input : graph_.inputs()) {
    if (const Datum* datum = state.values[input])
      given += text(given.empty() ? "" : ", ", graph_.values()[input]->name, " ", datum->type());
  }
  log.write(LogLevel::kInfo, "planned ", graph().name.empty() ? "the graph" : graph().name, " for ",
            given.empty() ? "no input" : given, ": ", made->steps.size(), " steps, ",
            made->arena_bytes, " bytes of intermediate values, ", session_state_.packs.bytes(),
            " of packed weights, in ", milliseconds_since(begin), " ms");
  for (const Step& step : made->steps) {
    log.write(LogLevel::kDebug, "  ", step_text(step, graph_.values()));
    if (!step.prepared) continue;
    for (const std::string& line : attempt_lines(step.prepared->attempts))
      log.write(LogLevel::kDebug, "    ", line);
  }
  return made;
}

size_t Executable::plan_count() const {
  std::unique_lock lock(root_.mutex);  // runs may plan meanwhile
  size_t count = root_.children.size();
  lock.unlock();
  for (const auto& [graph, executable] : inner_executables_)
    count += executable->plan_count();
  return count;
}

}  // namespace sardonyx
