// Portable SIMD kernels (Highway, chosen for the CPU at run time) for everything that is hot and
// not oneDNN's.
#pragma once

#include <string>

#include "ir/kernel.h"

namespace sardonyx {

const Provider& cpu_provider();
// The sets of instructions that its kernels choose among on this CPU; the length of vectors decides
// how they pack weights.
std::string cpu_instructions();

}  // namespace sardonyx
