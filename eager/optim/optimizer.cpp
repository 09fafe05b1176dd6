#include "eager/optim/optimizer.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/nn/state_dict.h"
#include "eager/optim/optimizer_state.h"
#include "eager/tensor_impl.h"
#include "eager/trace/frame.h"
#include "ir/type.h"

namespace sardonyx::eager::optim {
namespace {

using Kind = StateSpec::Kind;

Tensor number_tensor(double number) {
  return full({}, number, {.dtype = DType::kDouble});
}

constexpr std::string_view kMomentumName = ".momentum";

std::string state_name(size_t parameter, const std::string& state) {
  return text("state.", parameter, ".", state);
}

// What parameters of a type are updated as: steps are far smaller than what 8 or 11 bits resolve.
DType working_dtype(DType dtype) {
  return dtype == DType::kDouble ? dtype : DType::kFloat;
}

DType state_dtype(const StateSpec& spec, DType parameter) {
  if (spec.kind == Kind::kCount) return DType::kInt64;
  return spec.kind == Kind::kNumber ? DType::kDouble : working_dtype(parameter);
}

Tensor fresh_state(const StateSpec& spec, const Tensor& parameter) {
  const CreateOptions options{.dtype = state_dtype(spec, parameter.dtype())};
  if (spec.kind != Kind::kLikeParameter) return full({}, spec.initial, options);
  return full(parameter.shape(), spec.initial, options);
}

// Gives each tensor that updates of a slot change, with its name.
template <typename Visit>
void each_state(const OptimizerGroup& group, const OptimizerSlot& slot, const Visit& visit) {
  for (size_t i = 0; i < slot.states.size(); ++i) {
    if (slot.states[i].defined()) visit(group.specs[i].name, slot.states[i]);
  }
  if (slot.master.defined()) visit("master", slot.master);
}

}  // namespace

Optimizer::Optimizer(std::string name) : state_(std::make_shared<OptimizerState>()) {
  state_->name = std::move(name);
}
const std::string& Optimizer::name() const {
  return state_->name;
}
size_t Optimizer::group_count() const {
  return state_->groups.size();
}

bool Optimizer::is_elementwise() const {
  for (const OptimizerGroup& group : state_->groups) {
    if (!group.op) return false;
  }
  return true;
}

void Optimizer::require_within(const char* what, double value, double low, double high) const {
  if (value >= low && value < high) return;
  fail(ErrorCode::kInvalidArgument, name(), ": ", what, ": expected ", low, " <= value < ", high,
       ", got ", value);
}

void Optimizer::require_moments(double beta1, double beta2, double eps, double weight_decay) const {
  require_within("beta1", beta1, 0, 1);
  require_within("beta2", beta2, 0, 1);
  require_within("eps", eps, 0, HUGE_VAL);
  require_within("weight_decay", weight_decay, 0, HUGE_VAL);
}

void Optimizer::require_groups(size_t count) const {
  if (count == 0) fail(ErrorCode::kInvalidArgument, name(), ": expected a group of parameters");
}

void Optimizer::add_group(const std::vector<Tensor>& parameters, double lr,
                          std::vector<StateSpec> states) {
  OptimizerGroup group;
  group.specs = std::move(states);
  append_group(std::move(group), parameters, lr);
}

void Optimizer::add_group_without_states(const std::vector<Tensor>& parameters, double lr) {
  OptimizerGroup group;
  group.has_masters = false;
  append_group(std::move(group), parameters, lr);
}

void Optimizer::append_group(OptimizerGroup group, const std::vector<Tensor>& parameters,
                             double lr) {
  require_within("lr", lr, 0, HUGE_VAL);
  if (parameters.empty()) {
    fail(ErrorCode::kInvalidArgument, name(), ": group ", group_count(),
         " has no parameters; layers are add()ed to their module, tensors are its parameter()s");
  }
  group.lr = number_tensor(lr);
  std::unordered_set<const void*> known;
  for (const Tensor& parameter : this->parameters())
    known.insert(parameter.impl().get());
  for (const Tensor& parameter : parameters) {
    if (!parameter.defined() || !parameter.is_leaf() || !is_floating(parameter.dtype())) {
      fail(ErrorCode::kInvalidArgument, name(),
           ": expected floating tensors that are no results of ops as parameters, got ",
           parameter.defined() ? text(parameter.type()) : "an undefined tensor");
    }
    if (!known.insert(parameter.impl().get()).second)
      fail(ErrorCode::kInvalidArgument, name(), ": a parameter stands in it twice");
    OptimizerSlot& slot = group.slots.emplace_back();
    slot.parameter = parameter;
    slot.states.resize(group.specs.size());
    fit_states(group, slot, Loc::current());
  }
  state_->groups.push_back(std::move(group));
}

void Optimizer::add_rule_group(const std::vector<Tensor>& parameters, double lr, Rule rule) {
  std::vector<StateSpec> specs;
  for (const std::string& state : rule.states) {
    const bool is_count = state == "step";
    specs.push_back({.name = state,
                     .initial = is_count ? 0 : rule.initial,
                     .kind = is_count ? Kind::kCount : Kind::kLikeParameter});
  }
  add_group(parameters, lr, std::move(specs));
  OptimizerGroup& group = state_->groups.back();
  group.op = &op_named(rule.op);
  group.attrs = std::move(rule.attrs);
  if (rule.momentum) group.momentum = number_tensor(*rule.momentum);
  group.momentum_states = std::move(rule.momentum_states);
}

bool OptimizerGroup::gives_momentum() const {
  if (!momentum.defined()) return false;
  return std::ranges::all_of(momentum_states, [&](const std::string& state) {
    return std::ranges::find(specs, state, &StateSpec::name) != specs.end();
  });
}

void Optimizer::cycle_momentum(double momentum) {
  state_->groups.back().momentum = number_tensor(momentum);
}

void Optimizer::add_momentum_states(OptimizerGroup& group) const {
  for (const std::string& name : group.momentum_states) {
    if (std::ranges::find(group.specs, name, &StateSpec::name) != group.specs.end()) continue;
    const Kind kind = name == "step" ? Kind::kCount : Kind::kLikeParameter;
    group.specs.push_back({.name = name, .kind = kind});
  }
  for (OptimizerSlot& slot : group.slots) {
    slot.states.resize(group.specs.size());
    fit_states(group, slot, Loc::current());
  }
}

// Makes states where there are none, and converts those of a parameter that was converted.
void Optimizer::fit_states(const OptimizerGroup& group, OptimizerSlot& slot, const Loc& loc) const {
  const Tensor& x = slot.parameter;
  const auto refuse_in_trace = [&] {
    if (!TraceContext::active()) return;
    fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", name(), ": a parameter was converted to ",
         x.dtype(), " after the optimiser was made; run one step before the trace");
  };
  for (size_t i = 0; i < slot.states.size(); ++i) {
    const StateSpec& spec = group.specs[i];
    Tensor& state = slot.states[i];
    const DType wanted = state_dtype(spec, x.dtype());
    if (spec.name.empty() || (state.defined() && state.dtype() == wanted)) continue;
    refuse_in_trace();
    state = state.defined() ? state.to(wanted) : fresh_state(spec, x);
  }
  const bool wants_master = group.has_masters && x.dtype() != working_dtype(x.dtype());
  if (wants_master == slot.master.defined()) return;
  refuse_in_trace();
  slot.master = wants_master ? x.detach().to(working_dtype(x.dtype()), loc) : Tensor();
}

Optimizer::Update::Update(const OptimizerGroup& group, const Loc& at)
    : loc(at), lr_(group.lr), of_(group) {}

const Tensor& Optimizer::Update::exact_momentum() const {
  if (of_.momentum.defined()) return of_.momentum;
  fail(ErrorCode::kInvalidArgument, text_of(loc),
       ": no momentum; cycle_momentum() is told that of an optimiser");
}

Tensor& Optimizer::Update::state(std::string_view name) {
  for (size_t i = 0; i < of_.specs.size(); ++i) {
    if (of_.specs[i].name == name) return states_[i];
  }
  fail(ErrorCode::kInvalidArgument, text_of(loc), ": no state '", name,
       "'; add_group is told the states of an optimiser");
}

void Optimizer::update(Update& update) {
  const OptimizerGroup& group = update.of_;
  if (!group.op) {
    fail(ErrorCode::kInvalidArgument, name(),
         ": an optimiser of one's own overrides update(), or step_all()");
  }
  std::vector<Tensor> inputs{update.parameter, update.gradient, group.lr};
  inputs.insert(inputs.end(), update.states_.begin(), update.states_.end());
  if (group.gives_momentum()) {
    inputs.resize(signature_of(*group.op).max_inputs - 1);
    inputs.push_back(group.momentum);
  }
  std::vector<Tensor> next(1 + update.states_.size());
  apply({*group.op, *group.attrs, inputs, 0, update.loc}, next);
  update.parameter = std::move(next[0]);
  std::move(next.begin() + 1, next.end(), update.states_.begin());
}

void Optimizer::assign(const Tensor& target, const Tensor& next, const Tensor& condition,
                       const Loc& loc) const {
  if (!target.defined() || next.is_same(target)) return;
  target.assign(condition.defined() ? where(condition, {next, loc}, {target, loc}) : next, loc);
}

// A trace without the states of a momentum, which was 0, serves as long as there are none.
void Optimizer::note_momentum_states(TraceContext& frame, size_t index) const {
  const OptimizerGroup& group = state_->groups[index];
  if (group.momentum_states.empty() || group.gives_momentum()) return;
  frame.root().guards.note({group.momentum.impl().get(), 'm'}, [state = state_, index] {
    const bool gives = index < state->groups.size() && state->groups[index].gives_momentum();
    return gives ? text(state->name, " has a momentum now") : std::string();
  });
}

void Optimizer::update_slot(size_t index, OptimizerSlot& slot, const Loc& loc) {
  OptimizerGroup& group = state_->groups[index];
  const Tensor gradient = slot.parameter.grad();
  if (!gradient.defined()) return;
  fit_states(group, slot, loc);
  if (TraceContext* const frame = TraceContext::active()) note_momentum_states(*frame, index);
  Update update(group, loc);
  update.group = index;
  update.states_ = slot.states;
  update.parameter = slot.parameter;
  update.gradient = gradient;
  if (slot.master.defined()) {
    // Where the parameter was given another value, by load_state_dict() say, that one counts.
    const DType small = slot.parameter.dtype(), wide = slot.master.dtype();
    const Tensor &x = slot.parameter, &master = slot.master;
    update.parameter = where(master.to(small, loc) == x, master, {x.to(wide, loc), loc});
    update.gradient = gradient.to(wide, loc);
  }
  this->update(update);
  const Tensor presence = eager::detail::gradient_presence(*slot.parameter.impl());
  const Tensor condition = !presence.defined()     ? condition_
                           : !condition_.defined() ? presence
                                                   : logical_and(condition_, presence, loc);
  const Tensor& next = update.parameter;
  assign(slot.parameter, next.defined() ? next.to(slot.parameter.dtype(), loc) : next, condition,
         loc);
  if (slot.master.defined()) assign(slot.master, next, condition, loc);
  for (size_t i = 0; i < slot.states.size(); ++i)
    assign(slot.states[i], update.states_[i], condition, loc);
}

Tensor Optimizer::step_all(const Closure* closure, const Loc& loc) {
  Tensor loss;
  if (closure) {
    const EnableGrad enable_grad;
    loss = (*closure)();
  }
  const NoGrad no_grad;
  for (size_t group = 0; group < group_count(); ++group) {
    for (OptimizerSlot& slot : state_->groups[group].slots)
      update_slot(group, slot, loc);
  }
  return loss;
}

void Optimizer::step(Loc loc) {
  step_all(nullptr, loc);
}

Tensor Optimizer::step(const Closure& closure, Loc loc) {
  return step_all(&closure, loc);
}

void Optimizer::step_where(const Tensor& condition, Loc loc) {
  condition_ = condition;
  try {
    step_all(nullptr, loc);
  } catch (...) {
    condition_ = Tensor();
    throw;
  }
  condition_ = Tensor();
}

void Optimizer::zero_grad() const {
  for (const OptimizerGroup& group : state_->groups) {
    for (const OptimizerSlot& slot : group.slots)
      slot.parameter.zero_grad();
  }
}

void Optimizer::take_over(const Optimizer& before) {
  std::vector<OptimizerGroup>& olds = before.state_->groups;
  for (size_t i = 0; i < std::min(olds.size(), group_count()); ++i) {
    OptimizerGroup& group = state_->groups[i];
    const OptimizerGroup& old = olds[i];
    group.lr = old.lr;
    if (group.momentum.defined() && old.momentum.defined()) {
      // The tensor that compiled steps read.
      old.momentum.assign(group.momentum);
      group.momentum = old.momentum;
    }
    // A velocity outlives a momentum of 0.
    for (const std::string& state : group.momentum_states) {
      if (std::ranges::count(old.specs, state, &StateSpec::name) == 0) continue;
      add_momentum_states(group);
      break;
    }
    for (size_t at = 0; at < std::min(group.slots.size(), old.slots.size()); ++at) {
      OptimizerSlot& slot = group.slots[at];
      slot.master = old.slots[at].master;
      for (size_t k = 0; k < group.specs.size(); ++k) {
        const auto same = std::ranges::find(old.specs, group.specs[k].name, &StateSpec::name);
        if (same == old.specs.end()) continue;
        slot.states[k] = old.slots[at].states[static_cast<size_t>(same - old.specs.begin())];
      }
    }
  }
  olds = std::move(state_->groups);
  state_ = before.state_;
}

const OptimizerGroup& Optimizer::group_at(size_t group) const {
  if (group < group_count()) return state_->groups[group];
  fail(ErrorCode::kInvalidArgument, name(), ": no group ", group, ", it has ", group_count());
}
const Tensor& Optimizer::lr_tensor(size_t group) const {
  return group_at(group).lr;
}
double Optimizer::lr(size_t group) const {
  return lr_tensor(group).item<double>();
}
void Optimizer::set_lr(double lr, size_t group) const {
  require_within("lr", lr, 0, HUGE_VAL);
  lr_tensor(group).assign(number_tensor(lr));
}
void Optimizer::set_lr(double lr) const {
  for (size_t group = 0; group < group_count(); ++group)
    set_lr(lr, group);
}

std::optional<double> Optimizer::momentum(size_t group) const {
  const Tensor& momentum = group_at(group).momentum;
  return momentum.defined() ? std::optional(momentum.item<double>()) : std::nullopt;
}
void Optimizer::set_momentum(double momentum, size_t index) const {
  require_within("momentum", momentum, 0, HUGE_VAL);
  const Tensor& own = group_at(index).momentum;
  if (!own.defined()) {
    fail(ErrorCode::kInvalidArgument, name(),
         ": it has neither a momentum nor betas that can be set; schedules leave them alone with "
         "cycle_momentum = false");
  }
  own.assign(number_tensor(momentum));
  if (momentum != 0) add_momentum_states(state_->groups[index]);
}

std::vector<Tensor> Optimizer::parameters() const {
  std::vector<Tensor> found;
  for (const OptimizerGroup& group : state_->groups) {
    for (const OptimizerSlot& slot : group.slots)
      found.push_back(slot.parameter);
  }
  return found;
}

nn::NamedTensors Optimizer::named_states() const {
  nn::NamedTensors found;
  size_t parameter = 0;
  for (size_t index = 0; index < group_count(); ++index) {
    const OptimizerGroup& group = state_->groups[index];
    found.emplace_back(text("group.", index, ".lr"), group.lr);
    if (group.momentum.defined())
      found.emplace_back(text("group.", index, kMomentumName), group.momentum);
    for (const OptimizerSlot& slot : group.slots) {
      each_state(group, slot, [&](const std::string& name, const Tensor& state) {
        found.emplace_back(state_name(parameter, name), state);
      });
      ++parameter;
    }
  }
  return found;
}

nn::StateDict Optimizer::state_dict() const {
  nn::StateDict state;
  for (const auto& [name, tensor] : named_states())
    state[name] = tensor.detach();
  return state;
}

void Optimizer::load_state_dict(const nn::StateDict& state) {
  nn::NamedTensors own = named_states();
  std::erase_if(own, [&](const auto& one) {
    return may_be_missing(one.first) && !state.contains(one.first);
  });
  const std::string problems = nn::state_problems(own, state, {.same_dtypes = true});
  if (!problems.empty())
    fail(ErrorCode::kInvalidArgument, "load_state_dict of ", name(), ": ", problems);
  for (const auto& [name, tensor] : own)
    tensor.assign(state.at(name));
  for (size_t group = 0; group < group_count(); ++group) {
    if (momentum(group).value_or(0) != 0) add_momentum_states(state_->groups[group]);
  }
}

bool Optimizer::may_be_missing(std::string_view name) {
  return name.starts_with("group.") && name.ends_with(kMomentumName);
}

}  // namespace sardonyx::eager::optim
