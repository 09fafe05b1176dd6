// The providers that are built in.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/kernel.h"

namespace sardonyx {

std::span<const Provider* const> all_providers();
// In the order of `names`; "reference" stands for the reference kernels, which are always asked
// last, and adds none. Throws kInvalidArgument for a name that there is not, and kUnsupported for
// "onednn" where its library is not installed.
std::vector<const Provider*> providers_named(const std::vector<std::string>& names);
// What the form of packed weights depends on besides the names that kernels give it: the version of
// the code and the instructions of the CPU.
std::string packing_version();
// Has this CPU instructions for bfloat16, so that Precision::kBFloat16 can be asked for?
bool computes_bfloat16();
// And does it multiply them by tiles (AMX), at many times the rate of float32 instead of twice?
bool computes_bfloat16_by_tiles();

}  // namespace sardonyx
