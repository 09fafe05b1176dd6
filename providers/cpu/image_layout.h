// Shared by the convolution, GEMM and pooling kernels that read float32 images in a layout.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "ir/core/rounding.h"
#include "ir/kernel.h"
#include "providers/cpu/conv/dwconv_f32.h"
#include "providers/cpu/epilogue.h"
#include "providers/cpu/packed_weights.h"

namespace sardonyx::cpu {

// Why our own kernels do not support the request, or null. They take float images (with
// `takes_lines` also tensors of one spatial dim), constant weights, and layouts that the planner
// leaves open.
const char* why_unsupported_image(const KernelRequest& request, bool takes_lines = false);

// True for float NCHW16c without a partly filled block of channels.
bool is_nchw16c(const KernelTensor& tensor);
// NCHW16c with `in_blocks`, else NHWC.
LayoutPtr float_image_layout(const Shape& shape, bool in_blocks);

// A layout as planes of pixels with `channels` adjacent channels each: all of them in NHWC, one
// block of them in NCHW16c, a single one in row-major order.
struct PixelPlanes {
  int64_t planes, channels;
  bool in_blocks;
};
// nullopt for other layouts.
std::optional<PixelPlanes> pixel_planes(const KernelTensor& tensor);

// The strides of an image whose last three dims these are.
ImageSteps image_steps(bool in_blocks, int64_t channels, int64_t rows, int64_t columns);

// Applies `function` to channels [first, last) of consecutive pixels; `values` points to the first
// channel of the first pixel. In NCHW16c `first` and `last` are multiples of the block.
void apply_to_pixels(const RowActivation& function, float* values, int64_t pixels,
                     const ImageSteps& steps, bool in_blocks, int64_t first, int64_t last);

// The shape with a height of 1 where it has one spatial dim only.
Shape image_shape(const Shape& shape);

// The bias of input 2, or zeros; each group's part is padded with zeros to whole units.
std::shared_ptr<const Buffer> packed_bias_in_groups(const KernelRequest& request, int64_t groups,
                                                    int64_t unit);

}  // namespace sardonyx::cpu
