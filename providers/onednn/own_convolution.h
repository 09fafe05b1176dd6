// Convolutions and matrix products of float32 by our own kernels, where these are faster than
// oneDNN's, and moves between them: their tables, and what they share.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <span>

#include "ir/kernel.h"
#include "ir/ops/fused.h"
#include "providers/cpu/depthwise_rows.h"
#include "providers/cpu/packed_once.h"
#include "providers/cpu/row_activation.h"

namespace sardonyx::onednn {

std::span<const KernelEntry> depthwise_kernels();
std::span<const KernelEntry> pointwise_kernels();
std::span<const KernelEntry> panel_product_kernels();
std::span<const KernelEntry> transposed_convolution_kernels();
std::span<const KernelEntry> layout_movement_kernels();

// What is done to sums before they are results: they are clipped, then a function goes over rows of
// them.
struct Finish {
  float low = -HUGE_VALF, high = HUGE_VALF;
  std::optional<cpu::RowActivation> function;
};
// nullopt where nothing here computes the activation.
std::optional<Finish> finish_of(const ops::FusedActivation& activation);

// Null where the request is one for own kernels as far as types, ranks and constants tell: images
// of float (or, where `takes_lines`, lines), weights that are known ahead, and layouts that are
// free.
const char* refusal_of_own(const KernelRequest& request, bool takes_lines = false);

// Float in full blocks of channels.
bool comes_in_blocks(const KernelTensor& tensor);
// Of floats in blocks of channels, or channels last.
LayoutPtr picture_layout(const Shape& shape, bool in_blocks);

// Planes of pixels side by side, each of `channels` channels that lie together: all of an image,
// one block of them, or a single one where values have no layout.
struct PixelPlanes {
  int64_t planes, channels;
  bool in_blocks;
};
// nullopt for other layouts.
std::optional<PixelPlanes> pixel_planes(const KernelTensor& tensor);

// Where the elements of such a picture lie, whose last three dims these are.
cpu::ImageSteps image_steps(bool in_blocks, int64_t channels, int64_t rows, int64_t columns);

// Applies `function` to outputs [first, last) of pixels that lie one behind the other, the first
// channel of the first of them at `values`. In blocks they begin and end with whole ones.
void apply_to_pixels(const cpu::RowActivation& function, float* values, int64_t pixels,
                     const cpu::ImageSteps& steps, bool in_blocks, int64_t first, int64_t last);

int64_t rounded_up(int64_t count, int64_t unit);

// A line as an image of height 1.
Shape image_shape(const Shape& shape);

using cpu::packed_floats_once;

// Input 2, or zeros: each group's part padded with zeros to whole units.
std::shared_ptr<const Buffer> packed_bias_in_groups(const KernelRequest& request, int64_t groups,
                                                    int64_t unit);

}  // namespace sardonyx::onednn
