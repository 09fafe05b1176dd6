// Weights of 8 bits as arguments of oneDNN's integer primitives.
#pragma once

#include "providers/cpu/quantization/int8_weights.h"
#include "providers/onednn/primitive/primitive_sequence.h"

namespace sardonyx::onednn {

using cpu::CenteredWeights;
using cpu::kNoInt8;

// Input `index` of the builder's request, packed once for all plans: elements in the order `stored`
// are reordered to `wanted`.
SequenceBuilder::Place place_weights(SequenceBuilder& builder, size_t index,
                                     const CenteredWeights& weights, const Desc& stored,
                                     const Desc& wanted);

// Why kernels of VNNI instructions leave work to oneDNN where it multiplies by tiles
// (onednn_uses_amx).
inline constexpr const char* kAmxIsFaster = "oneDNN multiplies bytes by tiles";

}  // namespace sardonyx::onednn
