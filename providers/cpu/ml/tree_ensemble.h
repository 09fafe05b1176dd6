// The kernels of tree ensembles.
#pragma once

#include <span>

#include "ir/kernel.h"

namespace sardonyx::cpu {

std::span<const KernelEntry> tree_ensemble_kernels();

}  // namespace sardonyx::cpu
