// Ops on float16 and bfloat16 by kernels for float32.
#pragma once

#include "ir/kernel.h"

namespace sardonyx {

// A kernel that takes the small floating inputs as float32, has a provider's kernel compute in
// float32, and rounds its results once: what the reference means by such types, at the speed of a
// fast kernel and two conversions. Only for ops whose meaning does not depend on their types
// otherwise. Refuses where no provider takes the op in float32.
Prepared prepare_as_float32(std::span<const Provider* const> providers,
                            const KernelRequest& request);

}  // namespace sardonyx
