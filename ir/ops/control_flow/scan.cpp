// Scan, SequenceMap.
#include <algorithm>

#include "ir/core/run_control.h"
#include "ir/core/strides.h"
#include "ir/eval_call.h"
#include "ir/graph.h"
#include "ir/ops/control_flow/control.h"
#include "ir/ops/control_flow/control_gradient.h"
#include "ir/ops/control_flow/scan_outputs.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/subgraph_inference.h"
#include "ir/ops/op_families.h"
#include "ir/ops/sequence/sequence_gradient.h"

namespace sardonyx::ops {
namespace {

// ---- Scan

using Setting = std::optional<std::vector<int64_t>>;

int64_t scan_setting(const Setting& setting, size_t index) {
  return setting ? (*setting)[index] : 0;
}

void check_settings(const InferContext& c, const Setting& axes, const Setting& directions,
                    size_t count, std::string_view what) {
  c.require(!axes || axes->size() == count, what, "_axes has ", axes ? axes->size() : 0,
            " elements, expected ", count);
  c.require(!directions || directions->size() == count, what, "_directions has ",
            directions ? directions->size() : 0, " elements, expected ", count);
  for (size_t i = 0; directions && i < count; ++i) {
    const int64_t direction = (*directions)[i];
    c.require(direction == 0 || direction == 1, what, "_directions: expected 0 or 1, got ",
              direction);
  }
}

// The types of the body's inputs: states as they are, scan inputs without their axis. `length` is
// set to the number of steps as far as it is known.
std::vector<Type> scan_body_inputs(InferContext& c, const ScanAttrs& attrs, size_t states,
                                   BodyTyper& typer, std::optional<Dim>& length) {
  std::vector<Type> types;
  for (size_t i = 0; i < c.input_count(); ++i) {
    Type type = c.type(i);
    if (i >= states && type.shape) {
      const int64_t axis = c.normalized_axis(scan_setting(attrs.scan_input_axes, i - states),
                                             type.rank(), "scan_input_axes");
      const Dim size = (*type.shape)[static_cast<size_t>(axis)];
      length = length ? c.merged(*length, size, "the lengths of the scan inputs") : size;
      type.shape->erase(type.shape->begin() + axis);
    }
    types.push_back(typer.to_inner(type));
  }
  return types;
}

void infer_scan(InferContext& c) {
  const auto& attrs = c.attrs<ScanAttrs>();
  c.require(
      attrs.num_scan_inputs >= 1 && attrs.num_scan_inputs <= static_cast<int64_t>(c.input_count()),
      "num_scan_inputs: expected 1 to ", c.input_count(), ", got ", attrs.num_scan_inputs);
  const size_t states = c.input_count() - static_cast<size_t>(attrs.num_scan_inputs);
  BodyTyper typer(c, attrs.body, "body");
  typer.require_counts(c.input_count(), std::max(states, c.output_count()));
  const size_t scans = typer.body().outputs().size() - states;
  check_settings(c, attrs.scan_input_axes, attrs.scan_input_directions,
                 static_cast<size_t>(attrs.num_scan_inputs), "scan_input");
  check_settings(c, attrs.scan_output_axes, attrs.scan_output_directions, scans, "scan_output");
  std::optional<Dim> length;
  std::vector<Type> inputs = scan_body_inputs(c, attrs, states, typer, length);
  const std::vector<Type> types = typer.type_loop(std::move(inputs), 0, states, 0);
  if (!length) length = c.unknown();
  for (size_t i = 0; i < c.output_count(); ++i) {
    if (i < states) {
      c.set(i, typer.to_outer(types[i]));
      continue;
    }
    Type type = typer.to_outer(typer.output(i));
    if (type.shape) {
      const int64_t axis = c.normalized_axis(scan_setting(attrs.scan_output_axes, i - states),
                                             type.rank() + 1, "scan_output_axes");
      type.shape->insert(type.shape->begin() + axis, *length);
    }
    c.set(i, std::move(type));
  }
}

// The common length of the scan inputs along their axes.
int64_t scan_length(DatumRefs scanned, const ScanAttrs& attrs) {
  std::optional<int64_t> length;
  for (size_t i = 0; i < scanned.size(); ++i) {
    const Shape& shape = scanned[i].tensor().shape();
    const int64_t axis = scan_setting(attrs.scan_input_axes, i);
    const auto rank = static_cast<int64_t>(shape.size());
    SARDONYX_CHECK(axis >= -rank && axis < rank);
    const int64_t size = shape[axis_of(axis, shape.size())];
    SARDONYX_CHECK(!length || *length == size);
    length = size;
  }
  return length.value_or(0);
}

struct ScanMemory : StepMemory {
  // The body's outputs of the last step, and of this one.
  std::vector<Datum> last, made;
  std::vector<Datum> slices;  // of the scan inputs
  std::vector<const Datum*> inputs;
  std::vector<TensorStack> scans;

  void start(const EvalCall& call, const Graph& body, size_t states, int64_t length) {
    last.resize(body.outputs().size());
    made.resize(body.outputs().size());
    slices.resize(call.inputs.size() - states);
    scans.resize(body.outputs().size() - states);
    for (TensorStack& scan : scans)
      scan.start(length);
    inputs.clear();
    for (size_t i = 0; i < states; ++i)
      inputs.push_back(&call.inputs[i]);
    for (const Datum& slice : slices)
      inputs.push_back(&slice);
  }

  // Makes this step's states the inputs of the next.
  void advance(size_t states) {
    std::swap(last, made);
    for (size_t i = 0; i < states; ++i)
      inputs[i] = &last[i];
  }

  void rest(const EvalCall& call) {
    for (auto* data : {&last, &made, &slices}) {
      for (Datum& datum : *data)
        call.recycle(datum);
    }
  }
};

void run_scan(const EvalCall& call) {
  const auto& attrs = call.attrs<ScanAttrs>();
  const Graph& body = *attrs.body;
  const size_t states = call.inputs.size() - static_cast<size_t>(attrs.num_scan_inputs);
  const DatumRefs scanned = call.inputs.subspan(states);
  const int64_t length = scan_length(scanned, attrs);
  const KeptMemory<ScanMemory> memory(call);
  memory->start(call, body, states, length);
  for (int64_t step = 0; step < length; ++step) {
    check_interrupted();
    for (size_t i = 0; i < scanned.size(); ++i) {
      const Tensor& tensor = scanned[i].tensor();
      const size_t axis = axis_of(scan_setting(attrs.scan_input_axes, i), tensor.rank());
      const bool backwards = scan_setting(attrs.scan_input_directions, i) == 1;
      slice_into(memory->slices[i], tensor, axis, backwards ? length - 1 - step : step,
                 call.buffers);
    }
    call.run_subgraph(body, {memory->inputs}, call.captures, memory->made);
    for (size_t i = 0; i < memory->scans.size(); ++i)
      memory->scans[i].add(memory->made[states + i].tensor(), call.buffers);
    memory->advance(states);
  }
  for (size_t i = 0; i < std::min(states, call.outputs.size()); ++i) {
    if (length == 0)
      call.outputs[i] = call.inputs[i];
    else
      std::swap(call.outputs[i], memory->last[i]);
  }
  for (size_t i = states; i < call.outputs.size(); ++i) {
    const int64_t axis = scan_setting(attrs.scan_output_axes, i - states);
    const Type& own = body.outputs()[i]->type;
    std::optional<Type> at_hand;  // made where it is needed alone: it allocates
    if (length == 0) at_hand = slice_type_at_hand(call, i, axis, own);
    memory->scans[i - states].finish(axis,
                                     scan_setting(attrs.scan_output_directions, i - states) == 1,
                                     at_hand ? *at_hand : own, call.outputs[i], call.buffers);
  }
  memory->rest(call);
}

// ---- SequenceMap

void infer_sequence_map(InferContext& c) {
  BodyTyper typer(c, c.attrs<SequenceMapAttrs>().body, "body");
  typer.require_counts(c.input_count(), c.output_count());
  std::vector<Type> inputs;
  for (size_t i = 0; i < c.input_count(); ++i)
    inputs.push_back(typer.to_inner(c.type(i).is_sequence() ? *c.type(i).element : c.type(i)));
  typer.type(inputs);
  for (size_t i = 0; i < c.output_count(); ++i) {
    const Type& item = typer.output(i);
    c.require(item.is_tensor(), "body: output ", i, " must be a tensor, got ", item);
    c.set(i, Type::sequence(typer.to_outer(item)));
  }
}

struct SequenceMapMemory : StepMemory {
  std::vector<const Datum*> inputs;
  std::vector<Datum> made;
};

// The common length of the sequences among the inputs.
size_t map_length(const EvalCall& call) {
  const size_t length = call.inputs[0].sequence().items.size();
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    const Datum& input = call.inputs[i];
    if (input.is_sequence() && input.sequence().items.size() != length) {
      fail(ErrorCode::kInvalidArgument, "the sequences have ", length, " and ",
           input.sequence().items.size(), " items");
    }
  }
  return length;
}

void run_sequence_map(const EvalCall& call) {
  const Graph& body = *call.attrs<SequenceMapAttrs>().body;
  const size_t length = map_length(call);
  const KeptMemory<SequenceMapMemory> memory(call);
  memory->inputs.resize(call.inputs.size());
  memory->made.resize(body.outputs().size());
  InlineVector<Sequence*, 4> results;
  for (size_t i = 0; i < call.outputs.size(); ++i) {
    const Type element = Type::tensor(body.outputs()[i]->type.dtype);
    results.push_back(&call.sequence(i, element, length));
  }
  for (size_t at = 0; at < length; ++at) {
    check_interrupted();
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      const Datum& input = call.inputs[i];
      memory->inputs[i] = input.is_sequence() ? &input.sequence().items[at] : &input;
    }
    for (size_t i = 0; i < results.size(); ++i)
      std::swap(memory->made[i], results[i]->items[at]);
    call.run_subgraph(body, {memory->inputs}, call.captures, memory->made);
    for (size_t i = 0; i < results.size(); ++i) {
      results[i]->element = Type::tensor(memory->made[i].tensor().dtype());
      std::swap(memory->made[i], results[i]->items[at]);
    }
  }
  for (Datum& datum : memory->made)
    call.recycle(datum);
}

// ---- Samples and rows

// A running sum along axis 1.
std::vector<Sample> scan_samples() {
  auto body = std::make_shared<Graph>();
  Value* state = body->add_input("state", Type::tensor(DType::kFloat, Dims{2}));
  Value* x = body->add_input("x", Type::tensor(DType::kFloat, Dims{2}));
  Value* sum = body->append(op_named("Add"), Attrs(), {state, x}, {"sum"})->outputs[0];
  Value* slice = body->append(op_named("Identity"), Attrs(), {sum}, {"slice"})->outputs[0];
  body->add_output(sum);
  body->add_output(slice);
  return {{.inputs = {{.shape = {2}, .dtype = DType::kFloat},
                      {.shape = {2, 3}, .dtype = DType::kFloat}},
           .attrs = {{"body", body},
                     {"num_scan_inputs", int64_t{1}},
                     {"scan_input_axes", std::vector<int64_t>{1}}},
           .outputs = 2}};
}
std::vector<Sample> no_samples() {
  return {};  // samples hold tensors only
}

constexpr TypeSet kSequences({}, kClassicTypes);

const OpDef kScanOps[] = {
    {.name = "Scan",
     .doc = "Runs body over slices of the scan inputs; gives the last states, then each scan "
            "output stacked along its axis.",
     .since = 25,
     .signature = "(initial_state_and_scan_inputs...: V*) -> (final_state_and_scan_outputs...: V*)",
     .types = {{"V", kAnyDType}},
     .attrs = attr_schema<ScanAttrs>(),
     .infer = infer_scan,
     .evaluate = run_scan,
     .grad = scan_grad,
     .samples = scan_samples},
    {.name = "SequenceMap",
     .doc = "The results of body for each item of a sequence, with further sequences read in step "
            "and other inputs given whole.",
     .since = 17,
     .signature = "(input_sequence: S, additional_inputs...0: V*) -> (out_sequence...: S*)",
     .types = {{"S", kSequences}, {"V", {kClassicTypes, kClassicTypes}}},
     .attrs = attr_schema<SequenceMapAttrs>(),
     .infer = infer_sequence_map,
     .evaluate = run_sequence_map,
     .grad = sequence_map_grad,
     .samples = no_samples},
};

}  // namespace

std::span<const OpDef> scan_ops() {
  return kScanOps;
}

}  // namespace sardonyx::ops
