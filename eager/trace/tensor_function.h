// What is traced, compiled and exported.
#pragma once

#include <functional>
#include <vector>

#include "eager/tensor.h"

namespace sardonyx::eager {

using TensorFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;

}  // namespace sardonyx::eager
