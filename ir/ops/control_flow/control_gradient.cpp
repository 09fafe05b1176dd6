#include "ir/ops/control_flow/control_gradient.h"

#include <algorithm>

#include "ir/core/bools.h"
#include "ir/ops/control_flow/control.h"
#include "ir/ops/gradient/subgraph_builder.h"
#include "ir/ops/inference/shape_arithmetic.h"
#include "ir/ops/sequence/sequence_gradient.h"

namespace sardonyx::ops {

namespace {

using Ints = std::vector<int64_t>;

std::span<const Val> captures_of(const GradCall& call) {
  return std::span(call.inputs).last(call.captures);
}

// The gradients found within a subgraph, zeros where there are none.
Vals or_zeros(Emitter& e, Vals found, const Vals& values) {
  for (size_t i = 0; i < found.size(); ++i) {
    if (!found[i]) found[i] = zeros_like(e, values[i]);
  }
  return found;
}

// ---- If

// A graph that takes the captures, then the gradients of the outputs `known`, and gives the
// gradients of the captures `wanted`.
GraphPtr branch_gradient(const Graph& branch, const std::vector<size_t>& known,
                         const std::vector<size_t>& wanted) {
  SubgraphBuilder body;
  Vals captures, ys, d_ys, xs;
  for (const Value* capture : branch.captures())
    captures.push_back(body.add_capture(capture->type));
  for (const size_t output : known)
    d_ys.push_back(body.add_capture(branch.outputs()[output]->type));
  const Vals outputs = replay(branch, body.emitter(), {}, captures);
  for (const size_t output : known)
    ys.push_back(outputs[output]);
  for (const size_t capture : wanted)
    xs.push_back(captures[capture]);
  for (const Val& found : or_zeros(body.emitter(), body.emitter().gradients(ys, d_ys, xs), xs))
    body.add_output(found);
  return body.graph();
}

// The branch's own ops instead of an If, where it is known which one is taken.
Vals gradients_of_taken(Emitter& e, const GradCall& call, const Graph& branch,
                        const std::vector<size_t>& known, const std::vector<size_t>& wanted) {
  RecordingEmitter recorder(e);
  const Vals outputs = replay(branch, recorder, {}, captures_of(call));
  Vals ys, d_ys, xs;
  for (const size_t output : known) {
    ys.push_back(outputs[output]);
    d_ys.push_back(call.d_outputs[output]);
  }
  for (const size_t capture : wanted)
    xs.push_back(captures_of(call)[capture]);
  return recorder.gradients(ys, d_ys, xs);
}

// ---- Shared by Loop and Scan

// The places of a loop's values, by their order in the body.
struct LoopPlaces {
  std::vector<size_t> states;    // carried values with gradients
  std::vector<size_t> scans;     // scan outputs whose gradients are known
  std::vector<size_t> slices;    // scan inputs whose gradients are wanted
  std::vector<size_t> captures;  // captures whose gradients are wanted
};

// Emits a step backwards: the body again, then the gradients of its states, captures and
// slices, in this order. d_ys has the gradients of the states, then those of the scan outputs.
Vals step_gradients(RecordingEmitter& e, const Graph& body, const Vals& inputs,
                    const Vals& captures, const LoopPlaces& places, size_t first_input,
                    size_t first_output, size_t state_count, const Vals& d_ys) {
  const Vals outputs = replay(body, e, inputs, captures);
  Vals ys, xs;
  for (const size_t state : places.states) {
    ys.push_back(outputs[first_output + state]);
    xs.push_back(inputs[first_input + state]);
  }
  for (const size_t scan : places.scans)
    ys.push_back(outputs[first_output + state_count + scan]);
  for (const size_t capture : places.captures)
    xs.push_back(captures[capture]);
  for (const size_t slice : places.slices)
    xs.push_back(inputs[first_input + state_count + slice]);
  return or_zeros(e, e.gradients(ys, d_ys, xs), xs);
}

// Where the gradients that come out of the backward loop go: `found` has those of the states, the
// captures and the slices.
Vals by_input(const GradCall& call, const LoopPlaces& places, size_t first_input,
              size_t state_count, const Vals& found) {
  Vals gradients(call.inputs.size());
  size_t next = 0;
  for (const size_t state : places.states)
    gradients[first_input + state] = found[next++];
  const size_t formal = call.inputs.size() - call.captures;
  for (const size_t capture : places.captures)
    gradients[formal + capture] = found[next++];
  for (const size_t slice : places.slices)
    gradients[first_input + state_count + slice] = found[next++];
  return gradients;
}

LoopPlaces places_of(const Emitter& e, const GradCall& call, size_t first_input, size_t states,
                     size_t slices) {
  LoopPlaces places;
  for (size_t i = 0; i < states; ++i) {
    if (carries_gradients(e.type(call.inputs[first_input + i]))) places.states.push_back(i);
  }
  for (size_t i = states; i < call.d_outputs.size(); ++i) {
    if (call.has_d(i)) places.scans.push_back(i - states);
  }
  for (size_t i = 0; i < slices; ++i) {
    if (call.wants(first_input + states + i)) places.slices.push_back(i);
  }
  const size_t formal = call.inputs.size() - call.captures;
  for (size_t i = 0; i < call.captures; ++i) {
    if (call.wants(formal + i)) places.captures.push_back(i);
  }
  return places;
}

// The gradients that go into the last iteration, then zeros to which those of captures are added.
Vals initial_gradients(Emitter& e, const GradCall& call, const LoopPlaces& places,
                       std::span<const Val> finals) {
  Vals initial;
  for (const size_t state : places.states) {
    initial.push_back(call.has_d(state) ? call.d_outputs[state] : zeros_like(e, finals[state]));
  }
  for (const size_t capture : places.captures)
    initial.push_back(zeros_like(e, captures_of(call)[capture]));
  return initial;
}

// Adds the outputs that a backward body carries: gradients of the states, and sums over iterations
// for the captures.
void add_carried(SubgraphBuilder& body, const LoopPlaces& places, const Vals& sums,
                 const Vals& found) {
  const size_t states = places.states.size();
  for (size_t i = 0; i < states; ++i)
    body.add_output(found[i]);
  for (size_t i = 0; i < places.captures.size(); ++i)
    body.add_output(added_gradients(body.emitter(), sums[i], found[states + i]));
}

void append(Vals& list, std::span<const Val> more) {
  list.insert(list.end(), more.begin(), more.end());
}

// Values of `state`'s shape, one for each iteration, in that shape even if there was none: sizes
// known at run time only are not known then.
Val in_shape_of(Emitter& e, const Val& stacked, const Val& state) {
  if (e.type(state).known_shape()) return stacked;
  const Val shape = joined_lists(e, {dims_of(e, stacked, 0, 1), shape_of(e, state)});
  return e.call("Reshape", {stacked, shape}, {{"allowzero", int64_t{1}}});
}

// ---- Scan

int64_t setting_of(const std::optional<Ints>& setting, size_t index) {
  return setting ? (*setting)[index] : 0;
}

struct ScanParts {
  const ScanAttrs& attrs;
  const Graph& body;
  size_t states, slices, scans;
};

ScanParts parts_of(const GradCall& call, const ScanAttrs& attrs) {
  const size_t formal = call.inputs.size() - call.captures;
  const auto slices = static_cast<size_t>(attrs.num_scan_inputs);
  const size_t states = formal - slices;
  return {attrs, *attrs.body, states, slices, attrs.body->outputs().size() - states};
}

// The states before each step, one after the other.
Vals kept_scan_states(Emitter& e, const GradCall& call, const ScanParts& parts, Vals& finals) {
  if (parts.states == 0) return {};
  SubgraphBuilder body;
  Vals inputs, captures;
  for (const Value* input : parts.body.inputs())
    inputs.push_back(body.add_input(input->type));
  for (const Value* capture : parts.body.captures())
    captures.push_back(body.add_capture(capture->type));
  const Vals outputs = replay(parts.body, body.emitter(), inputs, captures);
  for (size_t i = 0; i < parts.states; ++i)
    body.add_output(outputs[i]);
  for (size_t i = 0; i < parts.states; ++i)
    body.add_output(inputs[i]);
  ScanAttrs attrs = parts.attrs;
  attrs.body = body.graph();
  attrs.scan_output_axes = attrs.scan_output_directions = std::nullopt;
  Vals results =
      e.emit(op_named("Scan"), call.inputs, Attrs(attrs), 2 * parts.states, call.captures);
  const auto middle = results.begin() + static_cast<std::ptrdiff_t>(parts.states);
  finals.assign(results.begin(), middle);
  Vals kept(middle, results.end());
  for (size_t i = 0; i < kept.size(); ++i)
    kept[i] = in_shape_of(e, kept[i], call.inputs[i]);
  return kept;
}

// Scan inputs of the backward scan: the kept states, the scan inputs, the scan outputs' gradients.
GraphPtr backward_scan_body(const ScanParts& parts, const LoopPlaces& places) {
  SubgraphBuilder body;
  const auto& inner = parts.body.inputs();
  Vals d_ys, sums, inputs, captures;
  for (const size_t state : places.states)
    d_ys.push_back(body.add_input(inner[state]->type));
  for (const size_t capture : places.captures)
    sums.push_back(body.add_input(parts.body.captures()[capture]->type));
  for (const Value* input : inner)
    inputs.push_back(body.add_input(input->type));
  for (const size_t scan : places.scans)
    d_ys.push_back(body.add_input(parts.body.outputs()[parts.states + scan]->type));
  for (const Value* capture : parts.body.captures())
    captures.push_back(body.add_capture(capture->type));
  const Vals found = step_gradients(body.emitter(), parts.body, inputs, captures, places, 0, 0,
                                    parts.states, d_ys);
  add_carried(body, places, sums, found);
  for (size_t i = 0; i < places.slices.size(); ++i)
    body.add_output(found[places.states.size() + places.captures.size() + i]);
  return body.graph();
}

ScanAttrs backward_scan_attrs(const ScanParts& parts, const LoopPlaces& places) {
  const ScanAttrs& attrs = parts.attrs;
  Ints axes(parts.states, 0), directions(parts.states, 1), d_axes, d_directions;
  for (size_t i = 0; i < parts.slices; ++i) {
    axes.push_back(setting_of(attrs.scan_input_axes, i));
    directions.push_back(1 - setting_of(attrs.scan_input_directions, i));
  }
  for (const size_t scan : places.scans) {
    axes.push_back(setting_of(attrs.scan_output_axes, scan));
    directions.push_back(1 - setting_of(attrs.scan_output_directions, scan));
  }
  for (const size_t slice : places.slices) {
    d_axes.push_back(setting_of(attrs.scan_input_axes, slice));
    d_directions.push_back(1 - setting_of(attrs.scan_input_directions, slice));
  }
  return {.body = backward_scan_body(parts, places),
          .num_scan_inputs = static_cast<int64_t>(axes.size()),
          .scan_input_axes = axes,
          .scan_input_directions = directions,
          .scan_output_axes = d_axes,
          .scan_output_directions = d_directions};
}

// ---- Loop

// Inputs 0 and 1 of Loop and of its body are no carried values, nor is output 0 of the body.
constexpr size_t kFirstInput = 2, kFirstOutput = 1;

// The values that the forward loop kept.
struct KeptLoop {
  Val count;    // of iterations, a scalar
  Vals finals;  // carried values after the last
  Vals states;  // those before each: stacked, or a sequence
  std::vector<bool> is_stacked;
};

// Are the types of a carried value before the first and in any iteration the same? (Symbols that
// the enclosing graph made up have a mark inside, see BodyTyper.)
bool keeps_shape(const Type& outside, const Type& inside) {
  if (!outside.shape || !inside.shape || outside.rank() != inside.rank()) return false;
  for (size_t i = 0; i < outside.rank(); ++i) {
    const Dim marked = (*outside.shape)[i].substitute([](std::string_view symbol) {
      return symbol.starts_with('?') ? std::optional(Dim::symbol(std::string(symbol) + "_"))
                                     : std::nullopt;
    });
    if (!(marked == (*inside.shape)[i])) return false;
  }
  return true;
}

KeptLoop keep_loop(Emitter& e, const GradCall& call, const Graph& body_graph) {
  const size_t formal = call.inputs.size() - call.captures, states = formal - kFirstInput;
  KeptLoop kept;
  SubgraphBuilder body;
  Vals inputs, lists, captures,
      given(call.inputs.begin(), call.inputs.begin() + static_cast<std::ptrdiff_t>(formal));
  for (const Value* input : body_graph.inputs())
    inputs.push_back(body.add_input(input->type));
  for (size_t i = 0; i < states; ++i) {
    const Type outside = e.type(call.inputs[kFirstInput + i]);
    const Type& inside = body_graph.inputs()[kFirstInput + i]->type;
    if (!outside.is_tensor() || !inside.is_tensor()) {
      fail(ErrorCode::kUnsupported, "carried value ", i, " is ", outside,
           "; only tensors can be kept for the way back: carry tensors, or detach the inputs");
    }
    kept.is_stacked.push_back(keeps_shape(outside, inside));
    if (kept.is_stacked.back()) continue;
    given.push_back(e.call("SequenceEmpty", {}, {{"dtype", static_cast<int64_t>(outside.dtype)}}));
    lists.push_back(body.add_input(Type::sequence(Type::tensor(outside.dtype))));
  }
  for (const Value* capture : body_graph.captures())
    captures.push_back(body.add_capture(capture->type));
  RecordingEmitter& inner = body.emitter();
  const Vals outputs = replay(body_graph, inner, inputs, captures);
  for (size_t i = 0; i < kFirstOutput + states; ++i)
    body.add_output(outputs[i]);
  for (size_t i = 0, next = 0; i < states; ++i) {
    if (kept.is_stacked[i]) continue;
    body.add_output(inner.call("SequenceInsert", {lists[next++], inputs[kFirstInput + i]}));
  }
  body.add_output(inputs[0]);
  for (size_t i = 0; i < states; ++i) {
    if (kept.is_stacked[i]) body.add_output(inputs[kFirstInput + i]);
  }
  append(given, captures_of(call));
  const Vals results = e.emit(op_named("Loop"), given, Attrs(LoopAttrs{body.graph()}),
                              2 * states + 1, call.captures);
  kept.finals.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(states));
  kept.count = e.call("Squeeze", {e.call("Shape", {results[states + lists.size()]})});
  size_t next_list = states, next_stack = states + lists.size() + 1;
  for (size_t i = 0; i < states; ++i) {
    kept.states.push_back(kept.is_stacked[i]
                              ? in_shape_of(e, results[next_stack++], call.inputs[kFirstInput + i])
                              : results[next_list++]);
  }
  return kept;
}

// The type that holds in all iterations: the rank, and sizes that are integers.
Type of_any_iteration(Type state) {
  if (!state.shape) return state;
  for (Dim& dim : *state.shape) {
    if (!dim.is_known()) dim = Graph::fresh_symbol();
  }
  return state;
}

// Captures of the backward body: those of the loop, the number of iterations, the kept states, the
// scan outputs' gradients.
GraphPtr backward_loop_body(const Graph& loop, const LoopPlaces& places, const KeptLoop& kept) {
  const size_t states = kept.states.size();
  SubgraphBuilder body;
  RecordingEmitter& e = body.emitter();
  const Val at = body.add_input(Type::tensor(DType::kInt64, Dims{}));
  const Val goes_on = body.add_input(Type::tensor(DType::kBool, Dims{}));
  Vals d_ys, sums, captures;
  for (const size_t state : places.states)
    d_ys.push_back(body.add_input(loop.inputs()[kFirstInput + state]->type));
  for (const size_t capture : places.captures)
    sums.push_back(body.add_input(loop.captures()[capture]->type));
  for (const Value* capture : loop.captures())
    captures.push_back(body.add_capture(capture->type));
  const Val count = body.add_capture(Type::tensor(DType::kInt64, Dims{}));
  const Val iteration = e.call("Sub", {e.call("Sub", {count, e.scalar(DType::kInt64, 1)}), at});
  Vals inputs{iteration, e.constant(Tensor::scalar(true))};
  for (size_t i = 0; i < states; ++i) {
    const Type& state = loop.inputs()[kFirstInput + i]->type;
    if (kept.is_stacked[i]) {
      Type stacked = state;
      stacked.shape->insert(stacked.shape->begin(), Graph::fresh_symbol());
      inputs.push_back(e.call("Gather", {body.add_capture(stacked), iteration}));
    } else {
      const Val list = body.add_capture(Type::sequence(of_any_iteration(state)));
      inputs.push_back(e.call("SequenceAt", {list, iteration}));
    }
  }
  for (const size_t scan : places.scans) {
    Type stacked = loop.outputs()[kFirstOutput + states + scan]->type;
    if (stacked.shape) stacked.shape->insert(stacked.shape->begin(), Graph::fresh_symbol());
    d_ys.push_back(e.call("Gather", {body.add_capture(stacked), iteration}));
  }
  const Vals found =
      step_gradients(e, loop, inputs, captures, places, kFirstInput, kFirstOutput, states, d_ys);
  body.add_output(goes_on);
  add_carried(body, places, sums, found);
  return body.graph();
}

}  // namespace

Attrs typed_subgraphs(const Emitter& e, const GradCall& call) {
  const Attrs attrs = clone_subgraphs(call.raw_attrs);
  std::vector<std::optional<Tensor>> constants;
  std::vector<std::optional<Dims>> dims;
  for (const Val& input : call.inputs) {
    constants.push_back(input ? e.constant_value(input) : std::nullopt);
    dims.push_back(input ? e.dims_value(input) : std::nullopt);
  }
  std::vector<InferInput> seen;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    seen.push_back({call.inputs[i] ? e.type(call.inputs[i]) : Type::none(),
                    constants[i] ? &*constants[i] : nullptr, dims[i] ? &*dims[i] : nullptr});
  }
  infer(call.op, attrs, seen, seen.size() - call.captures, call.outputs.size(), Graph::fresh_symbol,
        /*types_subgraphs=*/true);
  return attrs;
}

Vals if_grad(Emitter& e, const GradCall& call) {
  std::vector<size_t> known, wanted;
  for (size_t i = 0; i < call.d_outputs.size(); ++i) {
    if (call.has_d(i)) known.push_back(i);
  }
  for (size_t i = 0; i < call.captures; ++i) {
    if (call.wants(1 + i)) wanted.push_back(i);
  }
  Vals found;
  if (const auto condition = e.constant_value(call.inputs[0])) {
    const auto& attrs = call.attrs<IfAttrs>();
    const bool taken = bool_at(condition->raw(), 0);
    found =
        gradients_of_taken(e, call, taken ? *attrs.then_branch : *attrs.else_branch, known, wanted);
  } else {
    const Attrs typed = typed_subgraphs(e, call);
    const auto& attrs = typed.as<IfAttrs>();
    const IfAttrs gradient{.then_branch = branch_gradient(*attrs.then_branch, known, wanted),
                           .else_branch = branch_gradient(*attrs.else_branch, known, wanted)};
    Vals inputs = Vals(call.inputs.begin(), call.inputs.end());
    for (const size_t output : known)
      inputs.push_back(call.d_outputs[output]);
    found = e.emit(call.op, inputs, Attrs(gradient), wanted.size(), call.captures + known.size());
  }
  Vals gradients(call.inputs.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    gradients[1 + wanted[i]] = found[i];
  return gradients;
}

Vals scan_grad(Emitter& e, const GradCall& call) {
  const Attrs typed = typed_subgraphs(e, call);
  const ScanParts parts = parts_of(call, typed.as<ScanAttrs>());
  const LoopPlaces places = places_of(e, call, 0, parts.states, parts.slices);
  Vals finals;
  const Vals kept = kept_scan_states(e, call, parts, finals);
  Vals inputs = initial_gradients(e, call, places, finals);
  append(inputs, kept);
  append(inputs, call.inputs.subspan(parts.states, parts.slices));
  for (const size_t scan : places.scans)
    inputs.push_back(call.d_outputs[parts.states + scan]);
  append(inputs, captures_of(call));
  const size_t results = places.states.size() + places.captures.size() + places.slices.size();
  const Vals found =
      e.emit(call.op, inputs, Attrs(backward_scan_attrs(parts, places)), results, call.captures);
  return by_input(call, places, 0, parts.states, found);
}

Vals loop_grad(Emitter& e, const GradCall& call) {
  const Attrs typed = typed_subgraphs(e, call);
  const Graph& loop = *typed.as<LoopAttrs>().body;
  const size_t states = call.inputs.size() - call.captures - kFirstInput;
  const KeptLoop kept = keep_loop(e, call, loop);
  const LoopPlaces places = places_of(e, call, kFirstInput, states, 0);
  Vals inputs{kept.count, Val()};
  append(inputs, initial_gradients(e, call, places, kept.finals));
  append(inputs, captures_of(call));
  inputs.push_back(kept.count);
  append(inputs, kept.states);
  for (const size_t scan : places.scans)
    inputs.push_back(call.d_outputs[states + scan]);
  const GraphPtr body = backward_loop_body(loop, places, kept);
  const size_t carried = places.states.size() + places.captures.size();
  const Vals found = e.emit(call.op, inputs, Attrs(LoopAttrs{body}), carried,
                            call.captures + 1 + states + places.scans.size());
  return by_input(call, places, kFirstInput, states, found);
}

}  // namespace sardonyx::ops
