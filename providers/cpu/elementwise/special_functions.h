// One function of float32 as a kernel.
#pragma once

#include "ir/kernel.h"
#include "providers/cpu/elementwise/special_functions_kernel.h"

namespace sardonyx::cpu {

// Prepares a kernel that applies `function` to input 0, whatever the op. Refuses other types than
// float.
Prepared prepare_function(const KernelRequest& request, Function function, FunctionParams params);

}  // namespace sardonyx::cpu
