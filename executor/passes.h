// Passes that prepare a graph for the providers: fusions and folds that keep the numbers.
#pragma once

#include <span>

#include "ir/pass.h"

namespace sardonyx {

// In the order in which they run, after generic_passes().
std::span<const Pass> fusion_passes();

}  // namespace sardonyx
