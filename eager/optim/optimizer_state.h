// What the copies of an optimiser share; for the optimisers' own sources.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eager/optim/optimizer.h"

namespace sardonyx::eager::optim {

// One parameter and what updates change beside it.
struct OptimizerSlot {
  Tensor parameter;
  Tensor master;  // float32, where the parameter is of a smaller type
  std::vector<Tensor> states;
};

struct OptimizerGroup {
  Tensor lr;
  std::vector<StateSpec> specs;
  bool has_masters = true;  // float32 values beside parameters of smaller types
  // The row that updates; null where Optimizer::update is overridden.
  const OpDef* op = nullptr;
  std::shared_ptr<const Attrs> attrs;
  // What schedules cycle; none where an optimiser has no such number.
  std::optional<double> momentum;
  // The row's attributes with another momentum, and the states that it needs if it is not 0.
  std::function<std::shared_ptr<const Attrs>(double)> attrs_of;
  std::vector<std::string> momentum_states;
  bool was_traced = false;  // a trace has the momentum as a constant
  std::vector<OptimizerSlot> slots;
};

struct OptimizerState {
  std::string name;
  std::vector<OptimizerGroup> groups;
};

}  // namespace sardonyx::eager::optim
