// The kernels of support vector machines.
#pragma once

#include <span>

#include "ir/kernel.h"

namespace sardonyx::cpu {

std::span<const KernelEntry> svm_kernels();

}  // namespace sardonyx::cpu
