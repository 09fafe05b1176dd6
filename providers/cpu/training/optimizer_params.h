// What the kernels of optimizers read from their attributes and scalar inputs.
#pragma once

#include "ir/kernel.h"
#include "ir/ops/training/optimizer.h"
#include "providers/cpu/training/optimizer_kernel.h"

namespace sardonyx::cpu {

// Where a step finds what follows its gradient: the rate, the count of updates before this one, and
// the states, one after the other. Outputs are the parameter, the count and the states.
struct StepInputs {
  size_t rate = 2;
  bool rate_is_double = false;
  bool has_last_state = false;  // the velocity of SgdStep, the greatest squares of AdamStep

  double rate_of(const KernelArgs& args) const;
  int64_t count_of(const KernelArgs& args) const;  // where there is one
};

// In float32. A velocity's count of updates is written.
SgdUpdate sgd_update(const ops::SgdStepAttrs& attrs, const StepInputs& inputs,
                     const KernelArgs& args);
// Likewise; the count is written.
AdamUpdate adam_update(const ops::AdamStepAttrs& attrs, const StepInputs& inputs,
                       const KernelArgs& args);

}  // namespace sardonyx::cpu
