// Resize of float32 images, nearest and linear, and of bytes, nearest alone: by our own kernel
// where whole pixels are copied, else by oneDNN if it reads the elements and weights that ONNX
// defines, which prepare() compares axis by axis.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "ir/ops/resampling/resize_axis.h"
#include "providers/cpu/data_movement/strided_copy.h"
#include "providers/cpu/lookup_table_limits.h"
#include "providers/cpu/resampling/resize_nearest.h"
#include "providers/onednn/kernel_list.h"
#include "providers/onednn/primitive/int8_weights.h"
#include "providers/onednn/primitive/partition_axes.h"
#include "providers/onednn/primitive/primitive_sequence.h"

namespace sardonyx::onednn {
namespace {

// oneDNN's coordinate of output `index`.
float coordinate(const ops::ResizeAxis& axis, int64_t index) {
  return (static_cast<float>(index) + 0.5f) * static_cast<float>(axis.in) /
             static_cast<float>(axis.out) -
         0.5f;
}

bool is_same_nearest(const ops::ResizeAttrs& attrs, const ops::ResizeAxis& axis) {
  const std::pmr::vector<int64_t> elements = ops::nearest_elements(attrs, axis);
  for (int64_t index = 0; index < axis.out; ++index) {
    const auto nearest = static_cast<int64_t>(std::round(coordinate(axis, index)));
    if (elements[static_cast<size_t>(index)] != nearest) return false;
  }
  return true;
}

bool is_same_linear(const ops::ResizeAttrs& attrs, const ops::ResizeAxis& axis) {
  constexpr double kTolerance = 1e-6;  // the precision of float coordinates
  const ops::ResizeBlend blend = ops::blended_elements(attrs, axis);
  for (int64_t index = 0; index < axis.out; ++index) {
    const double at =
        std::clamp<double>(coordinate(axis, index), 0, static_cast<double>(axis.in - 1));
    double sum = 0;
    for (const auto& part : blend.of(index)) {
      const double expected = std::max(0.0, 1 - std::abs(at - static_cast<double>(part.element)));
      // An element at the border may be named twice, once with each of its weights.
      if (part.weight > expected + kTolerance * static_cast<double>(axis.in)) return false;
      sum += part.weight * static_cast<double>(part.element);
    }
    if (std::abs(sum - at) > kTolerance * static_cast<double>(axis.in)) return false;
  }
  return true;
}

std::vector<double> doubles_of(const KernelRequest& request, size_t input) {
  if (!request.has(input)) return {};
  return request.inputs[input].constant->to_doubles();
}

std::pmr::vector<ops::ResizeAxis> axes_of(const KernelRequest& request,
                                          const ops::ResizeAttrs& attrs) {
  const std::vector<double> scales = doubles_of(request, ops::ResizeInput::kScales);
  const std::vector<float> float_scales(scales.begin(), scales.end());
  std::vector<int64_t> sizes;
  if (request.has(ops::ResizeInput::kSizes))
    sizes = request.inputs[ops::ResizeInput::kSizes].constant->to_int64s();
  return ops::resize_axes(attrs, request.inputs[ops::ResizeInput::kX].shape,
                          request.outputs[0].shape, doubles_of(request, ops::ResizeInput::kRoi),
                          float_scales, sizes);
}

// An image of one pixel is repeated, whatever the mode; nullopt for others, and where either side
// has blocks.
std::optional<Prepared> as_repetition(const KernelRequest& request, const Desc& src,
                                      const Desc& dst) {
  const auto from = plain_strides(src), to = plain_strides(dst);
  const Shape& x = request.inputs[ops::ResizeInput::kX].shape;
  if (!from || !to || std::any_of(x.begin() + 2, x.end(), [](int64_t size) { return size != 1; }))
    return std::nullopt;
  std::vector<size_t> order(to->size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](size_t dim) { return (*to)[dim]; });
  StridedBlock block;
  for (const size_t dim : order) {
    block.sizes.push_back(request.outputs[0].shape[dim]);
    block.from_strides.push_back(dim < 2 ? (*from)[dim] : 0);
    block.to_strides.push_back((*to)[dim]);
  }
  std::vector<cpu::Move> moves;
  moves.push_back({0, 0, BlockCopy(request.inputs[ops::ResizeInput::kX].dtype, std::move(block))});
  Prepared prepared = Prepared::accept(
      std::make_unique<cpu::MovementKernel>(std::move(moves), request.threads), "strided");
  prepared.unread_inputs = ~1u;
  prepared.input_layouts.resize(request.inputs.size());
  prepared.input_layouts[ops::ResizeInput::kX] = layout_of(src);
  prepared.output_layouts = {layout_of(dst)};
  return prepared;
}

Prepared prepare_resize(const KernelRequest& request) {
  const auto& attrs = request.attrs<ops::ResizeAttrs>();
  const bool picks_bytes =
      is_byte(request.inputs[ops::ResizeInput::kX].dtype) && attrs.mode == "nearest";
  if (request.inputs[ops::ResizeInput::kX].dtype != DType::kFloat && !picks_bytes)
    return Prepared::refuse("only float is computed here");
  const Shape& x = request.inputs[ops::ResizeInput::kX].shape;
  if (x.size() < 3 || x.size() > 5) return Prepared::refuse("only 1 to 3 spatial axes");
  for (const size_t input :
       {ops::ResizeInput::kRoi, ops::ResizeInput::kScales, ops::ResizeInput::kSizes}) {
    if (request.has(input) && !request.inputs[input].constant) {
      return Prepared::refuse("the sizes are no constants");
    }
  }
  const bool is_nearest = attrs.mode == "nearest";
  if ((!is_nearest && attrs.mode != "linear") || attrs.antialias) {
    return Prepared::refuse("only nearest and linear without antialias");
  }
  const std::pmr::vector<ops::ResizeAxis> axes = axes_of(request, attrs);
  if (is_nearest) {
    Prepared prepared =
        noted(request, cpu::kResizeNearest[0], cpu::prepare_resize_nearest(request, attrs, axes));
    if (prepared.kernel) return prepared;
  }
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    if (const char* why = cpu::why_unsupported_tables({axes[axis].out}))
      return Prepared::refuse(why);
    const bool is_same = axis < 2     ? axes[axis].is_identity()
                         : is_nearest ? is_same_nearest(attrs, axes[axis])
                                      : is_same_linear(attrs, axes[axis]);
    if (!is_same) return Prepared::refuse("oneDNN takes other elements");
  }
  const Desc src = desc_of(request.inputs[ops::ResizeInput::kX]);
  const auto dst = same_format(src, request.outputs[0].shape);
  if (!dst) return Prepared::refuse("an unusual layout");
  if (request.layouts || (is_row_major(src) && is_row_major(*dst))) {
    if (auto repeated = as_repetition(request, src, *dst)) return std::move(*repeated);
  }
  if (!is_nearest && is_row_major(src))
    return Prepared::refuse("row-major images are blended line by line several times as fast");
  const auto make = [is_nearest](const ArgumentDescs& own) {
    return resampling(is_nearest ? algorithm::resampling_nearest : algorithm::resampling_linear,
                      own.at(DNNL_ARG_SRC), own.at(DNNL_ARG_DST), attributes());
  };
  const MaybePrimitive primitive = make({{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, *dst}});
  if (!primitive || primitive->is_reference()) return Prepared::refuse("no fast form in oneDNN");
  SequenceBuilder builder(request);
  // Resampling is cut by images and channels only, since the source rows of an output row depend on
  // the whole size.
  Work work = work_of_elements({{DNNL_ARG_SRC, src}, {DNNL_ARG_DST, *dst}}, *dst, make);
  std::erase_if(work.axes, [](const CutAxis& axis) { return axis.along[0].dim >= 2; });
  builder.step(*primitive,
               {{DNNL_ARG_SRC, builder.input(ops::ResizeInput::kX, src)},
                {DNNL_ARG_DST, builder.output(0, *dst)}},
               work);
  return builder.finish();
}

constexpr KernelEntry kResizeKernels[] = {
    {"Resize", "resampling", guarded<prepare_resize, 1>, cpu::kResizeNearest}};

}  // namespace

std::span<const KernelEntry> resampling_kernels() {
  return kResizeKernels;
}

}  // namespace sardonyx::onednn
