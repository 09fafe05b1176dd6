#include "executor/program.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "executor/planner.h"
#include "ir/run_control.h"

namespace sardonyx {
namespace {

// Pointers of tables that were made for another arena are moved to this one.
void rebase(const Segment& segment, Segment::Frame& frame, std::byte* base) {
  if (frame.base == base) return;
  for (const auto& [pointer, offset] : segment.arena_pointers)
    frame.pointers[pointer] = base + offset;
  frame.base = base;
}

std::unique_ptr<Segment::Frame> borrow_frame(Segment& segment) {
  {
    const std::lock_guard lock(segment.mutex);
    if (!segment.idle_frames.empty()) {
      auto frame = std::move(segment.idle_frames.back());
      segment.idle_frames.pop_back();
      return frame;
    }
  }
  auto frame = std::make_unique<Segment::Frame>();
  frame->pointers = segment.pointers;
  return frame;
}

void copy_into(const Tensor& from, Tensor to) {
  if (from.dtype() == DType::kString) {
    std::copy_n(static_cast<const std::string*>(from.raw()), from.count(),
                static_cast<std::string*>(to.raw()));
  } else if (from.count() > 0) {
    std::memcpy(to.raw(), from.raw(), from.bytes());
  }
}

}  // namespace

bool Condition::holds(const Datum& datum) const {
  if (!datum.is_tensor()) return same_kind(datum.type(), type);
  const Tensor& tensor = datum.tensor();
  return shape && tensor.dtype() == type.dtype && tensor.shape() == *shape &&
         (!equals || tensor == *equals);
}

std::shared_ptr<Buffer> Environment::borrow_arena(size_t bytes) {
  std::shared_ptr<Buffer> arena;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_arenas_.empty()) {
      arena = std::move(idle_arenas_.back());
      idle_arenas_.pop_back();
    }
  }
  if (arena && arena->size() >= bytes) return arena;
  arena.reset();  // before the larger one is asked for
  return Buffer::allocate(bytes);
}

void Environment::return_arena(std::shared_ptr<Buffer> arena) {
  const std::lock_guard lock(mutex_);
  idle_arenas_.push_back(std::move(arena));
}

void Environment::trim() {
  const std::lock_guard lock(mutex_);
  idle_arenas_.clear();
}

void RunState::set(ValueId id, Datum datum) {
  owned[id] = std::move(datum);
  refer(id, &owned[id]);
}

void RunState::refer(ValueId id, const Datum* datum) {
  values[id] = datum;
  touched.push_back(id);
}

void RunState::clear() {
  for (const ValueId id : touched) {
    values[id] = nullptr;
    owned[id] = Datum();
  }
  touched.clear();
  bound_outputs = {};
}

Program::Program(std::shared_ptr<const Graph> graph, Environment& environment)
    : graph_(std::move(graph)), environment_(environment) {
  const auto number = [&](const Value* value) {
    if (!ids_.emplace(value, static_cast<ValueId>(values_.size())).second) return;
    values_.push_back(value);
    last_use_.push_back(0);
  };
  for (const Value* input : graph_->inputs())
    number(input);
  for (const Value* capture : graph_->captures())
    number(capture);
  for (const auto& node : graph_->nodes()) {
    for (const Value* input : node->inputs) {
      if (!input) continue;
      number(input);
      last_use_[ids_.at(input)] = nodes_.size();
    }
    for (const Value* output : node->outputs)
      number(output);
    for (const GraphPtr& inner : subgraphs_of(*node)) {
      subprograms_.emplace(inner.get(), std::make_unique<Program>(inner, environment));
    }
    nodes_.push_back(node.get());
  }
  for (const Value* output : graph_->outputs()) {
    number(output);
    output_ids_.push_back(ids_.at(output));
    last_use_[output_ids_.back()] = SIZE_MAX;
  }
  auto known = std::make_shared<std::vector<Segment::Known>>(values_.size());
  for (ValueId id = 0; id < values_.size(); ++id) {
    if (!values_[id]->constant || graph_->is_input(*values_[id])) continue;
    Segment::Known& entry = (*known)[id];
    entry.constant = *values_[id]->constant;
    entry.type = Type::tensor(entry.constant->dtype(), to_dims(entry.constant->shape()));
    entry.shape = entry.constant->shape();
    entry.state = Segment::Known::State::kTyped;
  }
  const auto comes_with_the_run = [&](const Value* value, std::vector<ValueId>& ids) {
    ids.push_back(ids_.at(value));
    (*known)[ids.back()] = {};
    (*known)[ids.back()].state = Segment::Known::State::kDynamic;
  };
  for (const Value* input : graph_->inputs())
    comes_with_the_run(input, input_ids_);
  for (const Value* capture : graph_->captures())
    comes_with_the_run(capture, capture_ids_);
  root_.known = std::move(known);
}

Program::~Program() = default;

std::string Program::label(ValueId id) const {
  const Value& value = *values_[id];
  if (!value.producer) return "value " + value.name;
  return text("node ", value.producer->name, " (", full_name(*value.producer->op), "): output ",
              value.name);
}

std::unique_ptr<RunState> Program::borrow_state() {
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
  state->owned.resize(values_.size());
  return state;
}

void Program::return_state(std::unique_ptr<RunState> state) {
  state->clear();
  const std::lock_guard lock(state_mutex_);
  idle_states_.push_back(std::move(state));
}

std::vector<Datum> Program::run(std::span<const Datum> inputs, std::span<const Datum> captures,
                                std::vector<NodeTiming>* profile) {
  std::vector<Datum> outputs(output_ids_.size());
  run_into(inputs, captures, outputs, profile);
  return outputs;
}

void Program::run_into(std::span<const Datum> inputs, std::span<const Datum> captures,
                       std::span<Datum> outputs, std::vector<NodeTiming>* profile) {
  SARDONYX_CHECK(inputs.size() == input_ids_.size() && captures.size() == capture_ids_.size());
  SARDONYX_CHECK(outputs.size() == output_ids_.size());
  std::unique_ptr<RunState> state = borrow_state();
  state->bound_outputs = outputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].defined()) state->refer(input_ids_[i], &inputs[i]);
  }
  for (size_t i = 0; i < captures.size(); ++i) {
    if (captures[i].defined()) state->refer(capture_ids_[i], &captures[i]);
  }
  run_segments(*state, profile, nullptr);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Datum* result = state->values[output_ids_[i]];
    if (result == &outputs[i]) continue;
    const bool fits = result && result->is_tensor() && outputs[i].is_tensor() &&
                      outputs[i].tensor().dtype() == result->tensor().dtype() &&
                      outputs[i].tensor().shape() == result->tensor().shape();
    if (fits)
      copy_into(result->tensor(), outputs[i].tensor());
    else
      outputs[i] = result ? *result : Datum();
  }
  return_state(std::move(state));
}

std::vector<std::shared_ptr<const Segment>> Program::segments_for(std::span<const Datum> inputs) {
  Trace trace;
  std::unique_ptr<RunState> state = borrow_state();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].defined()) state->refer(input_ids_.at(i), &inputs[i]);
  }
  run_segments(*state, nullptr, &trace);
  return_state(std::move(state));
  return trace;
}

void Program::run_segments(RunState& state, std::vector<NodeTiming>* profile, Trace* trace) {
  std::shared_ptr<Segment> current = find_or_plan(root_, state);
  while (true) {
    if (trace) trace->push_back(current);
    run_segment(*current, state, profile);
    if (current->next_node == nodes_.size()) return;
    current = find_or_plan(*current, state);
  }
}

std::shared_ptr<Segment> Program::find_or_plan(Segment& parent, const RunState& state) {
  static const Datum kOmitted;
  const auto fits = [&](const std::shared_ptr<Segment>& child) {
    return std::ranges::all_of(child->conditions, [&](const Condition& condition) {
      const Datum* datum = state.values[condition.value];
      return condition.holds(datum ? *datum : kOmitted);
    });
  };
  const auto find = [&]() -> std::shared_ptr<Segment> {
    const std::lock_guard lock(parent.mutex);
    const auto at = std::ranges::find_if(parent.children, fits);
    if (at == parent.children.end()) return nullptr;
    std::rotate(parent.children.begin(), at, at + 1);  // the one used last goes first
    return parent.children.front();
  };
  if (auto found = find()) return found;
  const std::lock_guard planning(planning_);
  if (auto found = find()) return found;  // another thread was faster
  std::shared_ptr<Segment> made = Planner(*this, parent, state).plan();
  const std::lock_guard lock(parent.mutex);
  parent.children.insert(parent.children.begin(), made);
  if (parent.children.size() > environment_.max_plans) parent.children.pop_back();
  return made;
}

void Program::run_segment(Segment& segment, RunState& state, std::vector<NodeTiming>* profile) {
  std::unique_ptr<Segment::Frame> frame = borrow_frame(segment);
  std::shared_ptr<Buffer> arena;
  if (segment.arena_bytes > 0) {
    try {
      arena = environment_.borrow_arena(segment.arena_bytes);
    } catch (const Error& error) {
      const auto largest = std::ranges::max_element(segment.memory, {}, &MemoryItem::bytes);
      throw error.with_context(text("intermediate values (", segment.arena_bytes,
                                    " bytes; the largest is ",
                                    largest->value.empty() ? "scratch" : largest->value, ")"));
    }
    rebase(segment, *frame, arena->data());
  }
  for (const auto& [value, constant] : segment.constants)
    state.refer(value, &constant);
  for (const Alias& alias : segment.aliases) {
    state.set(alias.value, state.values[alias.source]->tensor().reshaped(alias.shape));
  }
  for (const auto& [pointer, value] : segment.entry_pointers) {
    frame->pointers[pointer] = state.values[value]->tensor().raw();
  }
  allocate(segment, *frame, state);
  run_steps(segment, *frame, state, profile);
  if (arena) environment_.return_arena(std::move(arena));
  const std::lock_guard lock(segment.mutex);
  segment.idle_frames.push_back(std::move(frame));
}

void Program::allocate(const Segment& segment, Segment::Frame& frame, RunState& state) {
  for (const Allocation& allocation : segment.allocations) {
    std::shared_ptr<Buffer> buffer;
    void* data = nullptr;
    for (const Allocation::Held& held : allocation.values) {
      if (held.output_index < 0 || state.bound_outputs.empty()) continue;
      const Datum& bound = state.bound_outputs[static_cast<size_t>(held.output_index)];
      if (!bound.is_tensor() || bound.tensor().dtype() != held.dtype ||
          bound.tensor().shape() != held.shape)
        continue;
      if (bound.tensor().bytes() != allocation.bytes || allocation.values.size() != 1) continue;
      data = bound.tensor().raw();
      state.refer(held.value, &bound);
      break;
    }
    if (!data) {
      try {
        buffer = allocation.strings >= 0 ? Buffer::allocate_strings(allocation.strings)
                                         : Buffer::allocate(allocation.bytes);
      } catch (const Error& error) {
        throw error.with_context(label(allocation.values.front().value));
      }
      data = buffer->data();
      for (const Allocation::Held& held : allocation.values) {
        state.set(held.value, Tensor(held.dtype, held.shape, buffer));
      }
    }
    for (const uint32_t pointer : allocation.pointers)
      frame.pointers[pointer] = data;
  }
}

void Program::run_steps(Segment& segment, Segment::Frame& frame, RunState& state,
                        std::vector<NodeTiming>* profile) {
  void** pointers = frame.pointers.data();
  const bool limited = current_control() != nullptr;
  for (const Step& step : segment.steps) {
    if (limited) check_interrupted();
    const auto start =
        profile ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point{};
    try {
      if (step.kernel) {
        void** own = pointers + step.first_pointer;
        void** outputs = own + step.input_count;
        step.kernel->run({own, outputs, static_cast<std::byte*>(outputs[step.output_count])});
      } else {
        evaluate_step(step, frame, state, profile);
      }
    } catch (const Error& error) {
      if (!error.node().empty() || step.label.empty()) throw;
      throw error.with_context("node " + step.label).at_node(step.label);
    }
    if (!profile) continue;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    NodeTiming timing{step.label, step.node ? full_name(*step.node->op) : "reorder",
                      step.implementation};
    if (step.node) timing.scope = step.node->scope, timing.source = step.node->source;
    timing.types = step.types;
    timing.seconds = elapsed.count();
    timing.bytes = step.bytes;
    profile->push_back(std::move(timing));
  }
}

void Program::evaluate_step(const Step& step, Segment::Frame& frame, RunState& state,
                            std::vector<NodeTiming>* profile) {
  std::vector<Datum> inputs;
  for (const ValueId value : step.inputs) {
    inputs.push_back(value == kNoValue || !state.values[value] ? Datum() : *state.values[value]);
  }
  const std::span<const Datum> all = inputs;
  std::vector<Datum> outputs;
  if (step.body) {
    std::vector<Datum> given;
    std::ranges::copy_if(inputs, std::back_inserter(given), &Datum::defined);
    outputs = step.body->run(given, {}, profile);
  } else {
    const size_t formal = step.node->formal_inputs();
    const SubgraphRunner run = [&](const Graph& graph, std::span<const Datum> in,
                                   std::span<const Datum> captured) {
      return subprograms_.at(&graph)->run(in, captured, nullptr);
    };
    outputs = step.node->op->evaluate({*step.node->op, step.node->attrs, all.first(formal),
                                       all.subspan(formal), step.outputs.size(), run});
  }
  outputs.resize(step.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (step.promised[i] && !(outputs[i].type() == *step.promised[i])) {
      fail(ErrorCode::kInternal, full_name(*step.node->op), ": output ", i, " is ",
           outputs[i].type(), ", inferred ", *step.promised[i]);
    }
    state.set(step.outputs[i], std::move(outputs[i]));
  }
  for (const auto& [pointer, output] : step.rebinds) {
    frame.pointers[pointer] = state.values[step.outputs[output]]->tensor().raw();
  }
  for (const Alias& alias : step.aliases) {
    state.set(alias.value, state.values[alias.source]->tensor().reshaped(alias.shape));
  }
}

size_t Program::plan_count() const {
  size_t count = root_.children.size();
  for (const auto& [graph, program] : subprograms_)
    count += program->plan_count();
  return count;
}

}  // namespace sardonyx
