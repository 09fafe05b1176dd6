// Resize with mode "nearest" on float32 images in row-major order, NHWC or
// NCHW16c.
#pragma once

#include <span>

#include "ir/kernel.h"
#include "ir/ops/resampling/resize_axis.h"

namespace sardonyx::cpu {

inline constexpr InnerKernel kResizeNearest[] = {
    {"resize_nearest", "providers/cpu/resampling/resize_nearest.cpp"}};
Prepared prepare_resize_nearest(const KernelRequest& request, const ops::ResizeAttrs& attrs,
                                std::span<const ops::ResizeAxis> axes);

}  // namespace sardonyx::cpu
