#include "executor/program.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "executor/planner.h"
#include "ir/memory_blocks.h"
#include "ir/memory_guard.h"
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
  frame->buffers.resize(segment.allocations.size());
  size_t values = 0;
  for (const Allocation& allocation : segment.allocations)
    values += allocation.values.size();
  frame->values.resize(values);
  frame->aliases.resize(segment.aliases.size());
  return frame;
}

// Address `offset` bytes behind where `value` begins.
void* address_in(const Tensor& value, size_t offset) {
  return static_cast<std::byte*>(value.raw()) + offset;
}

// Where it begins in its buffer.
size_t offset_of(const Tensor& tensor) {
  return static_cast<size_t>(static_cast<std::byte*>(tensor.raw()) - tensor.buffer()->data());
}

Tensor alias_of(const Tensor& source, const Alias& alias) {
  return Tensor(source.dtype(), alias.shape, source.buffer(), offset_of(source) + alias.offset);
}

// What left the graph belongs to those who hold it now, and large buffers are not kept by idle
// frames, of which there may be many.
void drop_large(const Segment& segment, Segment::Frame& frame) {
  constexpr size_t kLargestKept = 64 << 10;
  Datum* values = frame.values.data();
  for (size_t i = 0; i < segment.allocations.size(); ++i) {
    const Allocation& allocation = segment.allocations[i];
    const std::span<Datum> made(values, allocation.values.size());
    values += made.size();
    const bool has_left = frame.buffers[i].use_count() > static_cast<long>(made.size()) + 1;
    if (allocation.bytes <= kLargestKept && !has_left) continue;
    std::ranges::fill(made, Datum());
    frame.buffers[i].reset();
  }
}

bool overlap(const Tensor& a, const Tensor& b) {
  const auto* first = static_cast<const std::byte*>(a.raw());
  const auto* second = static_cast<const std::byte*>(b.raw());
  return first < second + b.bytes() && second < first + a.bytes();
}

void copy_into(const Tensor& from, const Tensor& to) {
  if (from.dtype() == DType::kString) {
    std::copy_n(static_cast<const std::string*>(from.raw()), from.count(),
                static_cast<std::string*>(to.raw()));
  } else if (from.count() > 0) {
    std::memcpy(to.raw(), from.raw(), from.bytes());
  }
}

// What a loop without iterations stacks has the sizes that the plan knows, where the body alone
// does not tell them. False where `promised` is something else.
bool take_shape_without_elements(Datum& datum, const Type& promised) {
  const std::optional<Shape> shape = promised.known_shape();
  if (!datum.is_tensor() || !promised.is_tensor() || !shape) return false;
  const Tensor& tensor = datum.tensor();
  if (tensor.dtype() != promised.dtype || tensor.rank() != shape->size() || tensor.count() > 0 ||
      element_count(*shape) > 0) {
    return false;
  }
  datum = Tensor::allocate(promised.dtype, *shape);
  return true;
}

}  // namespace

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
  {
    const std::lock_guard lock(mutex_);
    idle_arenas_.clear();
  }
  release_kept_blocks();
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
  for (auto& [segment, frame] : frames) {
    drop_large(*segment, *frame);
    const std::lock_guard lock(segment->mutex);
    segment->idle_frames.push_back(std::move(frame));
  }
  frames.clear();
}

Program::Program(std::shared_ptr<const Graph> graph, Environment& environment)
    : graph_(std::move(graph)), environment_(environment) {
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
    Numbered numbered{node.get(), {}, {}};
    for (const Value* input : node->inputs) {
      numbered.inputs.push_back(number(input));
      if (input) last_use_[numbered.inputs.back()] = nodes_.size();
    }
    for (const Value* output : node->outputs)
      numbered.outputs.push_back(number(output));
    for (const GraphPtr& inner : subgraphs_of(*node)) {
      subprograms_.emplace(inner.get(), std::make_unique<Program>(inner, environment));
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
  symbolic_ = SymbolicValues(values_, given);
  root_.known = known_at_load(given);
}

// The constants; what comes with the run is not known yet.
std::shared_ptr<const Segment::Knowledge> Program::known_at_load(
    std::span<const ValueId> given) const {
  auto knowledge = std::make_shared<Segment::Knowledge>();
  knowledge->own.resize(values_.size());
  for (ValueId id = 0; id < values_.size(); ++id) {
    Segment::Known& entry = knowledge->own[id];
    knowledge->values.push_back(&entry);
    entry.constant = values_[id]->constant;
    if (!entry.constant) continue;
    entry.type = Type::tensor(entry.constant->dtype(), to_dims(entry.constant->shape()));
    entry.shape = entry.constant->shape();
    entry.state = Segment::Known::State::kTyped;
  }
  for (const ValueId id : given) {
    knowledge->own[id] = {};
    knowledge->own[id].state = Segment::Known::State::kDynamic;
  }
  return knowledge;
}

Program::~Program() = default;

std::string Program::label(ValueId id) const {
  if (id == kNoValue) return "scratch";
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
  take_outputs(*state, outputs);
  return_state(std::move(state));
}

// What was not computed in the caller's buffer is copied there or handed out.
void Program::take_outputs(const RunState& state, std::span<Datum> outputs) const {
  const auto result = [&](size_t i) -> const Tensor* {
    const Datum* datum = state.values[output_ids_[i]];
    return datum && datum->is_tensor() ? &datum->tensor() : nullptr;
  };
  // Output i is the caller's, and the result fits.
  const auto is_bound = [&](size_t i) {
    return result(i) && outputs[i].is_tensor() &&
           outputs[i].tensor().dtype() == result(i)->dtype() &&
           outputs[i].tensor().shape() == result(i)->shape();
  };
  const auto is_there = [&](size_t i) {
    return is_bound(i) && outputs[i].tensor().raw() == result(i)->raw();
  };
  // A result may lie in an input whose memory another output is to be copied to.
  const auto is_at_risk = [&](size_t i) {
    if (!result(i) || is_there(i)) return false;
    for (size_t other = 0; other < outputs.size(); ++other) {
      const bool is_copied = other != i && is_bound(other) && !is_there(other);
      if (is_copied && overlap(*result(i), outputs[other].tensor())) return true;
    }
    return false;
  };
  std::vector<std::pair<size_t, Tensor>> saved;  // nothing is allocated where there are none
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (is_at_risk(i)) saved.emplace_back(i, result(i)->clone());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool is_saved =
        std::ranges::any_of(saved, [&](const auto& entry) { return entry.first == i; });
    if (is_saved || is_there(i)) continue;
    const Datum* datum = state.values[output_ids_[i]];
    if (is_bound(i))
      copy_into(*result(i), outputs[i].tensor());
    else
      outputs[i] = datum ? *datum : Datum();
  }
  for (auto& [i, tensor] : saved) {
    if (is_bound(i))
      copy_into(tensor, outputs[i].tensor());
    else
      outputs[i] = std::move(tensor);
  }
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
    run_segment(current, state, profile);
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
  std::shared_ptr<Segment> made = plan(parent, state);
  const std::lock_guard lock(parent.mutex);
  parent.children.insert(parent.children.begin(), made);
  if (parent.children.size() > environment_.max_plans) parent.children.pop_back();
  return made;
}

std::shared_ptr<Segment> Program::plan(Segment& parent, const RunState& state) {
  const auto begin = std::chrono::steady_clock::now();
  std::shared_ptr<Segment> made = environment_.originals.planning(
      [&](bool may_release) { return Planner(*this, parent, state, may_release).plan(); });
  const Log& log = environment_.log;
  if (!log.wants(LogLevel::kInfo)) return made;
  std::string given;
  for (const ValueId input : input_ids_) {
    if (const Datum* datum = state.values[input])
      given += text(given.empty() ? "" : ", ", values_[input]->name, " ", datum->type());
  }
  log.write(LogLevel::kInfo, "planned ", graph_->name.empty() ? "the graph" : graph_->name, " for ",
            given.empty() ? "no input" : given, ": ", made->steps.size(), " steps, ",
            made->arena_bytes, " bytes of intermediate values, ", environment_.packs.bytes(),
            " of packed weights, in ", milliseconds_since(begin), " ms");
  for (const Step& step : made->steps)
    log.write(LogLevel::kDebug, "  ", step_text(step, values_));
  return made;
}

void Program::run_segment(const std::shared_ptr<Segment>& shared, RunState& state,
                          std::vector<NodeTiming>* profile) {
  Segment& segment = *shared;
  state.frames.emplace_back(shared, borrow_frame(segment));
  Segment::Frame& frame = *state.frames.back().second;
  std::shared_ptr<Buffer> arena;
  if (segment.arena_bytes > 0) {
    try {
      arena = environment_.borrow_arena(segment.arena_bytes);
    } catch (const Error& error) {
      const auto largest = std::ranges::max_element(segment.memory, {}, &MemoryItem::bytes);
      throw error.with_context(text("intermediate values (", segment.arena_bytes,
                                    " bytes; the largest is ", label(largest->value), ")"));
    }
    rebase(segment, frame, arena->data());
    if (memory_guard() != MemoryGuard::kNone)
      guard_gaps(segment.memory, arena->data(), arena->size());
  }
  for (const auto& [value, constant] : segment.constants)
    state.refer(value, &constant);
  refer_to_aliases(segment, frame, state);
  for (const auto& [at, value] : segment.entry_pointers)
    frame.pointers[at.pointer] = address_in(state.values[value]->tensor(), at.offset);
  allocate(segment, frame, state);
  run_steps(segment, frame, state, profile);
  if (arena) environment_.return_arena(std::move(arena));
}

// A value made for the last run serves again where its source still lies in the same place.
void Program::refer_to_aliases(const Segment& segment, Segment::Frame& frame, RunState& state) {
  for (size_t i = 0; i < segment.aliases.size(); ++i) {
    const Alias& alias = segment.aliases[i];
    const Tensor& source = state.values[alias.source]->tensor();
    Datum& made = frame.aliases[i];
    const bool is_same = made.defined() && made.tensor().buffer() == source.buffer() &&
                         made.tensor().raw() == address_in(source, alias.offset);
    if (!is_same) made = alias_of(source, alias);
    state.refer(alias.value, &made);
  }
}

// The caller's buffer where it is bound to a value that fills the allocation.
const Datum* Program::bound_buffer(const Allocation& allocation, const RunState& state) const {
  if (state.bound_outputs.empty()) return nullptr;
  for (const Allocation::Held& held : allocation.values) {
    if (held.output_index < 0 || held.offset != 0) continue;
    const Datum& bound = state.bound_outputs[static_cast<size_t>(held.output_index)];
    const bool fits = bound.is_tensor() && bound.tensor().dtype() == held.dtype &&
                      bound.tensor().shape() == held.shape &&
                      bound.tensor().bytes() == allocation.bytes;
    if (fits && may_be_written(bound.tensor(), allocation, state)) return &bound;
  }
  return nullptr;
}

// Nobody needs what lies there: no input, or only one that the allocation may be made over.
bool Program::may_be_written(const Tensor& bound, const Allocation& allocation,
                             const RunState& state) const {
  return std::ranges::all_of(input_ids_, [&](ValueId input) {
    const Datum* datum = state.values[input];
    if (!datum || !datum->is_tensor() || !overlap(bound, datum->tensor())) return true;
    return bound.raw() == datum->tensor().raw() &&
           std::ranges::find(allocation.in_place, input) != allocation.in_place.end();
  });
}

void Program::allocate(const Segment& segment, Segment::Frame& frame, RunState& state) {
  Datum* values = frame.values.data();
  for (size_t i = 0; i < segment.allocations.size(); ++i) {
    const Allocation& allocation = segment.allocations[i];
    const std::span<Datum> made(values, allocation.values.size());
    values += made.size();
    const Datum* bound = bound_buffer(allocation, state);
    if (bound) {
      frame.buffers[i].reset();
      lay_into(bound->tensor(), allocation, made);
    } else {
      make_anew(allocation, frame.buffers[i], made);
    }
    auto* data = static_cast<std::byte*>(bound ? bound->tensor().raw() : frame.buffers[i]->data());
    for (size_t k = 0; k < made.size(); ++k)
      state.refer(allocation.values[k].value, made[k].defined() ? &made[k] : bound);
    for (const auto& [pointer, offset] : allocation.pointers)
      frame.pointers[pointer] = data + offset;
  }
}

// The values of an allocation, in a buffer of the caller's: one that is just what the caller gave
// is left empty. Those of the last run serve again where the buffer was the same.
void Program::lay_into(const Tensor& bound, const Allocation& allocation, std::span<Datum> made) {
  for (size_t k = 0; k < made.size(); ++k) {
    const Allocation::Held& held = allocation.values[k];
    if (held.offset == 0 && held.shape == bound.shape()) {
      made[k] = Datum();
      continue;
    }
    const bool is_same = made[k].defined() && made[k].tensor().buffer() == bound.buffer() &&
                         made[k].tensor().raw() == address_in(bound, held.offset);
    if (is_same) continue;
    made[k] = Tensor(held.dtype, held.shape, bound.buffer(), offset_of(bound) + held.offset);
  }
}

// In a buffer of its own; that of the last run where nobody outside holds it any more.
void Program::make_anew(const Allocation& allocation, std::shared_ptr<Buffer>& buffer,
                        std::span<Datum> made) const {
  if (buffer && buffer.use_count() == static_cast<long>(made.size()) + 1) return;
  std::ranges::fill(made, Datum());
  buffer = allocated(allocation);
  for (size_t k = 0; k < made.size(); ++k) {
    const Allocation::Held& held = allocation.values[k];
    made[k] = Tensor(held.dtype, held.shape, buffer, held.offset);
  }
}

std::shared_ptr<Buffer> Program::allocated(const Allocation& allocation) const {
  try {
    return allocation.strings >= 0 ? Buffer::allocate_strings(allocation.strings)
                                   : Buffer::allocate(allocation.bytes);
  } catch (const Error& error) {
    const auto& values = allocation.values;
    if (values.empty()) throw;
    throw error.with_context(label(values.front().value));
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
      const std::string name = label_of(step, values_);
      if (!error.node().empty() || name.empty()) throw;
      throw error.with_context("node " + name).at_node(name);
    }
    if (!profile) continue;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    NodeTiming timing{label_of(step, values_), step.node ? full_name(*step.node->op) : "reorder",
                      step.implementation};
    if (step.node) timing.scope = step.node->scope, timing.source = step.node->source;
    timing.types = types_of(step);
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
    if (step.promised[i] && !(outputs[i].type() == *step.promised[i]) &&
        !take_shape_without_elements(outputs[i], *step.promised[i])) {
      fail(ErrorCode::kInternal, full_name(*step.node->op), ": output ", i, " is ",
           outputs[i].type(), ", inferred ", *step.promised[i]);
    }
    if (step.outputs[i] != kNoValue) state.set(step.outputs[i], std::move(outputs[i]));
  }
  for (const auto& [at, output] : step.rebinds)
    frame.pointers[at.pointer] =
        address_in(state.values[step.outputs[output]]->tensor(), at.offset);
  for (const Alias& alias : step.aliases)
    state.set(alias.value, alias_of(state.values[alias.source]->tensor(), alias));
}

size_t Program::plan_count() const {
  size_t count = root_.children.size();
  for (const auto& [graph, program] : subprograms_)
    count += program->plan_count();
  return count;
}

}  // namespace sardonyx
