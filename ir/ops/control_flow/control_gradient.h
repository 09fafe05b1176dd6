// Gradients of the ops that run subgraphs: further such ops, whose subgraphs compute the inner
// values anew and then their gradients.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

// An If whose branches give the gradients of the captures; where the condition is known, what its
// branch's ops emit.
Vals if_grad(Emitter& e, const GradCall& call);
// Runs the loop again, keeping the carried values of each iteration, then one from the last
// iteration to the first. A carried value must be a tensor.
Vals loop_grad(Emitter& e, const GradCall& call);
// The same with Scan.
Vals scan_grad(Emitter& e, const GradCall& call);

}  // namespace sardonyx::ops
