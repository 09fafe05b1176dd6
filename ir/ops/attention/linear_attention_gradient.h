// LinearAttention in other ops, which is how it is differentiated.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

// The output and the final state of a call, by a Scan over the positions.
Vals linear_attention_decomposition(Emitter& e, const BodyCall& call);

Vals linear_attention_grad(Emitter& e, const GradCall& call);

}  // namespace sardonyx::ops
