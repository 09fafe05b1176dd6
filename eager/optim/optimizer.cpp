#include "eager/optim/optimizer.h"

#include <unordered_set>

#include "eager/autograd.h"
#include "eager/create.h"
#include "eager/dispatch.h"
#include "eager/frame.h"
#include "eager/nn/state_dict.h"

namespace sardonyx::eager::optim {
namespace {

Tensor lr_of(double lr) {
  return full({}, lr, {.dtype = DType::kDouble});
}

std::string state_name(size_t parameter, const std::string& state) {
  return text("state.", parameter, ".", state);
}

}  // namespace

void Optimizer::require_within(const char* what, double value, double low, double high) const {
  if (value >= low && value < high) return;
  fail(ErrorCode::kInvalidArgument, name_, ": ", what, ": expected ", low, " <= value < ", high,
       ", got ", value);
}

void Optimizer::add_group(const std::vector<Tensor>& parameters, double lr, Rule rule) {
  require_within("lr", lr, 0, HUGE_VAL);
  GroupState group;
  group.lr = lr_of(lr);
  group.op = &op_named(rule.op);
  group.rule = std::move(rule);
  std::unordered_set<const void*> known;
  for (const Tensor& parameter : this->parameters())
    known.insert(parameter.impl().get());
  for (const Tensor& parameter : parameters) {
    if (!parameter.defined() || !parameter.is_leaf() || !is_floating(parameter.dtype())) {
      fail(ErrorCode::kInvalidArgument, name_,
           ": expected floating tensors that are no results of ops as parameters, got ",
           parameter.defined() ? text(parameter.type()) : "an undefined tensor");
    }
    if (!known.insert(parameter.impl().get()).second)
      fail(ErrorCode::kInvalidArgument, name_, ": a parameter stands in it twice");
    Slot& slot = group.slots.emplace_back();
    slot.parameter = parameter;
    slot.states.resize(group.rule.states.size());
    fit_states(group, slot, Loc::current());
  }
  groups_.push_back(std::move(group));
}

// Makes states of the parameter's type, where there are none or the parameter was converted.
void Optimizer::fit_states(GroupState& group, Slot& slot, const Loc& loc) const {
  const Tensor& x = slot.parameter;
  for (size_t i = 0; i < slot.states.size(); ++i) {
    const std::string& name = group.rule.states[i];
    Tensor& state = slot.states[i];
    const DType wanted = name == "step" ? DType::kInt64 : x.dtype();
    if (name.empty() || (state.defined() && state.dtype() == wanted)) continue;
    if (Frame::active()) {
      fail(ErrorCode::kInvalidArgument, text_of(loc), ": ", name_,
           ": a parameter was converted to ", wanted,
           " after the optimiser was made; run one step before the trace");
    }
    state = state.defined()  ? state.to(wanted)
            : name == "step" ? zeros({}, {.dtype = DType::kInt64})
                             : full_like(x, group.rule.initial);
  }
}

void Optimizer::update(GroupState& group, Slot& slot, const Loc& loc) {
  const Tensor gradient = slot.parameter.grad();
  if (!gradient.defined()) return;
  fit_states(group, slot, loc);
  std::vector<Tensor> inputs{slot.parameter, gradient, group.lr};
  inputs.insert(inputs.end(), slot.states.begin(), slot.states.end());
  std::vector<Tensor> next(1 + slot.states.size());
  apply({*group.op, *group.rule.attrs, inputs, 0, loc}, next);
  slot.parameter.assign(next[0], loc);
  for (size_t i = 0; i < slot.states.size(); ++i) {
    if (slot.states[i].defined()) slot.states[i].assign(next[i + 1], loc);
  }
}

void Optimizer::step(Loc loc) {
  const NoGrad no_grad;
  for (GroupState& group : groups_) {
    for (Slot& slot : group.slots)
      update(group, slot, loc);
  }
}

void Optimizer::zero_grad() const {
  for (const GroupState& group : groups_) {
    for (const Slot& slot : group.slots)
      slot.parameter.zero_grad();
  }
}

const Optimizer::GroupState& Optimizer::group_at(size_t group) const {
  if (group < groups_.size()) return groups_[group];
  fail(ErrorCode::kInvalidArgument, name_, ": no group ", group, ", it has ", groups_.size());
}
const Tensor& Optimizer::lr_tensor(size_t group) const {
  return group_at(group).lr;
}
double Optimizer::lr(size_t group) const {
  return lr_tensor(group).item<double>();
}
void Optimizer::set_lr(double lr, size_t group) {
  require_within("lr", lr, 0, HUGE_VAL);
  lr_tensor(group).assign(lr_of(lr));
}
void Optimizer::set_lr(double lr) {
  for (size_t group = 0; group < groups_.size(); ++group)
    set_lr(lr, group);
}

std::vector<Tensor> Optimizer::parameters() const {
  std::vector<Tensor> found;
  for (const GroupState& group : groups_) {
    for (const Slot& slot : group.slots)
      found.push_back(slot.parameter);
  }
  return found;
}

nn::NamedTensors Optimizer::named_states() const {
  nn::NamedTensors found;
  size_t parameter = 0;
  for (size_t index = 0; index < groups_.size(); ++index) {
    const GroupState& group = groups_[index];
    found.emplace_back(text("group.", index, ".lr"), group.lr);
    for (const Slot& slot : group.slots) {
      for (size_t i = 0; i < slot.states.size(); ++i) {
        if (slot.states[i].defined())
          found.emplace_back(state_name(parameter, group.rule.states[i]), slot.states[i]);
      }
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
  const nn::NamedTensors own = named_states();
  const std::string problems = nn::state_problems(own, state, {.same_dtypes = true});
  if (!problems.empty())
    fail(ErrorCode::kInvalidArgument, "load_state_dict of ", name_, ": ", problems);
  for (const auto& [name, tensor] : own)
    tensor.assign(state.at(name));
}

}  // namespace sardonyx::eager::optim
