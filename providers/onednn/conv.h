// What the kernels of convolution and transposed convolution share.
#pragma once

#include "ir/kernel.h"
#include "ir/ops/conv/conv.h"
#include "ir/ops/conv/fused_ops.h"
#include "providers/onednn/primitive/api.h"

namespace sardonyx::onednn {

// Types and ranks that no convolution here takes; nullptr where there is none.
const char* refusal_of_convolution(const KernelRequest& request);

// No convolution of oneDNN is interrupted: why one that computes with windows of thousands of
// elements, for seconds, is left to what looks at the deadline; else nullptr. `results` has an
// element for each window and output channel (of a transposed convolution: its input).
const char* refusal_of_windows(const Shape& weights, const Shape& results);

// The dims of a convolution's weights in oneDNN, where groups are a dim of their own.
Extents grouped_weights(const Shape& weights, int64_t group);

}  // namespace sardonyx::onednn
