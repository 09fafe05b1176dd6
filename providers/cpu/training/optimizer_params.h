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
  size_t momentum = 0;          // that input's index; 0: an attribute

  double rate_of(const KernelArgs& args) const;
  int64_t count_of(const KernelArgs& args) const;  // where there is one
  // The input, of the rate's type, else the attribute.
  double momentum_of(const KernelArgs& args, const ops::Number& attribute) const;

 private:
  double number_in(const KernelArgs& args, size_t input) const;
};

// Writes a state that a momentum of 0 leaves as it was.
void keep_state(const void* state, void* next, size_t bytes);

// The operands of SgdStep of so many elements in float32. Writes the output count of updates where
// there is a velocity, and the velocity where it rests.
SgdUpdate sgd_update(const ops::SgdStepAttrs& attrs, const StepInputs& inputs,
                     const KernelArgs& args, size_t elements);
// The operands of AdamStep in float32. Writes the output count of updates.
AdamUpdate adam_update(const ops::AdamStepAttrs& attrs, const StepInputs& inputs,
                       const KernelArgs& args, size_t elements);

}  // namespace sardonyx::cpu
