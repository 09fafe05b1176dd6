// What the losses share.
#pragma once

#include "eager/nn/loss/losses.h"

namespace sardonyx::eager::nn {

// The single losses as they are, their sum, or their mean.
Tensor reduced(const Tensor& losses, Reduction reduction, const Loc& loc);
// The target; throws kInvalidArgument where its sizes are not those of the input, which a compiled
// function does at the run where they depend on data. `name` is the loss.
Tensor of_one_shape(const Tensor& input, const Tensor& target, const char* name, const Loc& loc);

}  // namespace sardonyx::eager::nn
