// Conv and FusedConv in float32 by our own kernel: any windows of images and lines.
#pragma once

#include "ir/ops/convolution.h"
#include "ir/ops/fused.h"

namespace sardonyx::onednn {

// Refuses also where oneDNN's kernels are as fast.
Prepared prepare_direct_convolution(const KernelRequest& request, const ops::ConvAttrs& attrs,
                                    const ops::FusedActivation& activation);

}  // namespace sardonyx::onednn
