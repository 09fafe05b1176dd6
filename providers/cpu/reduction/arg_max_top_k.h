// The kernels of ops that find elements by their order.
#pragma once

#include <span>

#include "ir/kernel.h"

namespace sardonyx::cpu {

std::span<const KernelEntry> order_entries();

}  // namespace sardonyx::cpu
