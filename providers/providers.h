// The providers that are built in.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/kernel.h"

namespace sardonyx {

std::span<const Provider* const> all_providers();
// In the order of `names`; "reference" stands for the reference kernels, which are always asked
// last, and adds none. Throws kInvalidArgument for a name that there is not.
std::vector<const Provider*> providers_named(const std::vector<std::string>& names);

}  // namespace sardonyx
