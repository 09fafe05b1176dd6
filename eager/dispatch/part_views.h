// Results that are parts of their input as it is in memory.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/attributes.h"
#include "ir/kernel.h"

namespace sardonyx::eager {

// Where each output of a Split or Slice begins within the first input, in bytes, if all of them are
// there in one piece: they need not be copied. nullopt for other calls.
std::optional<std::vector<size_t>> offsets_of_parts(const OpDef& op, const Attrs& attrs,
                                                    std::span<const KernelTensor> inputs,
                                                    std::span<const KernelTensor> outputs);

}  // namespace sardonyx::eager
