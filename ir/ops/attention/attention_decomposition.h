// Attention and RotaryEmbedding in other ops, which is how they are differentiated.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

// Attention written in other ops, with all outputs that the call asks for.
Vals attention_decomposition(Emitter& e, const BodyCall& call);
Vals rotary_decomposition(Emitter& e, const BodyCall& call);

// x [batch, heads, length, size] with the first `rotary_size` (a list of one, even) elements of
// each head rotated by the angles of [batch, 1, length, rotary_size / 2] cosines and sines: in
// pairs of neighbours where `interleaved`, else of the first and second half.
Val rotary_heads(Emitter& e, const Val& x, const Val& cosines, const Val& sines,
                 const Val& rotary_size, bool interleaved);

Vals attention_grad(Emitter& e, const GradCall& call);
Vals rotary_grad(Emitter& e, const GradCall& call);

}  // namespace sardonyx::ops
