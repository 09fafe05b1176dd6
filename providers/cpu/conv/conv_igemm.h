// Conv and FusedConv in float32 by our own kernel: any windows of images and lines.
#pragma once

#include "ir/kernel.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/conv/fused_ops.h"

namespace sardonyx::cpu {

// Prepares the implicit GEMM kernel. Refuses also where oneDNN's kernels are as fast.
Prepared prepare_conv_igemm(const KernelRequest& request, const ops::ConvAttrs& attrs,
                            const ops::FusedActivation& activation);

}  // namespace sardonyx::cpu
