// The gradient of Relu on float32.
#pragma once

#include <memory>

#include "ir/kernel.h"

namespace sardonyx::cpu {

// The kernel of ReluGrad, (dY, Y) -> dX, on `count` elements; all three tensors have the same
// layout, whichever it is.
std::unique_ptr<Kernel> relu_gradient(int64_t count, int threads);

}  // namespace sardonyx::cpu
