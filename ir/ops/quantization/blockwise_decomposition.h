// Ops on weights in few bits, written in ops that spread these out: as they are differentiated, by
// everything but the weights' integers.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

// The last dim of `bytes` (uint8) as the numbers of `bits` bits in them, the first in the lowest
// bits: 8 / bits times as many elements of type `dtype`. Throws kUnsupported where the rank of
// `bytes` is not known.
Val unpacked(Emitter& e, const Val& bytes, int64_t bits, DType dtype);

Vals matmul_nbits_grad(Emitter& e, const GradCall& call);
Vals gather_block_grad(Emitter& e, const GradCall& call);

}  // namespace sardonyx::ops
