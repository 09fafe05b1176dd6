// The gradient of Relu on float32.
#pragma once

#include <memory>

#include "ir/kernel.h"

namespace sardonyx::cpu {

// (dY, Y) -> dX on `count` elements that have one layout in all three, in whatever order.
std::unique_ptr<Kernel> relu_gradient(int64_t count, int threads);

}  // namespace sardonyx::cpu
