// Activations that are faster as rows of vectors after a primitive than inside of it.
#pragma once

#include "ir/kernel.h"
#include "ir/ops/conv/fused_ops.h"

namespace sardonyx::onednn {

// Is the activation, on what the request's output 0 holds, faster after the primitive? Only where
// the output stays in a near cache in between, and where f(0) = 0: layouts pad with zeros.
bool is_faster_after(const ops::FusedActivation& activation, const KernelRequest& request);

// The kernel of `prepared`, then the activation on its output 0 in place. A refusal stays one.
Prepared with_activation_after(Prepared prepared, const ops::FusedActivation& activation,
                               const KernelRequest& request);

}  // namespace sardonyx::onednn
