// The gradient of Resize by its image.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

// Refuses gradients by roi and scales (kUnsupported), and keep_aspect_ratio_policy where the
// shapes are not known.
Vals resize_grad(Emitter& e, const GradCall& call);

}  // namespace sardonyx::ops
