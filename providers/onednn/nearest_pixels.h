// Resize that takes the nearest element, over float values, plain or with the channels of
// a pixel together.
#pragma once

#include <span>

#include "ir/kernel.h"
#include "ir/ops/resize_axis.h"

namespace sardonyx::onednn {

Prepared prepare_nearest_pixels(const KernelRequest& request, const ops::ResizeAttrs& attrs,
                                std::span<const ops::ResizeAxis> axes);

}  // namespace sardonyx::onednn
