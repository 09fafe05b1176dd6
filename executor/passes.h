// Passes that prepare a graph for the providers: fusions and folds that keep the numbers.
#pragma once

#include <span>

#include "ir/pass.h"

namespace sardonyx {

// QuantizeLinear and DequantizeLinear around ops into integer ops. They run in one stage with the
// generic passes but for fold-dequantized, which would make floats of the weights.
std::span<const Pass> quantization_passes();

// The fusion passes in the order in which they run, after generic_passes().
std::span<const Pass> fusion_passes();

// Passes that choose between implementations of an op, after all fusions.
std::span<const Pass> lowering_passes();

// Passes that choose the products to compute in bfloat16; they run after all others.
std::span<const Pass> narrowing_passes();

}  // namespace sardonyx
