#include "eager/trace/frame.h"

#include <algorithm>
#include <utility>

#include "eager/dispatch/dispatch.h"
#include "ir/emitter/emit_dim.h"

namespace sardonyx::eager {
namespace {

thread_local TraceContext* t_active = nullptr;
thread_local std::string t_scope;

}  // namespace

TraceContext::TraceContext(Kind kind, std::string name) : kind_(kind), outer_(t_active) {
  graph_->name = std::move(name);
}

std::shared_ptr<TraceContext> TraceContext::make(Kind kind, std::string name) {
  return std::shared_ptr<TraceContext>(new TraceContext(kind, std::move(name)));
}

TraceContext* TraceContext::active() {
  return t_active;
}

TraceContext& TraceContext::root() {
  TraceContext* frame = this;
  while (frame->kind_ == Kind::kSubgraph && frame->outer_)
    frame = frame->outer_;
  return *frame;
}

Tensor TraceContext::add_input(const std::string& name, Type type) {
  return wrap(graph_->add_input(name, std::move(type)));
}

Tensor TraceContext::wrap(Value* value) {
  auto impl = std::make_shared<detail::TensorImpl>();
  impl->symbol = value;
  impl->frame = shared_from_this();
  made_.push_back(impl);
  return Tensor(std::move(impl));
}

bool TraceContext::records(std::span<const Tensor> inputs) const {
  if (kind_ == Kind::kStates) return true;
  if (kind_ == Kind::kSubgraph && outer_ && outer_->records({})) return true;
  for (const Tensor& input : inputs) {
    if (!input.defined()) continue;
    if (input.impl()->symbol || current(input).defined()) return true;
  }
  return false;
}

Tensor TraceContext::current(const Tensor& tensor) const {
  const auto at = state_index_.find(tensor.impl().get());
  if (at != state_index_.end()) return states_[at->second].assigned;
  return kind_ == Kind::kSubgraph && outer_ ? outer_->current(tensor) : Tensor();
}

Value* TraceContext::value_of(const Tensor& tensor, const Loc& loc) {
  detail::TensorImpl* impl = tensor.impl().get();
  if (impl->symbol && impl->frame.get() == this) return impl->symbol;
  const auto state = state_index_.find(impl);
  if (state != state_index_.end() && states_[state->second].assigned.defined())
    return states_[state->second].assigned.impl()->symbol;
  const auto known = lifted_.find(impl);
  return known != lifted_.end() ? known->second : lift(tensor, loc);
}

void TraceContext::add_output(const Tensor& tensor, const Loc& loc) {
  Value* value = value_of(tensor, loc);
  if (!value->producer || graph_->is_output(*value)) {
    GraphEmitter emitter(*graph_);
    value = GraphEmitter::unwrap(emitter.call("Identity", {GraphEmitter::wrap(value)}));
  }
  graph_->add_output(value);
}

Value* TraceContext::lift(const Tensor& tensor, const Loc& loc) {
  detail::TensorImpl* impl = tensor.impl().get();
  Value* value = nullptr;
  if (kind_ == Kind::kSubgraph && !impl->is_literal) {
    // The enclosing frames must know it too: they give it at the owner's call.
    if (!outer_) {
      fail(ErrorCode::kInvalidArgument, text_of(loc), ": a body is recorded outside of any trace");
    }
    const Value* outer = outer_->value_of(tensor, loc);
    value = graph_->add_capture(outer->name, outer->type);
    value->dims = outer->dims;
    captured_.push_back(tensor);
  } else if (impl->symbol) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": a symbolic tensor of another trace is used; return it from that trace, or pass it in");
  } else if (kind_ == Kind::kStates && !impl->is_literal) {
    return state_of(tensor).input;
  } else {
    if (!impl->value.is_tensor()) {
      fail(ErrorCode::kUnsupported, text_of(loc), ": a value of type ", impl->value.type(),
           " cannot be a constant of a graph; pass it in as an argument");
    }
    value = graph_->add_constant(name_of(tensor), impl->value.tensor());
  }
  lifted_[impl] = value;
  held_.push_back(tensor);
  return value;
}

std::string TraceContext::name_of(const Tensor& tensor) const {
  const auto at = names.find(tensor.impl().get());
  return at == names.end() ? "" : at->second;
}

namespace {

// The axis of `value` whose size is `dim`.
std::optional<int64_t> axis_of(const Value& value, const sardonyx::Dim& dim) {
  if (!value.type.is_tensor() || !value.type.shape) return std::nullopt;
  for (size_t axis = 0; axis < value.type.rank(); ++axis) {
    if ((*value.type.shape)[axis] == dim) return static_cast<int64_t>(axis);
  }
  return std::nullopt;
}

Value* value_with(const Graph& graph, const sardonyx::Dim& dim) {
  for (const std::vector<Value*>* list : {&graph.inputs(), &graph.captures()}) {
    for (Value* value : *list) {
      if (axis_of(*value, dim)) return value;
    }
  }
  for (const auto& node : graph.nodes()) {
    for (Value* value : node->outputs) {
      if (value && axis_of(*value, dim)) return value;
    }
  }
  return nullptr;
}

}  // namespace

Tensor TraceContext::read_dim(const sardonyx::Dim& dim, const Loc& loc) {
  if (Value* value = value_with(*graph_, dim)) {
    // Not by Shape's attributes: opset 13 has none.
    static const OpDef& shape = op_named("Shape");
    static const OpDef& gather = op_named("Gather");
    const Tensor sizes = apply(shape, {wrap(value)}, loc);
    return apply(gather, {sizes, int64s({*axis_of(*value, dim)})}, loc);
  }
  if (!outer_) return Tensor();
  const Tensor outside = [&] {
    const FrameScope scope(*outer_);
    return outer_->read_dim(dim, loc);
  }();
  return outside.defined() ? wrap(value_of(outside, loc)) : outside;
}

Tensor TraceContext::dim_tensor(const sardonyx::Dim& dim, const Loc& loc) {
  const auto known = dims_.find(dim.text());
  if (known != dims_.end()) return wrap(known->second);
  Tensor found = read_dim(dim, loc);
  if (!found.defined()) {
    EagerEmitter emitter(loc);
    const auto symbol = [&](std::string_view name) {
      const Tensor read = read_dim(Dim::symbol(name), loc);
      if (read.defined()) return detail::val_of(read);
      fail(ErrorCode::kInvalidArgument, text_of(loc), ": the size ", name,
           " belongs to no tensor of this trace; pass in a tensor that has it");
    };
    found = detail::tensor_of(dim_value(emitter, dim, symbol));
  }
  // What it was computed from may not tell.
  if (Value* value = found.impl()->symbol; !value->dims) value->dims = Dims{dim};
  dims_[dim.text()] = found.impl()->symbol;
  return found;
}

TraceContext::TracedState& TraceContext::state_of(const Tensor& tensor) {
  detail::TensorImpl* impl = tensor.impl().get();
  const auto known = state_index_.find(impl);
  if (known != state_index_.end()) return states_[known->second];
  Value* input = graph_->add_input(name_of(tensor), impl->value.type());
  // It may have been taken for a constant before it was assigned.
  const auto lifted = lifted_.find(impl);
  if (lifted != lifted_.end()) graph_->replace_uses(*lifted->second, *input);
  lifted_[impl] = input;
  state_index_[impl] = states_.size();
  const auto owner = grad_owners_.find(impl);
  states_.push_back({.tensor = tensor,
                     .input = input,
                     .grad_of = owner == grad_owners_.end() ? Tensor() : owner->second});
  return states_.back();
}

void TraceContext::assign(const Tensor& target, const Tensor& value, const Loc& loc) {
  if (kind_ == Kind::kSubgraph) {
    fail(ErrorCode::kUnsupported, text_of(loc),
         ": assign inside the body of cond, while_loop or scan; carry the value as a result of the "
         "body and assign it outside");
  }
  if (kind_ == Kind::kConstants) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": assign changes a tensor of the program while a graph without states is recorded; call "
         "eval(), or export the step with its states");
  }
  detail::TensorImpl* impl = target.impl().get();
  if (impl->symbol) {
    fail(ErrorCode::kInvalidArgument, text_of(loc),
         ": assign to a symbolic tensor; only tensors of the program are states");
  }
  impl->is_literal = false;
  Tensor symbolic = wrap(value_of(value, loc));
  state_of(target).assigned = std::move(symbolic);
}

void TraceContext::note_grad_read(const Tensor& target) {
  TraceContext& frame = root();
  const detail::TensorImpl* impl = target.impl().get();
  if (frame.kind_ != Kind::kStates || impl->symbol || impl->is_literal) return;
  const auto known = frame.state_index_.find(impl);
  if (known != frame.state_index_.end() && frame.states_[known->second].grad_touched) return;
  const Tensor gradient = detail::kept_gradient(*target.impl());
  if (gradient.defined()) frame.grad_owners_[gradient.impl().get()] = target;
  const std::optional<Type> was =
      gradient.defined() ? std::optional(gradient.type()) : std::nullopt;
  frame.guards.note({impl, 'g'}, [target, was]() -> std::string {
    const Tensor now = target.grad();
    if (!now.defined())
      return was ? text("the gradient of a tensor ", target.type(), " is gone") : "";
    if (!was) return text("a tensor ", target.type(), " has a gradient from before the call");
    return now.type() == *was ? "" : text("a gradient became ", now.type(), ", was ", *was);
  });
}

void TraceContext::note_requires_grad(const Tensor& tensor) {
  const detail::TensorImpl* impl = tensor.impl().get();
  if (kind_ != Kind::kStates || impl->symbol || impl->is_literal) return;
  guards.note({impl, 'r'}, [tensor, was = impl->requires_grad]() -> std::string {
    if (tensor.impl()->requires_grad == was) return "";
    return text("a tensor ", tensor.type(),
                was ? " requires no gradient any more" : " requires a gradient now");
  });
}

void TraceContext::note_value_read(const Tensor& tensor, const Loc& loc) {
  TraceContext& frame = root();
  const detail::TensorImpl* impl = tensor.impl().get();
  if (frame.kind_ != Kind::kStates || impl->is_literal || !impl->value.is_tensor()) return;
  const sardonyx::Tensor was = impl->value.tensor();
  frame.guards.note({impl, 'v'}, [tensor, was, loc]() -> std::string {
    const sardonyx::Tensor& now = tensor.impl()->value.tensor();
    const bool is_same = now.raw() == was.raw() || now == was;
    return is_same ? "" : text("a value that ", text_of(loc), " read in C++ has changed");
  });
}

void TraceContext::note_grad(const Tensor& target) {
  TraceContext* root = &this->root();
  if (target.impl()->symbol) return;
  if (root->kind_ == Kind::kStates) {
    TracedState& state = root->state_of(target);
    if (!state.grad_touched) state.outer_grad = detail::kept_gradient(*target.impl());
    state.grad_touched = true;
    return;
  }
  const auto known = root->state_index_.find(target.impl().get());
  if (known != root->state_index_.end()) return;
  root->state_index_[target.impl().get()] = root->states_.size();
  root->states_.push_back({.tensor = target,
                           .outer_grad = detail::kept_gradient(*target.impl()),
                           .grad_touched = true});
}

void TraceContext::guard_state(const TracedState& state) {
  note_requires_grad(state.tensor);
  if (state.grad_of.defined() || !state.input) return;
  guards.note({state.tensor.impl().get(), 't'},
              [tensor = state.tensor, was = state.input->type]() -> std::string {
                const Type& now = tensor.impl()->value.type();
                return now == was ? ""
                                  : text("a tensor of the program became ", now, ", was ", was);
              });
}

void TraceContext::capture_all(const std::vector<Tensor>& tensors, const Loc& loc) {
  for (const Tensor& tensor : tensors)
    value_of(tensor, loc);
}

std::vector<TraceContext::TracedState> TraceContext::finish() {
  for (TracedState& state : states_) {
    if (!state.grad_touched) continue;
    state.grad = state.tensor.grad();
    state.presence = detail::gradient_presence(*state.tensor.impl());
    state.tensor.set_grad(state.outer_grad);
  }
  captured_.clear();
  held_.clear();
  is_over_ = true;
  part_from_graph();
  return std::move(states_);
}

// Passes change the graph after the trace, and values go with it.
void TraceContext::part_from_graph() {
  for (const std::weak_ptr<detail::TensorImpl>& made : std::exchange(made_, {})) {
    const detail::ImplPtr impl = made.lock();
    if (!impl) continue;
    const Value& of = *impl->symbol;
    auto parted = std::make_unique<Value>(Value{.name = of.name, .type = of.type});
    impl->symbol = parted_.emplace_back(std::move(parted)).get();
  }
}

FrameScope::FrameScope(TraceContext& frame) : previous_(t_active) {
  t_active = &frame;
}
FrameScope::~FrameScope() {
  t_active = previous_;
}

ScopeName::ScopeName(const std::string& name) : previous_size_(t_scope.size()) {
  if (!t_scope.empty() && !name.empty()) t_scope += '.';
  t_scope += name;
}
ScopeName::~ScopeName() {
  t_scope.resize(previous_size_);
}
const std::string& ScopeName::current() {
  return t_scope;
}

std::string text_of(const Loc& loc) {
  const std::string_view path = loc.file_name();
  const size_t slash = path.find_last_of('/');
  std::string text(slash == path.npos ? path : path.substr(slash + 1));
  text += ':';
  return text += std::to_string(loc.line());
}

}  // namespace sardonyx::eager
