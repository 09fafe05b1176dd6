// Conv and FusedConv of few output channels in float32 by our own kernel, of which vectors are
// filled by pixels.
#pragma once

#include "ir/ops/convolution.h"
#include "ir/ops/fused.h"

namespace sardonyx::onednn {

// Refuses also where other kernels are as fast.
Prepared prepare_plane_convolution(const KernelRequest& request, const ops::ConvAttrs& attrs,
                                   const ops::FusedActivation& activation);

}  // namespace sardonyx::onednn
