// Activations that are faster as rows of vectors after a primitive than inside of it.
#pragma once

#include "ir/kernel.h"
#include "ir/ops/conv/fused_ops.h"

namespace sardonyx::onednn {

// Whether the activation on output 0 is faster as a pass after the primitive than as its post-op.
// Only where the output stays in a near cache in between, and where f(0) = 0, since layouts pad
// with zeros.
bool is_faster_after(const ops::FusedActivation& activation, const KernelRequest& request);

// The kernel of `prepared`, then the activation on its output 0 in place. A refusal stays one.
Prepared with_activation_after(Prepared prepared, const ops::FusedActivation& activation,
                               const KernelRequest& request);

}  // namespace sardonyx::onednn
