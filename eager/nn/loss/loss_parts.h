// What the losses share.
#pragma once

#include "eager/nn/loss/losses.h"

namespace sardonyx::eager::nn {

// The single losses as they are, their sum, or their mean.
Tensor reduced(const Tensor& losses, Reduction reduction, const Loc& loc);
// Throws kInvalidArgument where sizes that are known differ; `name` is the loss.
void check_same_shape(const Tensor& input, const Tensor& target, const char* name, const Loc& loc);

}  // namespace sardonyx::eager::nn
