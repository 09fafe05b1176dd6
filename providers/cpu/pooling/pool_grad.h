// Gradients of MaxPool and AveragePool by their input, on float32 with up to three spatial axes.
#pragma once

#include "ir/kernel.h"

namespace sardonyx::cpu {

// Kernels of MaxPoolGrad and AveragePoolGrad for elements in the order [images, spatial..., lanes]:
// `lanes` is 1 for NCHW, else the number of channels in a block, which divides that of all
// channels.
Prepared max_pool_gradient(const KernelRequest& request, int64_t lanes);
Prepared average_pool_gradient(const KernelRequest& request, int64_t lanes);

}  // namespace sardonyx::cpu
