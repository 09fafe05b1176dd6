// The kernels of ops that find elements by their order.
#pragma once

#include <span>

#include "ir/kernel.h"

namespace sardonyx::cpu {

std::span<const KernelEntry> arg_max_top_k_kernels();

}  // namespace sardonyx::cpu
