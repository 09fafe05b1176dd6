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
  std::vector<OptimizerSlot> slots;
};

struct OptimizerState {
  std::string name;
  std::vector<OptimizerGroup> groups;
};

}  // namespace sardonyx::eager::optim
