// Gradients of the ops on images that are no convolutions: by resampling the other way, or through
// other ops.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

// GridSample in other ops: each point gathers its neighbours.
Vals grid_sample_decomposition(Emitter& e, const BodyCall& call);

Vals grid_sample_grad(Emitter& e, const GradCall& call);
Vals affine_grid_grad(Emitter& e, const GradCall& call);
Vals col2im_grad(Emitter& e, const GradCall& call);

}  // namespace sardonyx::ops
