// Conv and FusedConv of few output channels in float32 by our own kernel, of which vectors are
// filled by pixels.
#pragma once

#include "ir/kernel.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/conv/fused_ops.h"

namespace sardonyx::cpu {

// Prepares the NCHW kernel for few output channels. Refuses also where other kernels are as fast.
Prepared prepare_conv_nchw(const KernelRequest& request, const ops::ConvAttrs& attrs,
                           const ops::FusedActivation& activation);

}  // namespace sardonyx::cpu
