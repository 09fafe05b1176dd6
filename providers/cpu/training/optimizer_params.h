// The parameters of an optimizer step, from its attributes and scalar inputs.
#pragma once

#include "ir/kernel.h"
#include "ir/ops/training/optimizer.h"
#include "providers/cpu/training/optimizer_kernel.h"

namespace sardonyx::cpu {

// Indices of the inputs after the gradient: the rate, the count of updates before this one, and the
// states, in that order. Outputs are the parameter, the count and the states.
struct StepInputs {
  size_t rate = 2;
  bool rate_is_double = false;
  bool has_last_state = false;  // the velocity of SgdStep, the greatest squares of AdamStep

  double rate_of(const KernelArgs& args) const;
  int64_t count_of(const KernelArgs& args) const;  // where there is one
};

// The operands of SgdStep in float32. Writes the output count of updates where there is a velocity.
SgdUpdate sgd_update(const ops::SgdStepAttrs& attrs, const StepInputs& inputs,
                     const KernelArgs& args);
// The operands of AdamStep in float32. Writes the output count of updates.
AdamUpdate adam_update(const ops::AdamStepAttrs& attrs, const StepInputs& inputs,
                       const KernelArgs& args);

}  // namespace sardonyx::cpu
