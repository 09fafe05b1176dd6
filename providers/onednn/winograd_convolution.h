// FusedConv of 3x3 windows in float32 by Winograd's algorithm, our own kernel.
#pragma once

#include "ir/ops/convolution.h"
#include "ir/ops/fused.h"

namespace sardonyx::onednn {

// Refuses also where direct sums are as fast.
Prepared prepare_winograd_convolution(const KernelRequest& request, const ops::ConvAttrs& attrs,
                                      const ops::FusedActivation& activation);

}  // namespace sardonyx::onednn
