// Groups of elementwise ops over row-major values.
#pragma once

#include "ir/kernel.h"

namespace sardonyx::cpu {

// sardonyx::ElementwiseGroup; layouts of the request are not looked at.
Prepared prepare_elementwise_group(const KernelRequest& request);

}  // namespace sardonyx::cpu
