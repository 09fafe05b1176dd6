#include "eager/trace/trace.h"

#include "ir/pass.h"

namespace sardonyx::eager {
namespace {

std::vector<Tensor> arguments_of(TraceContext& frame, const std::vector<TensorSpec>& specs) {
  std::vector<Tensor> arguments;
  for (size_t i = 0; i < specs.size(); ++i) {
    const std::string name = specs[i].name.empty() ? text("input_", i) : specs[i].name;
    arguments.push_back(frame.add_input(name, Type::tensor(specs[i].dtype, specs[i].shape)));
    if (!specs[i].example) continue;
    for (size_t axis = 0; axis < specs[i].shape.size(); ++axis) {
      const sardonyx::Dim& dim = specs[i].shape[axis];
      if (!dim.is_known()) frame.example_sizes.try_emplace(dim.text(), specs[i].example->at(axis));
    }
  }
  return arguments;
}

}  // namespace

TensorSpec spec_of(const Tensor& tensor, const std::vector<std::pair<int64_t, std::string>>& axes,
                   std::string name) {
  TensorSpec spec{tensor.dtype(), tensor.shape(), std::move(name), tensor.data().shape()};
  const auto rank = static_cast<int64_t>(spec.shape.size());
  for (const auto& [axis, symbol] : axes) {
    if (axis < -rank || axis >= rank) {
      fail(ErrorCode::kInvalidArgument, "dynamic axis ", symbol, ": expected an axis within [",
           -rank, ", ", rank, ") of ", tensor.type(), ", got ", axis);
    }
    spec.shape[static_cast<size_t>(axis < 0 ? axis + rank : axis)] = Dim::symbol(symbol);
  }
  return spec;
}

Traced trace(const TensorFunction& fn, const std::vector<TensorSpec>& specs,
             TraceContext::Kind kind, const std::string& name,
             const std::unordered_map<const detail::TensorImpl*, std::string>& names,
             bool runs_here) {
  const std::shared_ptr<TraceContext> frame = TraceContext::make(kind, name);
  frame->names = names;
  frame->records_draws = true;
  frame->runs_here = runs_here;
  Traced traced;
  traced.graph = frame->shared_graph();
  try {
    const FrameScope scope(*frame);
    const std::vector<Tensor> results = fn(arguments_of(*frame, specs));
    traced.results = results.size();
    for (size_t i = 0; i < results.size(); ++i) {
      if (!results[i].defined()) {
        fail(ErrorCode::kInvalidArgument, "result ", i, " of ",
             name.empty() ? "the traced function" : name, " is undefined");
      }
      frame->add_output(results[i]);
    }
    for (const TraceContext::TracedState& state : frame->states()) {
      if (state.assigned.defined()) frame->add_output(state.assigned);
    }
    for (const TraceContext::TracedState& state : frame->states()) {
      if (state.grad_touched && kind == TraceContext::Kind::kStates &&
          state.tensor.grad().defined()) {
        frame->add_output(state.tensor.grad());
        const Tensor presence = detail::gradient_presence(*state.tensor.impl());
        if (presence.defined()) frame->add_output(presence);
      }
    }
  } catch (...) {
    frame->finish();
    throw;
  }
  if (kind == TraceContext::Kind::kStates) {
    for (const TraceContext::TracedState& state : frame->states())
      frame->guard_state(state);
  }
  traced.guards = std::move(frame->guards);
  traced.states = frame->finish();
  remove_dead_nodes(*traced.graph);
  return traced;
}

}  // namespace sardonyx::eager
