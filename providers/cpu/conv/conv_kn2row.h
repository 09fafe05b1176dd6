// Conv and FusedConv in float32 for windows that reach far: one product of matrices for each tap.
#pragma once

#include "ir/kernel.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/conv/fused_ops.h"

namespace sardonyx::cpu {

// Prepares the kernel that adds the products of one tap after the other (kn2row; Anderson et al.,
// "Low-memory GEMM-based convolution algorithms for deep neural networks", 2017). It reads the
// image in place and skips what a tap reads of the padding, so it serves dilated windows, whose
// padded tiles would be many times the image. Refuses all others.
Prepared prepare_conv_kn2row(const KernelRequest& request, const ops::ConvAttrs& attrs,
                             const ops::FusedActivation& activation);

}  // namespace sardonyx::cpu
