#include "eager/compile.h"

#include <list>
#include <utility>

#include "eager/engine.h"
#include "executor/session.h"
#include "ir/reuse.h"

namespace sardonyx::eager {
namespace {

// What decides whether a trace serves a call.
struct Signature {
  struct Argument {
    DType dtype;
    size_t rank;
    bool operator==(const Argument&) const = default;
  };
  std::vector<Argument> arguments;
  // Axes that share a symbol: group numbers by argument and axis, in order.
  std::vector<size_t> groups;
};

std::vector<Signature::Argument> arguments_of(const std::vector<Tensor>& arguments,
                                              const Loc& loc) {
  std::vector<Signature::Argument> all;
  for (const Tensor& argument : arguments) {
    if (!argument.defined()) {
      fail(ErrorCode::kInvalidArgument, "argument ", all.size(),
           " of a compiled function is undefined");
    }
    all.push_back({argument.data(loc).dtype(), argument.data(loc).rank()});
  }
  return all;
}

// Sizes in the order of arguments and axes.
std::vector<int64_t> sizes_of(const std::vector<Tensor>& arguments, const Loc& loc) {
  std::vector<int64_t> sizes;
  for (const Tensor& argument : arguments) {
    const Shape& shape = argument.data(loc).shape();
    sizes.insert(sizes.end(), shape.begin(), shape.end());
  }
  return sizes;
}

// Sizes of one axis of several arguments that were equal in the first call get one symbol: most
// functions want them equal (the batch of inputs and labels), and a graph whose symbols agree is
// simpler. A later call that contradicts
// this is traced anew.
std::vector<size_t> group(const std::vector<int64_t>& sizes,
                          const std::vector<Signature::Argument>& arguments) {
  std::vector<size_t> axes, groups;
  for (const Signature::Argument& argument : arguments) {
    for (size_t axis = 0; axis < argument.rank; ++axis)
      axes.push_back(axis);
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    size_t first = 0;
    while (sizes[first] != sizes[i] || axes[first] != axes[i])
      ++first;
    groups.push_back(first);
  }
  return groups;
}

bool holds(const std::vector<size_t>& groups, const std::vector<int64_t>& sizes) {
  for (size_t i = 0; i < groups.size(); ++i) {
    if (sizes[groups[i]] != sizes[i]) return false;
  }
  return true;
}

std::vector<TensorSpec> specs_of(const Signature& signature) {
  std::vector<TensorSpec> specs;
  size_t at = 0;
  for (const Signature::Argument& argument : signature.arguments) {
    TensorSpec& spec = specs.emplace_back();
    spec.dtype = argument.dtype;
    for (size_t axis = 0; axis < argument.rank; ++axis)
      spec.shape.push_back(Dim::symbol("size_" + std::to_string(signature.groups[at++])));
  }
  return specs;
}

// One traced and planned form of the function.
class Form {
 public:
  Form(const TensorFunction& fn, Signature signature, const CompileOptions& options)
      : signature_(std::move(signature)) {
    Traced traced = trace(fn, specs_of(signature_), Frame::Kind::kStates, "compiled");
    results_ = traced.results;
    states_ = std::move(traced.states);
    made_.resize(states_.size());
    Model model;
    model.graph = traced.graph;
    for (Frame::State& state : states_) {
      state.writes = state.assigned.defined();
      state.leaves_grad = state.grad.defined();
      state.clears_grad = state.grad_touched && !state.grad.defined();
      state.assigned = Tensor();  // symbolic: they would keep the trace alive
      state.grad = Tensor();
      state.outer_grad = Tensor();
    }
    SessionOptions session;
    session.intra_op_threads = options.threads > 0 ? options.threads : num_threads();
    session.optimization_level = options.optimization_level;
    session_ = std::make_unique<Session>(std::move(model), session);
  }

  bool serves(const std::vector<Signature::Argument>& arguments,
              const std::vector<int64_t>& sizes) const {
    return arguments == signature_.arguments && holds(signature_.groups, sizes);
  }

  std::vector<Tensor> run(const std::vector<Tensor>& arguments, const Loc& loc) {
    inputs_.clear();
    std::vector<OutputSlot> outputs(session_->outputs().size());
    bind_states(outputs);
    for (const Tensor& argument : arguments)
      inputs_.push_back(argument.datum(loc));
    for (const Frame::State& state : states_)
      inputs_.push_back(state.tensor.datum(loc));
    session_->run_into(inputs_, outputs);
    std::vector<Tensor> results;
    for (size_t i = 0; i < results_; ++i)
      results.emplace_back(outputs[i].take());
    write_back(outputs);
    return results;
  }

  std::string plan_text() const { return session_->plan_text(inputs_); }

 private:
  // Compared without lock(), which would make a further owner (ir/sole_owner.h).
  bool is_made_here(size_t state, const std::shared_ptr<Buffer>& buffer) const {
    return !made_[state].owner_before(buffer) && !buffer.owner_before(made_[state]);
  }

  // A state is written where it lies, if that was made here and nobody else holds it; else it gets
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
    inputs_.resize(inputs_.size() - states_.size());
    for (size_t i = 0; i < states_.size(); ++i) {
      if (!states_[i].writes) continue;
      detail::TensorImpl& impl = *states_[i].tensor.impl();
      impl.value = outputs[next++].take();
      if (impl.value.is_tensor()) made_[i] = impl.value.tensor().buffer();
      ++impl.version;
    }
    for (const Frame::State& state : states_) {
      if (state.leaves_grad) state.tensor.set_grad(Tensor(outputs[next++].take()));
      if (state.clears_grad) state.tensor.zero_grad();
    }
    for (const Frame::State& state : states_)
      inputs_.push_back(state.tensor.datum());
  }

  Signature signature_;
  size_t results_ = 0;
  std::vector<Frame::State> states_;
  // Where an earlier call has put each state; other memory may be a file's.
  std::vector<std::weak_ptr<Buffer>> made_;
  std::unique_ptr<Session> session_;
  std::vector<Datum> inputs_;
};

}  // namespace

struct Compiled::Impl {
  TensorFunction fn;
  CompileOptions options;
  std::list<Form> forms;
  Form* last = nullptr;
  size_t traces = 0;
};

Compiled::Compiled(TensorFunction fn, CompileOptions options) : impl_(std::make_shared<Impl>()) {
  impl_->fn = std::move(fn);
  impl_->options = options;
}

std::vector<Tensor> Compiled::operator()(const std::vector<Tensor>& arguments, Loc loc) const {
  const auto given = arguments_of(arguments, loc);
  const std::vector<int64_t> sizes = sizes_of(arguments, loc);
  for (Form& form : impl_->forms) {
    if (!form.serves(given, sizes)) continue;
    impl_->last = &form;
    return form.run(arguments, loc);
  }
  impl_->forms.emplace_back(impl_->fn, Signature{given, group(sizes, given)}, impl_->options);
  ++impl_->traces;
  impl_->last = &impl_->forms.back();
  return impl_->last->run(arguments, loc);
}

size_t Compiled::traces() const {
  return impl_->traces;
}

std::string Compiled::plan_text() const {
  return impl_->last ? impl_->last->plan_text() : "";
}

Compiled compile(TensorFunction fn, CompileOptions options) {
  return Compiled(std::move(fn), options);
}

}  // namespace sardonyx::eager
