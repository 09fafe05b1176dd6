// Tensors as text.
#pragma once

#include <string>

#include "ir/core/tensor.h"

namespace sardonyx::eager {

// "float[2, 2] [[1, 2], [3, 4]]", nested by dims; beyond 1000 elements the middle of each dim is
// left out.
std::string tensor_text(const sardonyx::Tensor& tensor);

}  // namespace sardonyx::eager
