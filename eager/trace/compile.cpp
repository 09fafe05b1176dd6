#include "eager/trace/compile.h"

#include <list>
#include <mutex>
#include <utility>

#include "eager/autograd/autograd.h"
#include "eager/dispatch/autocast.h"
#include "eager/dispatch/engine.h"
#include "eager/dispatch/profiler.h"
#include "eager/placed.h"
#include "eager/trace/trace.h"
#include "executor/passes/precision/product_precision.h"
#include "executor/session.h"
#include "ir/buffer_pool.h"

namespace sardonyx::eager {
namespace {

// The properties of a call that select a specialization.
struct CallSignature {
  struct ArgumentType {
    DType dtype;
    size_t rank;
    bool operator==(const ArgumentType&) const = default;
    std::string text() const { return sardonyx::text(dtype, " of rank ", rank); }
  };
  std::vector<ArgumentType> arguments;
  std::vector<int64_t> sizes;  // in the order of arguments and axes
  bool wants_gradients = true;
  DType autocast = DType::kUndefined;
};

CallSignature call_with(const std::vector<Tensor>& arguments, const Loc& loc) {
  CallSignature call;
  for (const Tensor& argument : arguments) {
    if (!argument.defined()) {
      fail(ErrorCode::kInvalidArgument, text_of(loc), ": argument ", call.arguments.size(),
           " of a compiled function is undefined");
    }
    const Shape& shape = argument.data(loc).shape();
    call.arguments.push_back({argument.dtype(), shape.size()});
    call.sizes.insert(call.sizes.end(), shape.begin(), shape.end());
  }
  call.wants_gradients = is_grad_enabled();
  call.autocast = Autocast::current();
  return call;
}

// Sizes of one axis of several arguments that were equal in the first call get one symbol: most
// functions want them equal (the batch of inputs and labels), and a graph whose symbols agree is
// simpler. A later call that contradicts this is traced anew. Group numbers by argument and axis,
// in order.
std::vector<size_t> groups_of(const CallSignature& call) {
  std::vector<size_t> axes, groups;
  for (const CallSignature::ArgumentType& argument : call.arguments) {
    for (size_t axis = 0; axis < argument.rank; ++axis)
      axes.push_back(axis);
  }
  for (size_t i = 0; i < call.sizes.size(); ++i) {
    size_t first = 0;
    while (call.sizes[first] != call.sizes[i] || axes[first] != axes[i])
      ++first;
    groups.push_back(first);
  }
  return groups;
}

std::string symbol_of(size_t group) {
  return text("size_", group);
}

std::vector<TensorSpec> specs_of(const CallSignature& call, const std::vector<size_t>& groups) {
  std::vector<TensorSpec> specs;
  size_t at = 0;
  for (const CallSignature::ArgumentType& argument : call.arguments) {
    TensorSpec& spec = specs.emplace_back();
    spec.dtype = argument.dtype;
    spec.example.emplace();
    for (size_t axis = 0; axis < argument.rank; ++axis, ++at) {
      spec.shape.push_back(Dim::symbol(symbol_of(groups[at])));
      spec.example->push_back(call.sizes[at]);
    }
  }
  return specs;
}

// One traced and planned form of the function.
class Specialization {
 public:
  Specialization(const TensorFunction& fn, CallSignature first, const CompileOptions& options)
      : first_(std::move(first)), groups_(groups_of(first_)) {
    Traced traced = trace(fn, specs_of(first_, groups_), TraceContext::Kind::kStates, "compiled",
                          {}, /*runs_here=*/true);
    results_ = traced.results;
    guards_ = std::move(traced.guards);
    states_ = std::move(traced.states);
    made_.resize(states_.size());
    Model model;
    model.graph = traced.graph;
    for (TraceContext::TracedState& state : states_) {
      state.writes = state.assigned.defined();
      state.leaves_grad = state.grad.defined();
      state.asks_presence = state.presence.defined();
      state.clears_grad = state.grad_touched && !state.grad.defined();
      state.assigned = Tensor();  // symbolic: they would keep the trace alive
      state.grad = state.presence = Tensor();
      state.outer_grad = Tensor();
      has_effects_ |= state.writes || state.leaves_grad || state.clears_grad;
    }
    SessionOptions session;
    session.intra_op_threads = options.threads > 0 ? options.threads : num_threads();
    session.optimization_level = options.optimization_level;
    // Level 0 computes what the function does op by op.
    if (session.optimization_level > 0) session.precision = precision_of_products(*model.graph);
    session_ = std::make_unique<Session>(std::move(model), session);
  }

  // Why this form does not serve the call; "" where it does.
  std::string refusal(const CallSignature& call) const {
    if (call.arguments.size() != first_.arguments.size())
      return text(call.arguments.size(), " arguments, not ", first_.arguments.size());
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      if (call.arguments[i] == first_.arguments[i]) continue;
      return text("argument ", i, " is ", call.arguments[i].text(), ", not ",
                  first_.arguments[i].text());
    }
    if (call.wants_gradients != first_.wants_gradients)
      return call.wants_gradients ? "gradients are recorded" : "gradients are not recorded";
    if (call.autocast != first_.autocast) return "Autocast has changed";
    SizeOf sizes;
    for (size_t i = 0; i < groups_.size(); ++i) {
      if (call.sizes[groups_[i]] != call.sizes[i])
        return text("sizes that were equal are ", call.sizes[groups_[i]], " and ", call.sizes[i]);
      sizes[symbol_of(groups_[i])] = call.sizes[i];
    }
    return guards_.broken(std::move(sizes));
  }

  // What the program's tensors are is read with the lock held. Where the run has no effects it goes
  // on without, from many threads at once.
  std::vector<Tensor> run(const std::vector<Tensor>& arguments, const Loc& loc,
                          std::unique_lock<std::recursive_mutex>& lock) {
    kept_inputs_.clear();  // they would hold the memory of states
    std::vector<OutputSlot> outputs(session_->outputs().size());
    bind_states(outputs);
    std::vector<Datum> inputs;
    for (const Tensor& argument : arguments)
      inputs.push_back(argument.datum(loc));
    for (const TraceContext::TracedState& state : states_)
      inputs.push_back(source_of(state).datum(loc));
    if (!has_effects_) {
      kept_inputs_ = inputs;
      lock.unlock();
    }
    session_->run_into(inputs, outputs);
    std::vector<Tensor> results;
    for (size_t i = 0; i < results_; ++i)
      results.emplace_back(outputs[i].take());
    if (has_effects_) {
      inputs.resize(arguments.size());
      write_back(outputs);
      add_states(inputs);
      kept_inputs_ = std::move(inputs);
    }
    return results;
  }

  // With the lock held.
  std::string plan_text() const {
    // A gradient may be gone by now; its type is what the plan asks for.
    std::vector<Datum> inputs = kept_inputs_;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Type& type = session_->inputs()[i].type;
      if (!inputs[i].defined())
        inputs[i] = sardonyx::Tensor::zeros(type.dtype, *type.known_shape());
    }
    return session_->plan_text(inputs);
  }

 private:
  // A gradient is another tensor after each backward().
  static Tensor source_of(const TraceContext::TracedState& state) {
    return state.grad_of.defined() ? state.grad_of.grad() : state.tensor;
  }

  // Compared without lock(), which would make a further owner (ir/core/unique_ownership.h).
  bool is_made_here(size_t state, const std::shared_ptr<Buffer>& buffer) const {
    return !made_[state].owner_before(buffer) && !buffer.owner_before(made_[state]);
  }

  // A state is written in place, if that was made here and nobody else holds it; else it gets
  // a buffer of its own, for the calls to come as well. Before anything refers to the states.
  void bind_states(std::vector<OutputSlot>& outputs) const {
    size_t next = results_;
    for (size_t i = 0; i < states_.size(); ++i) {
      if (!states_[i].writes) continue;
      OutputSlot& output = outputs[next++];
      const Datum& value = states_[i].tensor.impl()->value;
      if (!value.is_tensor()) continue;
      const sardonyx::Tensor& tensor = value.tensor();
      const bool is_free = is_held_alone(tensor.buffer()) && is_made_here(i, tensor.buffer());
      output = OutputSlot::bound(
          is_free ? tensor : sardonyx::Tensor::allocate(tensor.dtype(), tensor.shape()));
    }
  }

  void write_back(std::vector<OutputSlot>& outputs) {
    size_t next = results_;
    for (size_t i = 0; i < states_.size(); ++i) {
      if (!states_[i].writes) continue;
      detail::TensorImpl& impl = *states_[i].tensor.impl();
      impl.value = outputs[next++].take();
      if (impl.value.is_tensor()) made_[i] = impl.value.tensor().buffer();
      ++impl.version;
    }
    for (const TraceContext::TracedState& state : states_) {
      if (state.leaves_grad) state.tensor.set_grad(Tensor(outputs[next++].take()));
      if (state.asks_presence && !Tensor(outputs[next++].take()).item<bool>())
        state.tensor.zero_grad();
      if (state.clears_grad) state.tensor.zero_grad();
    }
  }

  // What the states are after a call.
  void add_states(std::vector<Datum>& inputs) const {
    for (const TraceContext::TracedState& state : states_) {
      const Tensor source = source_of(state);
      inputs.push_back(source.defined() ? source.datum() : Datum());
    }
  }

  CallSignature first_;
  std::vector<size_t> groups_;
  Guards guards_;
  size_t results_ = 0;
  std::vector<TraceContext::TracedState> states_;
  // Where an earlier call has put each state; other memory may be a file's.
  std::vector<std::weak_ptr<Buffer>> made_;
  std::unique_ptr<Session> session_;
  bool has_effects_ = false;        // does a run assign tensors, or leave or clear gradients?
  std::vector<Datum> kept_inputs_;  // of the last call, for its plan; read with the lock held too
};

}  // namespace

struct Compiled::Impl {
  TensorFunction fn;
  CompileOptions options;
  std::list<Specialization> forms;
  Specialization* last = nullptr;
  std::vector<std::string> log;
  // Of all above, and of runs with effects, whose states other calls read and compare with their
  // guards. What a run calls may call this function again.
  std::recursive_mutex mutex;

  Specialization& form_for(const CallSignature& call, const Loc& loc);
};

Compiled::Compiled(TensorFunction fn, CompileOptions options) : impl_(std::make_shared<Impl>()) {
  impl_->fn = std::move(fn);
  impl_->options = options;
}

Specialization& Compiled::Impl::form_for(const CallSignature& call, const Loc& loc) {
  std::string why;  // of the form that was used last
  for (auto form = forms.begin(); form != forms.end(); ++form) {
    const std::string refusal = form->refusal(call);
    if (refusal.empty()) {
      forms.splice(forms.begin(), forms, form);
      return forms.front();
    }
    if (why.empty()) why = refusal;
  }
  if (log.size() >= options.max_traces) {
    std::string reasons;
    for (const std::string& line : log)
      reasons += "\n  " + line;
    fail(ErrorCode::kResourceExhausted, text_of(loc),
         ": a compiled function would be traced more than ", options.max_traces, " times (", why,
         "); pass what changes from call to call as a tensor, or raise max_traces. Traces:",
         reasons);
  }
  forms.emplace_front(fn, call, options);
  log.push_back(text_of(loc) + ": " + (why.empty() ? "first call" : why));
  return forms.front();
}

std::vector<Tensor> Compiled::operator()(const std::vector<Tensor>& arguments, Loc loc) const {
  // Within a trace it is the function itself: its ops become part of that graph.
  if (TraceContext::active()) return impl_->fn(arguments);
  const detail::ProfiledCall profiled("compiled function", loc);
  return at_line(loc, [&] {
    const CallSignature call = call_with(arguments, loc);
    std::unique_lock lock(impl_->mutex);
    Specialization& form = impl_->form_for(call, loc);
    impl_->last = &form;
    return form.run(arguments, loc, lock);
  });
}

size_t Compiled::traces() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->log.size();
}

std::vector<std::string> Compiled::trace_log() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->log;
}

std::string Compiled::plan_text() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->last ? impl_->last->plan_text() : "";
}

Compiled compile(TensorFunction fn, CompileOptions options) {
  return Compiled(std::move(fn), options);
}

}  // namespace sardonyx::eager
