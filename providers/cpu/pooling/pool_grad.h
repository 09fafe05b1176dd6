// Gradients of MaxPool and AveragePool by their input, on float32 with up to three spatial axes.
#pragma once

#include "ir/kernel.h"

namespace sardonyx::cpu {

// Of MaxPoolGrad and AveragePoolGrad, with elements that are as [images, spatial..., lanes]: 1 lane
// where they are row-major, else the number of channels that are neighbours, which divides that of
// all channels.
Prepared max_pool_gradient(const KernelRequest& request, int64_t lanes);
Prepared average_pool_gradient(const KernelRequest& request, int64_t lanes);

}  // namespace sardonyx::cpu
