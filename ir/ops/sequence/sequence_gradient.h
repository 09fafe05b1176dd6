// Gradients through sequences and optionals. That of a sequence is a sequence of its items'
// gradients; that of an optional is its element's.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

// Do values of this type have gradients: floats, in a sequence or an optional perhaps?
bool carries_gradients(const Type& type);
// Zeros in the shape of x, a tensor or a sequence.
Val zeros_like(Emitter& e, const Val& x);
// The sum of two gradients of one value, item by item if it is a sequence.
Val added_gradients(Emitter& e, const Val& a, const Val& b);

Vals sequence_at_grad(Emitter& e, const GradCall& call);
Vals sequence_construct_grad(Emitter& e, const GradCall& call);
Vals sequence_erase_grad(Emitter& e, const GradCall& call);
Vals sequence_insert_grad(Emitter& e, const GradCall& call);
Vals concat_from_sequence_grad(Emitter& e, const GradCall& call);
Vals split_to_sequence_grad(Emitter& e, const GradCall& call);
Vals sequence_map_grad(Emitter& e, const GradCall& call);
// Optional and OptionalGetElement.
Vals optional_grad(Emitter& e, const GradCall& call);

}  // namespace sardonyx::ops
