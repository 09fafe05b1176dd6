// Portable SIMD kernels (Highway, chosen for the CPU at run time) for everything that is hot and
// not oneDNN's.
#pragma once

#include "ir/kernel.h"

namespace sardonyx {

const Provider& cpu_provider();

}  // namespace sardonyx
