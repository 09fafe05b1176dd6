// One run of an executable: from segment to segment, and the steps of each.
#include <chrono>

#include "executor/run/executable.h"
#include "ir/core/memory/guard_pages.h"
#include "ir/core/run_control.h"
#include "ir/custom_op.h"

namespace sardonyx {
namespace {

// Pointers of tables that were made for another arena are moved to this one.
void rebase(const PlanSegment& segment, PlanSegment::RunContext& context, std::byte* base) {
  if (context.base == base) return;
  for (const auto& [pointer, offset] : segment.arena_pointers)
    context.pointers[pointer] = base + offset;
  context.base = base;
}

// Makes `slot` the view `alias` of `source`.
const Datum* make_view(Datum& slot, const Tensor& source, const Alias& alias) {
  slot.as_tensor().assign(source.dtype(), alias.shape, source.buffer(),
                          source.byte_offset() + alias.offset);
  return &slot;
}

// Whether the result has the type and shape that the plan promises. An empty result of a loop that
// ran no iteration is given the promised shape, which its body does not tell.
bool keeps_promise(Datum& datum, const Step::Promise& promise) {
  if (!datum.is_tensor()) return false;
  const Tensor& tensor = datum.tensor();
  if (tensor.dtype() != promise.dtype) return false;
  if (tensor.shape() == promise.shape) return true;
  if (tensor.rank() != promise.shape.size() || tensor.count() > 0 ||
      element_count(promise.shape) > 0) {
    return false;
  }
  datum = Tensor::allocate(promise.dtype, promise.shape);
  return true;
}

// `error` with the name of the step's node.
template <typename Values>
Error placed(const Error& error, const Step& step, const Values& values) {
  const std::string name = label_of(step, values);
  if (name.empty()) return error;
  return error.with_context("node " + name + (step.node ? source_text(*step.node) : ""))
      .at_node(name);
}

// A custom op that breaks what its `infer` said is an error of the caller; any other is ours.
[[noreturn]] void refuse_result(const Node& node, size_t index, const Datum& got,
                                const Step::Promise& promise) {
  const bool is_custom = CustomOpRow::is_row(*node.op);
  fail(is_custom ? ErrorCode::kInvalidArgument : ErrorCode::kInternal, full_name(*node.op),
       ": output ", signature_of(*node.op).output(index).name,
       is_custom ? ": its infer said " : ": expected ", promise.dtype, to_text(promise.shape),
       ", its compute made ", got.type());
}

}  // namespace

void Executable::run_into(DatumRefs inputs, DatumRefs captures, std::span<RunOutput> outputs,
                          std::vector<NodeTiming>* profile, bool strict_outputs) {
  SARDONYX_CHECK(inputs.size() == graph_.inputs().size() &&
                 captures.size() == graph_.captures().size());
  SARDONYX_CHECK(outputs.size() == graph_.outputs().size());
  std::unique_ptr<RunState> state = borrow_state();
  state->outputs = outputs;
  state->strict_outputs = strict_outputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].defined()) state->refer(graph_.inputs()[i], &inputs[i]);
  }
  for (size_t i = 0; i < captures.size(); ++i) {
    if (captures[i].defined()) state->refer(graph_.captures()[i], &captures[i]);
  }
  run_segments(*state, profile, nullptr);
  take_outputs(*state);
  return_state(std::move(state));
}

void Executable::run_segment(const std::shared_ptr<PlanSegment>& shared, RunState& state,
                             std::vector<NodeTiming>* profile) {
  PlanSegment& segment = *shared;
  if (state.strict_outputs) require_fits(segment, state);
  state.contexts.emplace_back(shared, segment.borrow_context());
  PlanSegment::RunContext& context = *state.contexts.back().second;
  std::shared_ptr<Buffer> arena;
  if (segment.arena_bytes > 0) {
    try {
      arena = session_state_.borrow_arena(segment.arena_bytes);
    } catch (const Error& error) {
      const auto largest = std::ranges::max_element(segment.memory, {}, &MemoryItem::bytes);
      throw error.with_context(text("intermediate values (", segment.arena_bytes,
                                    " bytes; the largest is ", label(largest->value), ")"));
    }
    rebase(segment, context, arena->data());
    if (memory_guard() != MemoryGuard::kNone)
      guard_gaps(segment.memory, arena->data(), arena->size());
  }
  for (const auto& [value, constant] : segment.constants)
    state.refer(value, &constant);
  refer_to_aliases(segment, context, state);
  for (const auto& [at, value] : segment.entry_pointers)
    context.pointers[at.pointer] = address_in(state.values[value]->tensor(), at.offset);
  allocate(segment, context, state);
  run_steps(segment, context, state, profile);
  if (arena) session_state_.return_arena(std::move(arena));
}

void Executable::refer_to_aliases(const PlanSegment& segment, PlanSegment::RunContext& context,
                                  RunState& state) {
  for (size_t i = 0; i < segment.aliases.size(); ++i) {
    const Alias& alias = segment.aliases[i];
    const Tensor& source = state.values[alias.source]->tensor();
    state.refer(alias.value, make_view(context.aliases[i], source, alias));
  }
}

void Executable::run_steps(PlanSegment& segment, PlanSegment::RunContext& context, RunState& state,
                           std::vector<NodeTiming>* profile) {
  void** pointers = context.pointers.data();
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
        evaluate_step(step, context, state, profile);
      }
    } catch (const ProgramError& error) {
      if (!error.node().empty()) throw;
      throw ProgramError(placed(error, step, graph_.values()));
    } catch (const Error& error) {
      if (!error.node().empty()) throw;
      throw placed(error, step, graph_.values());
    }
    if (!profile) continue;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    NodeTiming timing{label_of(step, graph_.values()),
                      step.node ? full_name(*step.node->op) : "reorder",
                      std::string(step.implementation())};
    if (step.node) timing.scope = step.node->scope, timing.source = step.node->source;
    timing.types = types_of(step);
    timing.seconds = elapsed.count();
    timing.bytes = step.bytes;
    profile->push_back(std::move(timing));
  }
}

void Executable::evaluate_step(const Step& step, PlanSegment::RunContext& context, RunState& state,
                               std::vector<NodeTiming>* profile) {
  const ScratchMark mark;
  std::pmr::vector<const Datum*> inputs(scratch());
  inputs.reserve(step.inputs.size());
  for (const ValueId value : step.inputs)
    inputs.push_back(value == kNoValue ? nullptr : state.values[value]);
  const auto outputs = std::span(context.results).subspan(step.first_result, step.outputs.size());
  if (step.body)
    run_body(step, {inputs}, outputs, profile);
  else
    evaluate_op(step, context, {inputs}, outputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (step.promised[i] && !keeps_promise(outputs[i], *step.promised[i]))
      refuse_result(*step.node, i, outputs[i], *step.promised[i]);
    const ValueId value = step.outputs[i];
    if (value == kNoValue) continue;
    state.refer(value, &outputs[i]);
  }
  for (const auto& [at, output] : step.rebinds)
    context.pointers[at.pointer] =
        address_in(state.values[step.outputs[output]]->tensor(), at.offset);
  for (size_t i = 0; i < step.aliases.size(); ++i) {
    const Alias& alias = step.aliases[i];
    const Tensor& source = state.values[alias.source]->tensor();
    state.refer(alias.value, make_view(context.aliases[step.first_alias + i], source, alias));
  }
}

void Executable::evaluate_op(const Step& step, PlanSegment::RunContext& context, DatumRefs inputs,
                             std::span<Datum> outputs) {
  const size_t formal = step.node->formal_inputs();
  const SubgraphRunner run = [this](const Graph& graph, DatumRefs in, DatumRefs captured,
                                    std::span<Datum> out) {
    inner_executables_.at(&graph)->run_inner(in, captured, out, nullptr);
  };
  step.node->op->evaluate({*step.node->op, step.node->attrs, inputs.first(formal),
                           inputs.subspan(formal), outputs, run, &session_state_.buffers(),
                           &context.memory[step.memory]});
}

// Runs a subgraph: no output is bound to memory of the caller.
void Executable::run_inner(DatumRefs inputs, DatumRefs captures, std::span<Datum> outputs,
                           std::vector<NodeTiming>* profile) {
  const ScratchMark mark;
  std::pmr::vector<RunOutput> shown(outputs.begin(), outputs.end(), scratch());
  run_into(inputs, captures, shown, profile);
}

// The body's graph has the inputs that are given, and the outputs that it makes.
void Executable::run_body(const Step& step, DatumRefs inputs, std::span<Datum> outputs,
                          std::vector<NodeTiming>* profile) {
  std::pmr::vector<const Datum*> given(scratch());
  given.reserve(inputs.size());
  for (const Datum* input : inputs.pointers()) {
    if (input && input->defined()) given.push_back(input);
  }
  const size_t made = step.body->graph_.outputs().size();
  step.body->run_inner({given}, {}, outputs.first(made), profile);
  for (Datum& output : outputs.subspan(made))
    output.clear();
}

}  // namespace sardonyx
