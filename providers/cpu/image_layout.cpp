#include "providers/cpu/image_layout.h"

#include <algorithm>

namespace sardonyx::cpu {

const char* why_unsupported_image(const KernelRequest& request, bool takes_lines) {
  const KernelTensor &x = request.inputs[0], &w = request.inputs[1];
  const size_t rank = x.shape.size();
  if (!request.layouts) return "layouts are not free";
  if (x.dtype != DType::kFloat || !(rank == 4 || (takes_lines && rank == 3)))
    return "only images of float are computed here";
  if (!w.constant || (request.has(2) && !request.inputs[2].constant))
    return "the weights are not known ahead";
  return nullptr;
}

bool is_nchw16c(const KernelTensor& tensor) {
  return tensor.dtype == DType::kFloat && tensor.layout &&
         tensor.layout->kind() == Layout::Kind::kNCHW16c && tensor.shape[1] % kChannelBlock == 0;
}

LayoutPtr float_image_layout(const Shape& shape, bool in_blocks) {
  return image_layout(in_blocks ? Layout::Kind::kNCHW16c : Layout::Kind::kNHWC, DType::kFloat,
                      shape);
}

std::optional<PixelPlanes> pixel_planes(const KernelTensor& tensor) {
  const bool in_blocks = is_nchw16c(tensor);
  if (tensor.layout && !in_blocks &&
      !same_layout(tensor.layout, float_image_layout(tensor.shape, false)))
    return std::nullopt;
  const int64_t all = tensor.shape[1];
  const int64_t channels = in_blocks ? kChannelBlock : tensor.layout ? all : 1;
  return PixelPlanes{tensor.shape[0] * (all / channels), channels, in_blocks};
}

ImageSteps image_steps(bool in_blocks, int64_t channels, int64_t rows, int64_t columns) {
  if (!in_blocks) return {columns * channels, channels, kChannelBlock};
  return {columns * kChannelBlock, kChannelBlock, rows * columns * kChannelBlock};
}

void apply_to_pixels(const RowActivation& function, float* values, int64_t pixels,
                     const ImageSteps& steps, bool in_blocks, int64_t first, int64_t last) {
  const auto over = [&](float* from, int64_t count) {
    unary_row(function.op, function.params, from, from, static_cast<size_t>(count));
  };
  if (in_blocks) {
    for (int64_t channel = first; channel < last; channel += kChannelBlock)
      over(values + channel / kChannelBlock * steps.block, pixels * steps.column);
  } else if (last - first == steps.column) {
    over(values, pixels * steps.column);
  } else {
    for (int64_t pixel = 0; pixel < pixels; ++pixel)
      over(values + pixel * steps.column + first, last - first);
  }
}

Shape image_shape(const Shape& shape) {
  if (shape.size() == 4) return shape;
  return {shape[0], shape[1], 1, shape[2]};
}

std::shared_ptr<const Buffer> packed_bias_in_groups(const KernelRequest& request, int64_t groups,
                                                    int64_t unit) {
  const int64_t outputs = request.outputs[0].shape[1] / groups;
  const int64_t padded = rounded_up(outputs, unit);
  const std::string name = text("bias in ", groups, " by ", unit);
  return packed_floats_once(request, 2, name, groups * padded, [&](float* to) {
    std::fill_n(to, groups * padded, 0.0f);
    if (!request.has(2)) return;
    const float* from = request.inputs[2].constant->values<float>().data();
    for (int64_t group = 0; group < groups; ++group)
      std::copy_n(from + group * outputs, outputs, to + group * padded);
  });
}

}  // namespace sardonyx::cpu
