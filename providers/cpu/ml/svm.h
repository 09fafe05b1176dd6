// The kernels of support vector machines.
#pragma once

#include <span>

#include "ir/kernel.h"

namespace sardonyx::cpu {

std::span<const KernelEntry> support_vector_entries();

}  // namespace sardonyx::cpu
