// One function of float32 as a kernel.
#pragma once

#include "ir/kernel.h"
#include "providers/cpu/elementwise/special_functions_kernel.h"

namespace sardonyx::cpu {

// Of input 0, whatever the op; refuses other types than float.
Prepared prepare_function(const KernelRequest& request, Function function, FunctionParams params);

}  // namespace sardonyx::cpu
