// Gradients of the ops on regions of images, by way of ops that read every element of a region's
// image: their memory grows with regions times the size of the image.
#pragma once

#include "ir/op_def.h"

namespace sardonyx::ops {

Vals roi_align_grad(Emitter& e, const GradCall& call);
Vals max_roi_pool_grad(Emitter& e, const GradCall& call);
Vals crop_and_resize_grad(Emitter& e, const GradCall& call);

}  // namespace sardonyx::ops
