// What the copies of an optimiser share; for the optimisers' own sources.
#pragma once

#include <memory>
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
  // What schedules cycle: float64, rank 0; undefined where an optimiser has no such number.
  Tensor momentum;
  std::vector<std::string> momentum_states;  // what the row needs where it is not 0
  std::vector<OptimizerSlot> slots;

  // Whether the row is given the momentum: not where it has none of the states for it.
  bool gives_momentum() const;
};

struct OptimizerState {
  std::string name;
  std::vector<OptimizerGroup> groups;
};

}  // namespace sardonyx::eager::optim
