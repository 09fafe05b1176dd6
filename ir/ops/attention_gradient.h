// Attention and RotaryEmbedding in other ops, which is how they are differentiated.
#pragma once

#include "ir/op.h"

namespace sardonyx::ops {

// What Attention gives for a call, all outputs that it asks for.
Vals attention_in_ops(Emitter& e, const BodyCall& call);
Vals rotary_in_ops(Emitter& e, const BodyCall& call);

Vals attention_grad(Emitter& e, const GradCall& call);
Vals rotary_grad(Emitter& e, const GradCall& call);

}  // namespace sardonyx::ops
