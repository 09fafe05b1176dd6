#include "eager/trace/control_flow.h"

#include <utility>

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/trace/frame.h"
#include "eager/trace/trace.h"

namespace sardonyx::eager {
namespace {

constexpr const char *kThen = "then branch", *kElse = "else branch", *kBody = "body";

bool is_recorded(const Tensor& tensor) {
  const TraceContext* frame = TraceContext::active();
  return frame && frame->records(std::span(&tensor, 1));
}

bool is_recorded(const std::vector<Tensor>& tensors) {
  const TraceContext* frame = TraceContext::active();
  return frame && frame->records(tensors);
}

void check_results(const std::vector<Tensor>& results, const char* part, const Loc& loc) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined())
      fail_at(loc, "result ", i, " of the ", part, " of a control flow function is undefined");
  }
}

// Records the results of `body` as the outputs of a subgraph of its own.
template <typename Body>
std::shared_ptr<TraceContext> recorded(const char* name, const Loc& loc, const Body& body) {
  std::shared_ptr<TraceContext> frame = TraceContext::make(TraceContext::Kind::kSubgraph, name);
  const FrameScope scope(*frame);
  const std::vector<Tensor> results = body(*frame);
  check_results(results, name, loc);
  for (const Tensor& result : results)
    frame->add_output(result, loc);
  return frame;
}

std::vector<Tensor> emit(const char* op, const AttrMap& attrs, std::vector<Tensor> inputs,
                         const std::vector<Tensor>& captured, size_t outputs, const Loc& loc) {
  const OpDef& row = op_named(op);
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  std::vector<Tensor> results(outputs);
  const Attrs parsed = Attrs::parse(*row.attrs, attrs);
  apply({row, parsed, inputs, captured.size(), loc}, results);
  return results;
}

void check_branches(const Graph& a, const Graph& b, const Loc& loc) {
  bool same = a.outputs().size() == b.outputs().size();
  for (size_t i = 0; same && i < a.outputs().size(); ++i)
    same = same_kind(a.outputs()[i]->type, b.outputs()[i]->type);
  if (same) return;
  const auto types = [](const Graph& graph) {
    std::string all;
    for (const Value* value : graph.outputs())
      all += (all.empty() ? "" : ", ") + value->type.text();
    return "(" + all + ")";
  };
  fail(ErrorCode::kInvalidArgument, text_of(loc), ": cond: the branches give ", types(a), " and ",
       types(b), "; they must give the same number of tensors of the same element types");
}

void check_state(const std::vector<Tensor>& before, const std::vector<Tensor>& after,
                 const char* what, const Loc& loc) {
  if (before.size() == after.size()) return;
  fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", what, ": the state has ", before.size(),
       " tensors, the body gave ", after.size());
}

// Sizes that a round changed are open in the state's types; true if that changed anything.
bool widen(std::vector<Type>& state, const Graph& body, size_t first_output) {
  bool changed = false;
  for (size_t i = 0; i < state.size(); ++i) {
    const Type& after = body.outputs()[first_output + i]->type;
    if (!state[i].shape) continue;
    if (!after.shape || after.rank() != state[i].rank()) {
      state[i].shape.reset();
      changed = true;
      continue;
    }
    for (size_t axis = 0; axis < state[i].rank(); ++axis) {
      sardonyx::Dim& dim = (*state[i].shape)[axis];
      if (dim == (*after.shape)[axis] || dim.text().starts_with("?")) continue;
      dim = Graph::fresh_symbol();
      changed = true;
    }
  }
  return changed;
}

std::vector<Type> types_of(const std::vector<Tensor>& tensors) {
  std::vector<Type> types;
  for (const Tensor& tensor : tensors)
    types.push_back(tensor.type());
  return types;
}

std::vector<Tensor> inputs_of(TraceContext& frame, const char* base,
                              const std::vector<Type>& types) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < types.size(); ++i)
    inputs.push_back(frame.add_input(text(base, i), types[i]));
  return inputs;
}

// Tensors of the state as the loop's body sees them: what the program holds comes in as values of
// the enclosing graph.
std::vector<Tensor> in_graph(const std::vector<Tensor>& tensors, const Loc& loc) {
  static const OpDef& identity = op_named("Identity");
  std::vector<Tensor> values;
  for (const Tensor& tensor : tensors)
    values.push_back(is_recorded(tensor) ? tensor : apply(identity, {tensor}, loc));
  return values;
}

}  // namespace

std::vector<Tensor> cond(const Tensor& predicate, const Branch& then_branch,
                         const Branch& else_branch, Loc loc) {
  require_defined(predicate, "cond", "the predicate", loc);
  if (!is_recorded(predicate)) {
    const bool holds = predicate.item<bool>(loc);
    std::vector<Tensor> results = holds ? then_branch() : else_branch();
    check_results(results, holds ? kThen : kElse, loc);
    return results;
  }
  const auto then_frame = recorded(kThen, loc, [&](TraceContext&) { return then_branch(); });
  const auto else_frame = recorded(kElse, loc, [&](TraceContext& frame) {
    frame.capture_all(then_frame->captured(), loc);
    return else_branch();
  });
  then_frame->capture_all(else_frame->captured(), loc);
  check_branches(then_frame->graph(), else_frame->graph(), loc);
  std::vector<Tensor> results = emit(
      "If",
      {{"then_branch", then_frame->shared_graph()}, {"else_branch", else_frame->shared_graph()}},
      {predicate}, then_frame->captured(), then_frame->graph().outputs().size(), loc);
  then_frame->finish();
  else_frame->finish();
  return results;
}

Tensor cond(const Tensor& predicate, const std::function<Tensor()>& then_branch,
            const std::function<Tensor()>& else_branch, Loc loc) {
  const auto listed = [](const std::function<Tensor()>& branch) -> Branch {
    return [&branch] { return std::vector<Tensor>{branch()}; };
  };
  return cond(predicate, listed(then_branch), listed(else_branch), loc)[0];
}

std::vector<Tensor> while_loop(
    const std::function<Tensor(const std::vector<Tensor>& state)>& condition,
    const std::function<std::vector<Tensor>(const std::vector<Tensor>& state)>& body,
    const std::vector<Tensor>& initial, Loc loc) {
  for (size_t i = 0; i < initial.size(); ++i)
    require_defined(initial[i], "while_loop", text("initial state ", i), loc);
  Tensor going = condition(initial);
  if (!is_recorded(initial) && !is_recorded(going)) {
    std::vector<Tensor> state = initial;
    while (going.item<bool>(loc)) {
      state = body(state);
      check_results(state, kBody, loc);
      check_state(initial, state, "while_loop", loc);
      going = condition(state);
    }
    return state;
  }
  const std::vector<Tensor> start = in_graph(initial, loc);
  std::vector<Type> types = types_of(start);
  std::shared_ptr<TraceContext> frame;
  do {
    if (frame) frame->finish();
    frame = recorded(kBody, loc, [&](TraceContext& own) {
      own.add_input("iteration", Type::tensor(DType::kInt64, Dims{}));
      own.add_input("going", Type::tensor(DType::kBool, Dims{}));
      std::vector<Tensor> after = body(inputs_of(own, "state_", types));
      check_state(start, after, "while_loop", loc);
      after.insert(after.begin(), condition(after).reshape({}, loc));
      return after;
    });
  } while (widen(types, frame->graph(), 1));
  std::vector<Tensor> inputs = start;
  inputs.insert(inputs.begin(), {Tensor(), going});
  std::vector<Tensor> results =
      emit("Loop", {{"body", frame->shared_graph()}}, inputs, frame->captured(), start.size(), loc);
  frame->finish();
  return results;
}

namespace {

ScanResult scan_at_once(const ScanBody& body, const std::vector<Tensor>& initial,
                        const std::vector<Tensor>& xs, const Loc& loc) {
  ScanResult result{initial, {}};
  std::vector<std::vector<Tensor>> steps;
  const int64_t length = xs[0].size(0).value();
  for (int64_t i = 0; i < length; ++i) {
    std::vector<Tensor> slices;
    for (const Tensor& x : xs)
      slices.push_back(x.select(0, i, loc));
    ScanResult step = body(result.state, slices);
    check_results(step.state, kBody, loc);
    check_results(step.outputs, kBody, loc);
    check_state(initial, step.state, "scan", loc);
    result.state = std::move(step.state);
    if (i == 0) steps.resize(step.outputs.size());
    if (step.outputs.size() != steps.size()) {
      fail(ErrorCode::kInvalidArgument, text_of(loc), ": scan: step ", i, " gave ",
           step.outputs.size(), " outputs, the first one ", steps.size());
    }
    for (size_t k = 0; k < step.outputs.size(); ++k)
      steps[k].push_back(std::move(step.outputs[k]));
  }
  for (const std::vector<Tensor>& parts : steps)
    result.outputs.push_back(stack(parts, 0, loc));
  return result;
}

// Of no steps: the state is the initial one, and of the outputs, which hold nothing, the body tells
// the shapes. It is recorded for one slice and dropped.
ScanResult scan_of_nothing(const ScanBody& body, const std::vector<Tensor>& initial,
                           const std::vector<Tensor>& xs, const Loc& loc) {
  std::vector<TensorSpec> specs;
  for (const Tensor& tensor : initial)
    specs.push_back({tensor.dtype(), to_dims(tensor.data().shape())});
  for (const Tensor& x : xs) {
    const Shape shape = x.data().shape();
    specs.push_back({x.dtype(), to_dims({shape.begin() + 1, shape.end()})});
  }
  const auto one_step = [&](const std::vector<Tensor>& in) {
    const auto middle = in.begin() + static_cast<ptrdiff_t>(initial.size());
    ScanResult step = body({in.begin(), middle}, {middle, in.end()});
    check_results(step.outputs, kBody, loc);
    check_state(initial, step.state, "scan", loc);
    return step.outputs;
  };
  ScanResult result{initial, {}};
  const Traced traced = trace(one_step, specs);
  for (const Value* output : traced.graph->outputs()) {
    std::optional<Shape> shape = output->type.known_shape();
    if (!shape) {
      fail(ErrorCode::kInvalidArgument, text_of(loc),
           ": scan: there is no slice to learn the outputs' shapes from (length 0)");
    }
    shape->insert(shape->begin(), 0);
    result.outputs.push_back(zeros(to_dims(*shape), {.dtype = output->type.dtype}));
  }
  return result;
}

}  // namespace

ScanResult scan(const ScanBody& body, const std::vector<Tensor>& initial,
                const std::vector<Tensor>& xs, Loc loc) {
  if (xs.empty())
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": scan: expected at least one tensor in xs");
  for (size_t i = 0; i < initial.size(); ++i)
    require_defined(initial[i], "scan", text("initial state ", i), loc);
  for (const Tensor& x : xs) {
    const Dim a = x.size(0, loc), b = xs[0].size(0, loc);
    if (a.is_known() && b.is_known() && !(a == b)) {
      fail(ErrorCode::kInvalidArgument, text_of(loc), ": scan: xs have lengths ", b, " and ", a);
    }
  }
  const bool is_symbolic = is_recorded(initial) || is_recorded(xs);
  if (!is_symbolic) {
    const bool has_steps = xs[0].size(0).value() > 0;
    return (has_steps ? scan_at_once : scan_of_nothing)(body, initial, xs, loc);
  }
  const std::vector<Tensor> start = in_graph(initial, loc), sequences = in_graph(xs, loc);
  std::vector<Type> slices;
  for (const Tensor& x : sequences) {
    Type type = x.type();
    type.shape->erase(type.shape->begin());
    slices.push_back(std::move(type));
  }
  size_t outputs = 0;
  const auto frame = recorded(kBody, loc, [&](TraceContext& own) {
    const std::vector<Tensor> state = inputs_of(own, "state_", types_of(start));
    ScanResult step = body(state, inputs_of(own, "slice_", slices));
    check_state(start, step.state, "scan", loc);
    outputs = step.outputs.size();
    step.state.insert(step.state.end(), step.outputs.begin(), step.outputs.end());
    return step.state;
  });
  std::vector<Tensor> inputs = start;
  inputs.insert(inputs.end(), sequences.begin(), sequences.end());
  std::vector<Tensor> results = emit("Scan",
                                     {{"body", frame->shared_graph()},
                                      {"num_scan_inputs", static_cast<int64_t>(sequences.size())}},
                                     inputs, frame->captured(), start.size() + outputs, loc);
  frame->finish();
  const auto middle = results.begin() + static_cast<ptrdiff_t>(start.size());
  return {{results.begin(), middle}, {middle, results.end()}};
}

}  // namespace sardonyx::eager
