// What kernels of convolution, product and pooling on float32 images in a layout share.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <span>

#include "ir/kernel.h"
#include "ir/ops/conv/fused_ops.h"
#include "providers/cpu/conv/dwconv_f32.h"
#include "providers/cpu/elementwise/fused_activation.h"
#include "providers/cpu/packed_weights.h"

namespace sardonyx::cpu {

// What is done to sums before they are results: they are clipped, then a function goes over rows of
// them.
struct Epilogue {
  float low = -HUGE_VALF, high = HUGE_VALF;
  std::optional<RowActivation> function;
};
// nullopt where nothing here computes the activation.
std::optional<Epilogue> make_epilogue(const ops::FusedActivation& activation);

// Null where the request is one for own kernels as far as types, ranks and constants tell: images
// of float (or, where `takes_lines`, lines), weights that are known ahead, and layouts that are
// free.
const char* refusal_of_own(const KernelRequest& request, bool takes_lines = false);

// Float in full blocks of channels.
bool is_nchw16c(const KernelTensor& tensor);
// Of float images, in blocks of channels or channels last.
LayoutPtr float_image_layout(const Shape& shape, bool in_blocks);

// Planes of pixels side by side, each of `channels` channels that lie together: all of an image,
// one block of them, or a single one where values have no layout.
struct PixelPlanes {
  int64_t planes, channels;
  bool in_blocks;
};
// nullopt for other layouts.
std::optional<PixelPlanes> pixel_planes(const KernelTensor& tensor);

// Where the elements of such an image lie, whose last three dims these are.
ImageSteps image_steps(bool in_blocks, int64_t channels, int64_t rows, int64_t columns);

// Applies `function` to outputs [first, last) of pixels that lie one behind the other, the first
// channel of the first of them at `values`. In blocks they begin and end with whole ones.
void apply_to_pixels(const RowActivation& function, float* values, int64_t pixels,
                     const ImageSteps& steps, bool in_blocks, int64_t first, int64_t last);

int64_t rounded_up(int64_t count, int64_t unit);

// A line as an image of height 1.
Shape image_shape(const Shape& shape);

// Input 2, or zeros: each group's part padded with zeros to whole units.
std::shared_ptr<const Buffer> packed_bias_in_groups(const KernelRequest& request, int64_t groups,
                                                    int64_t unit);

}  // namespace sardonyx::cpu
