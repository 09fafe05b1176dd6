// If, Loop.
#include "ir/ops/control_flow/control.h"

#include <algorithm>

#include "ir/core/bools.h"
#include "ir/core/run_control.h"
#include "ir/eval_call.h"
#include "ir/graph.h"
#include "ir/ops/control_flow/control_gradient.h"
#include "ir/ops/control_flow/scan_outputs.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/inference/propagate_elements.h"
#include "ir/ops/inference/subgraph_inference.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/indices.h"
#include "ir/ops/sequence/sequence.h"

namespace sardonyx::ops {
namespace {

constexpr TypeSet kAnyValue(kAnyDType, kAnyDType, kAnyDType, kClassicTypes | DType::kBFloat16);

bool read_condition(const Datum& datum, std::string_view what) {
  const Tensor& tensor = datum.tensor();
  if (tensor.dtype() != DType::kBool || tensor.count() != 1) {
    fail(ErrorCode::kInvalidArgument, what, ": expected one bool, got ", datum.type());
  }
  return bool_at(tensor.raw(), 0);
}

std::optional<bool> known_condition(const Tensor* constant) {
  if (!constant || constant->dtype() != DType::kBool || constant->count() != 1) return std::nullopt;
  return bool_at(constant->raw(), 0);
}

// ---- If

// The output types of one branch, in the enclosing graph's terms; nullopt where inference failed.
struct BranchTypes {
  std::vector<Type> types;
  std::vector<std::optional<Dims>> dims;
};

BranchTypes branch_types(InferContext& c, const GraphPtr& branch, std::string_view what) {
  BodyTyper typer(c, branch, what);
  typer.require_counts(0, c.output_count());
  typer.type({});
  BranchTypes result;
  for (size_t i = 0; i < c.output_count(); ++i) {
    result.types.push_back(typer.to_outer(typer.output(i)));
    result.dims.push_back(typer.output_dims(i));
  }
  return result;
}

void set_branch(InferContext& c, BranchTypes branch) {
  for (size_t i = 0; i < c.output_count(); ++i) {
    c.set(i, std::move(branch.types[i]));
    if (branch.dims[i]) c.set_dims(i, std::move(*branch.dims[i]));
  }
}

// Exporters write branches that cannot be typed where they are not taken (Squeeze of a dim that is
// not 1, say), so an error counts only if no other branch is left. If such a branch is taken after
// all, running it finds the error again.
void infer_if(InferContext& c) {
  require_single(c, 0);
  const auto& attrs = c.attrs<IfAttrs>();
  const GraphPtr branches[] = {attrs.then_branch, attrs.else_branch};
  constexpr std::string_view kNames[] = {"then_branch", "else_branch"};
  for (size_t i = 0; i < 2; ++i) {
    c.require(branches[i] != nullptr, kNames[i], " is missing");
    c.require(branches[i]->outputs().size() == c.output_count(), kNames[i], " has ",
              branches[i]->outputs().size(), " outputs, the node ", c.output_count());
  }
  const auto taken = known_condition(c.constant(0));
  std::optional<BranchTypes> found[2];
  std::optional<Error> error;
  for (size_t i = 0; i < 2; ++i) {
    const bool is_dead = taken && *taken == (i == 1);
    if (is_dead && !c.types_subgraphs()) continue;
    try {
      found[i] = branch_types(c, branches[i], kNames[i]);
    } catch (const Error& caught) {
      const bool is_fatal =
          caught.code() != ErrorCode::kInvalidModel && caught.code() != ErrorCode::kInvalidArgument;
      if (is_fatal || (taken && !is_dead)) throw;
      if (!error) error = caught.with_context(kNames[i]);
    }
    if (is_dead) found[i].reset();
  }
  if (!found[0] && !found[1]) throw *error;
  if (!found[0] || !found[1]) return set_branch(c, std::move(found[0] ? *found[0] : *found[1]));
  BranchTypes merged = *found[0];
  for (size_t i = 0; i < c.output_count(); ++i) {
    const auto type = joined(found[0]->types[i], found[1]->types[i], c.fresh_symbol());
    c.require(type.has_value(), "output ", i, ": then_branch gives ", found[0]->types[i],
              ", else_branch ", found[1]->types[i]);
    merged.types[i] = *type;
    if (merged.dims[i] != found[1]->dims[i]) merged.dims[i].reset();
  }
  set_branch(c, std::move(merged));
}

void run_if(const EvalCall& call) {
  const auto& attrs = call.attrs<IfAttrs>();
  const bool taken = read_condition(call.inputs[0], "cond");
  call.run_subgraph(taken ? *attrs.then_branch : *attrs.else_branch, {}, call.captures,
                    call.outputs);
}

// ---- Loop

const Value* without_identities(const Value* value) {
  while (value->producer && value->producer->op->name == "Identity" &&
         value->producer->op->domain.empty()) {
    value = value->producer->inputs[0];
  }
  return value;
}

// Whether nothing but the trip count ends the loop.
bool runs_to_the_end(const InferContext& c, const Graph& body) {
  if (c.has(1) && known_condition(c.constant(1)) != true) return false;
  const Value* next = without_identities(body.outputs()[0]);
  return next == body.inputs()[1] || known_condition(next->constant.get()) == true;
}

// The number of iterations where it is known before the run.
Dim trip_count(InferContext& c, const Graph& body) {
  const auto count = known_elements(c, 0);
  if (!count || count->size() != 1 || !runs_to_the_end(c, body)) return c.unknown();
  return max((*count)[0], 0);
}

void infer_loop(InferContext& c) {
  if (c.has(0)) require_single(c, 0);
  if (c.has(1)) require_single(c, 1);
  BodyTyper typer(c, c.attrs<LoopAttrs>().body, "body");
  const size_t carried = c.input_count() - 2;
  typer.require_counts(carried + 2, std::max(carried, c.output_count()) + 1);
  std::vector<Type> inputs{Type::tensor(DType::kInt64, Dims{}), Type::tensor(DType::kBool, Dims{})};
  for (size_t i = 2; i < c.input_count(); ++i)
    inputs.push_back(typer.to_inner(c.type(i)));
  const std::vector<Type> types = typer.type_loop(std::move(inputs), 2, carried, 1);
  const Type& condition = typer.output(0);
  c.require(condition.is_none() || condition.dtype == DType::kBool,
            "body: its first output, the condition, must be bool, got ", condition);
  for (size_t i = 0; i < std::min(carried, c.output_count()); ++i) {
    const Type& given = typer.output(1 + i);
    const bool unwraps = types[i].is_optional() && !given.is_optional() && !given.is_none();
    c.set(i, typer.to_outer(unwraps ? given : types[i]));
  }
  if (c.output_count() <= carried) return;
  const Dim count = trip_count(c, typer.body());
  for (size_t i = carried; i < c.output_count(); ++i) {
    Type slice = typer.to_outer(typer.output(1 + i));
    c.require(slice.is_none() || slice.is_tensor(), "body: scan output ", i - carried,
              " must be a tensor, got ", slice);
    if (slice.shape) slice.shape->insert(slice.shape->begin(), count);
    c.set(i, std::move(slice));
  }
}

struct LoopMemory : StepMemory {
  Datum number, condition;
  // The body's outputs of the last iteration, and of this one.
  std::vector<Datum> last, made;
  std::vector<const Datum*> inputs;
  std::vector<TensorStack> scans;

  void start(const EvalCall& call, const Graph& body, int64_t iterations) {
    const size_t outputs = body.outputs().size();
    last.resize(outputs);
    made.resize(outputs);
    scans.resize(outputs - 1 - (call.inputs.size() - 2));
    for (TensorStack& scan : scans)
      scan.start(iterations);
    inputs.assign({&number, &condition});
    for (size_t i = 2; i < call.inputs.size(); ++i)
      inputs.push_back(&call.inputs[i]);
  }

  // Makes this iteration's outputs the inputs of the next.
  void advance() {
    std::swap(last, made);
    for (size_t i = 2; i < inputs.size(); ++i)
      inputs[i] = &last[i - 1];
  }

  void rest(const EvalCall& call) {
    call.recycle(number);
    call.recycle(condition);
    for (auto* data : {&last, &made}) {
      for (Datum& datum : *data)
        call.recycle(datum);
    }
  }
};

void run_loop(const EvalCall& call) {
  const Graph& body = *call.attrs<LoopAttrs>().body;
  const size_t carried = call.inputs.size() - 2;
  int64_t most = INT64_MAX;
  if (call.has(0)) most = indices_of(call.inputs[0].tensor().view())[0];
  bool goes_on = !call.has(1) || read_condition(call.inputs[1], "cond");
  const KeptMemory<LoopMemory> memory(call);
  memory->start(call, body, most);
  int64_t done = 0;
  for (; goes_on && done < most; ++done) {
    check_interrupted();
    call.set_scalar(memory->number, done);
    call.set_scalar(memory->condition, goes_on);
    call.run_subgraph(body, {memory->inputs}, call.captures, memory->made);
    goes_on = read_condition(memory->made[0], "body: its first output, the condition");
    for (size_t k = 0; k < memory->scans.size(); ++k)
      memory->scans[k].add(memory->made[1 + carried + k].tensor(), call.buffers);
    memory->advance();
  }
  for (size_t i = 0; i < std::min(carried, call.outputs.size()); ++i) {
    if (done == 0)
      call.outputs[i] = call.inputs[2 + i];
    else
      std::swap(call.outputs[i], memory->last[1 + i]);
  }
  for (size_t i = carried; i < call.outputs.size(); ++i) {
    const Type& own = body.outputs()[1 + i]->type;
    std::optional<Type> at_hand;  // made where it is needed alone: it allocates
    if (done == 0) at_hand = slice_type_at_hand(call, i, 0, own);
    memory->scans[i - carried].finish(0, false, at_hand ? *at_hand : own, call.outputs[i],
                                      call.buffers);
  }
  memory->rest(call);
}

// ---- Samples and rows

GraphPtr constant_branch(float value) {
  auto branch = std::make_shared<Graph>();
  branch->add_output(branch->add_constant("y", Tensor::vector(std::vector<float>{value, 1})));
  return branch;
}

std::vector<Sample> if_samples() {
  const AttrMap attrs{{"then_branch", constant_branch(2)}, {"else_branch", constant_branch(3)}};
  return {{{{.value = Tensor::scalar(true)}}, attrs}, {{{.value = Tensor::scalar(false)}}, attrs}};
}

// v doubles each time, and each of its values is a slice of the scan output.
std::vector<Sample> loop_samples() {
  auto body = std::make_shared<Graph>();
  body->add_input("i", Type::tensor(DType::kInt64, Dims{}));
  Value* condition = body->add_input("cond", Type::tensor(DType::kBool, Dims{}));
  Value* v = body->add_input("v", Type::tensor(DType::kFloat, Dims{2}));
  Value* sum = body->append(op_named("Add"), Attrs(), {v, v}, {"sum"})->outputs[0];
  Value* slice = body->append(op_named("Identity"), Attrs(), {v}, {"slice"})->outputs[0];
  for (Value* output : {condition, sum, slice})
    body->add_output(output);
  const SampleInput start{.shape = {2}, .dtype = DType::kFloat};
  return {{.inputs = {{.value = Tensor::scalar<int64_t>(3)}, {.omitted = true}, start},
           .attrs = {{"body", body}},
           .outputs = 2}};
}

const OpDef kControlOps[] = {
    {.name = "If",
     .doc = "The outputs of then_branch where cond is true, else those of else_branch; both may "
            "use values of the graph around.",
     .since = 25,
     .signature = "(cond: B) -> (outputs...: V*)",
     .types = {{"B", DType::kBool}, {"V", kAnyValue}},
     .attrs = attr_schema<IfAttrs>(),
     .infer = infer_if,
     .evaluate = run_if,
     .grad = if_grad,
     .samples = if_samples},
    {.name = "Loop",
     .doc = "Runs body up to M times, as long as its condition holds; gives the carried values of "
            "the last iteration, then each scan output stacked along a new first axis.",
     .since = 25,
     .signature = "(M?: I, cond?: B, v_initial...0: V*) -> (v_final_and_scan_outputs...: V*)",
     .types = {{"I", DType::kInt64}, {"B", DType::kBool}, {"V", kAnyValue}},
     .attrs = attr_schema<LoopAttrs>(),
     .infer = infer_loop,
     .evaluate = run_loop,
     .grad = loop_grad,
     .samples = loop_samples},
};

}  // namespace

std::span<const OpDef> control_ops() {
  return kControlOps;
}

}  // namespace sardonyx::ops
