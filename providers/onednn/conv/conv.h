// Shared by the convolution and transposed convolution kernels.
#pragma once

#include "ir/kernel.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/conv/fused_ops.h"
#include "providers/onednn/primitive/api.h"

namespace sardonyx::onednn {

// Why no convolution here supports the types and ranks, or null.
const char* why_unsupported_conv(const KernelRequest& request);

// Why windows are too large, or null: oneDNN cannot cancel a convolution, so one that runs for
// seconds is left to kernels that check the deadline. `results` has an element for each window and
// output channel (of a transposed convolution: its input).
const char* why_unsupported_windows(const Shape& weights, const Shape& results);

// The dims of a convolution's weights in oneDNN, where groups are a dim of their own.
Extents grouped_weights(const Shape& weights, int64_t group);

}  // namespace sardonyx::onednn
