#include "ir/ops/resampling/resize_gradient.h"

#include <algorithm>

#include "ir/autodiff/autodiff.h"
#include "ir/core/dtype_convert.h"
#include "ir/ops/inference/shape_arithmetic.h"
#include "ir/ops/resampling/resize_axis.h"

namespace sardonyx::ops {

namespace {

using Ints = std::vector<int64_t>;

// An empty tensor stands for an input that was not given, as in files of opset 11.
bool is_given(const Emitter& e, const GradCall& call, size_t input) {
  if (!call.has(input)) return false;
  const Type type = e.type(call.inputs[input]);
  return !(type.shape && type.rank() == 1 && (*type.shape)[0] == 0);
}

bool reads_roi(const ResizeAttrs& attrs) {
  return attrs.coordinate_transformation_mode == "tf_crop_and_resize";
}

Ints resized_axes(const ResizeAttrs& attrs, size_t rank) {
  Ints axes = attrs.axes ? *attrs.axes : axes_between(0, rank);
  for (int64_t& axis : axes)
    axis = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
  return axes;
}

// Everything that resize_axes() asks for, where all of it is known.
std::optional<std::pmr::vector<ResizeAxis>> known_axes(const Emitter& e, const GradCall& call) {
  const auto& attrs = call.attrs<ResizeAttrs>();
  const auto in = e.type(call.inputs[0]).known_shape();
  const auto out = e.type(call.d_outputs[0]).known_shape();
  if (!in || !out) return std::nullopt;
  std::optional<Tensor> roi, scales, sizes;
  if (reads_roi(attrs) && !(roi = e.constant_value(call.inputs[ResizeInput::kRoi])))
    return std::nullopt;
  const bool has_scales = is_given(e, call, ResizeInput::kScales);
  if (has_scales && !(scales = e.constant_value(call.inputs[ResizeInput::kScales])))
    return std::nullopt;
  if (!has_scales && !(sizes = e.constant_value(call.inputs[ResizeInput::kSizes])))
    return std::nullopt;
  const std::vector<double> borders = roi ? roi->to_doubles() : std::vector<double>();
  return resize_axes(attrs, *in, *out, borders,
                     scales ? scales->values<float>() : std::span<const float>(),
                     sizes ? sizes->values<int64_t>() : std::span<const int64_t>());
}

// The interpolation matrix: element [i, o] is the weight of input i in output o.
Val known_weights(Emitter& e, const ResizeAttrs& attrs, const ResizeAxis& axis, DType dtype) {
  std::vector<double> weights(static_cast<size_t>(axis.in * axis.out), 0);
  const auto at = [&](int64_t in, int64_t out) -> double& {
    return weights[static_cast<size_t>(in * axis.out + out)];
  };
  if (attrs.mode == "nearest") {
    const std::pmr::vector<int64_t> elements = nearest_elements(attrs, axis);
    for (int64_t out = 0; out < axis.out; ++out) {
      const int64_t in = elements[static_cast<size_t>(out)];
      if (in >= 0) at(in, out) = 1;
    }
  } else {
    const ResizeBlend blend = blended_elements(attrs, axis);
    for (int64_t out = 0; out < axis.out; ++out) {
      for (const ResizeBlend::WeightedElement& part : blend.of(out))
        at(part.element, out) += part.weight;
    }
  }
  Tensor matrix = Tensor::allocate(dtype, {axis.in, axis.out});
  store_numbers(dtype, matrix.raw(), 0, matrix.count(), weights.data());
  return e.constant(std::move(matrix));
}

// The matrix of the resized axis number `index`, by resizing its unit vectors.
Val weights_at_run(Emitter& e, const GradCall& call, size_t index, int64_t axis, size_t count) {
  ResizeAttrs attrs = call.attrs<ResizeAttrs>();
  if (is_given(e, call, ResizeInput::kSizes) && attrs.keep_aspect_ratio_policy != "stretch") {
    fail(ErrorCode::kUnsupported, "keep_aspect_ratio_policy ", attrs.keep_aspect_ratio_policy,
         " can only be differentiated where all shapes are known");
  }
  attrs.axes = Ints{1};
  attrs.extrapolation_value = 0;
  attrs.keep_aspect_ratio_policy = "stretch";
  const Val size = dims_of(e, call.inputs[0], axis, axis + 1);
  const Val zeros =
      e.call("Expand", {e.scalar_like(call.inputs[0], 0), joined_lists(e, {size, size})});
  const auto own = static_cast<int64_t>(index), last = own + static_cast<int64_t>(count);
  Val roi, scales, sizes;
  if (reads_roi(attrs)) {
    const Val& all = call.inputs[ResizeInput::kRoi];
    roi = e.call("Concat", {part_of(e, all, own, own + 1), part_of(e, all, last, last + 1)},
                 {{"axis", int64_t{0}}});
  }
  if (is_given(e, call, ResizeInput::kScales))
    scales = part_of(e, call.inputs[ResizeInput::kScales], own, own + 1);
  else
    sizes = dims_of(e, call.d_outputs[0], axis, axis + 1);
  return e.emit(call.op, std::vector{e.call("EyeLike", {zeros}), roi, scales, sizes}, Attrs(attrs),
                1)[0];
}

// Replaces axis `axis` of x, of length `out`, by one of length `in`, by weights [in, out].
Val contracted(Emitter& e, const Val& x, const Val& weights, size_t axis, size_t rank) {
  if (axis + 2 == rank) return e.call("MatMul", {weights, x});
  const Val transposed = e.call("Transpose", {weights}, {{"perm", Ints{1, 0}}});
  if (axis + 1 == rank) return e.call("MatMul", {x, transposed});
  Ints order = axes_between(0, rank);
  std::swap(order[axis], order.back());
  const AttrMap exchange{{"perm", order}};
  const Val moved = e.call("MatMul", {e.call("Transpose", {x}, exchange), transposed});
  return e.call("Transpose", {moved}, exchange);
}

}  // namespace

// The result is linear in X, and the product of a linear map along each axis.
Vals resize_grad(Emitter& e, const GradCall& call) {
  if (call.wants(ResizeInput::kRoi) || call.wants(ResizeInput::kScales)) {
    fail(ErrorCode::kUnsupported, "by roi and scales is not computed; detach them");
  }
  const auto& attrs = call.attrs<ResizeAttrs>();
  const DType dtype = e.type(call.inputs[0]).dtype;
  const size_t rank = rank_of(e, call.inputs[0], call.op.name);
  const Ints axes = resized_axes(attrs, rank);
  const auto known = known_axes(e, call);
  Val gradient = call.d_outputs[0];
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    if (known && (*known)[axis].is_identity()) continue;
    const Val weights = known ? known_weights(e, attrs, (*known)[axis], dtype)
                              : weights_at_run(e, call, i, axes[i], axes.size());
    gradient = contracted(e, gradient, weights, axis, rank);
  }
  return {gradient};
}

}  // namespace sardonyx::ops
