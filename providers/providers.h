// The providers that are built in.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/kernel.h"

namespace sardonyx {

std::span<const Provider* const> all_providers();
// The providers called `names`, in that order. "reference" stands for the reference kernels, which
// are always asked last, and adds no provider. Throws kInvalidArgument for a name that there is
// not, and kUnsupported for "onednn" where its library is not installed.
std::vector<const Provider*> providers_named(const std::vector<std::string>& names);
// The part of a prepack key that is common to all kernels: the version of the code and the
// instruction sets of the CPU.
std::string packing_version();
// Whether this CPU has instructions for bfloat16, so that Precision::kBFloat16 is supported.
bool computes_bfloat16();
// Whether it multiplies bfloat16 with AMX tiles, at many times the rate of float32 instead of
// twice.
bool computes_bfloat16_by_tiles();

}  // namespace sardonyx
