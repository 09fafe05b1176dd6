// All parameters as one vector, as torch.nn.utils does.
#pragma once

#include <vector>

#include "eager/tensor.h"

namespace sardonyx::eager::nn {

// Their elements one after the other; gradients flow back. Of one element type.
Tensor parameters_to_vector(const std::vector<Tensor>& parameters, Loc loc = Loc::current());
// Gives each parameter its part of the vector as its value. Throws kInvalidArgument unless the
// vector has as many elements as they have together; then nothing was changed.
void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters,
                          Loc loc = Loc::current());

}  // namespace sardonyx::eager::nn
