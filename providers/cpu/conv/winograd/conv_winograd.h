// FusedConv of 3x3 windows in float32 by Winograd's algorithm, our own kernel.
#pragma once

#include "ir/kernel.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/conv/fused_ops.h"

namespace sardonyx::cpu {

// Prepares the Winograd kernel. Refuses also where direct convolution is as fast.
Prepared prepare_conv_winograd(const KernelRequest& request, const ops::ConvAttrs& attrs,
                               const ops::FusedActivation& activation);

}  // namespace sardonyx::cpu
