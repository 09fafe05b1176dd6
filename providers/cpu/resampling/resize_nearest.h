// Resize that takes the nearest element, over float values, plain or with the channels of
// a pixel together.
#pragma once

#include <span>

#include "ir/kernel.h"
#include "ir/ops/resampling/resize_axis.h"

namespace sardonyx::cpu {

Prepared prepare_resize_nearest(const KernelRequest& request, const ops::ResizeAttrs& attrs,
                                std::span<const ops::ResizeAxis> axes);

}  // namespace sardonyx::cpu
