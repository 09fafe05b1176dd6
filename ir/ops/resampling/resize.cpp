// Resize: each axis by itself, see resize_axis.h. Blended modes run one pass over each axis that
// changes.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/counted_strings.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/core/strides.h"
#include "ir/core/threading/interruptible_pieces.h"
#include "ir/ops/conv/conv_inference.h"
#include "ir/ops/conv/window_taps.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"
#include "ir/ops/reference/as_doubles.h"
#include "ir/ops/resampling/resize_axis.h"
#include "ir/ops/resampling/resize_gradient.h"

namespace sardonyx::ops {

namespace {

void require_one_of(const InferContext& c, std::string_view name, std::string_view value,
                    std::initializer_list<std::string_view> allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  std::string list;
  for (const std::string_view choice : allowed)
    list += (list.empty() ? "" : ", ") + std::string(choice);
  c.fail(name, ": expected one of ", list, ", got \"", value, '"');
}

void check_attrs(const InferContext& c, const ResizeAttrs& attrs) {
  require_one_of(c, "mode", attrs.mode, {"nearest", "linear", "cubic"});
  require_one_of(c, "nearest_mode", attrs.nearest_mode,
                 {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  require_one_of(c, "keep_aspect_ratio_policy", attrs.keep_aspect_ratio_policy,
                 {"stretch", "not_larger", "not_smaller"});
  require_one_of(c, "coordinate_transformation_mode", attrs.coordinate_transformation_mode,
                 {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                  "asymmetric", "tf_crop_and_resize", "tf_half_pixel_for_nn"});
  const bool is_text = c.dtype(0) == DType::kString;
  if (is_text && attrs.mode != "nearest") {
    c.fail_input(0, "strings can't be blended; expected numbers or mode \"nearest\"");
  }
  if (is_text && attrs.coordinate_transformation_mode == "tf_crop_and_resize") {
    c.fail_input(0, "strings have no extrapolation value; expected numbers");
  }
}

// An empty tensor stands for an input that was not given, as in files of opset 11.
bool is_given(const InferContext& c, size_t input) {
  if (!c.has(input)) return false;
  const Dims* shape = c.shape(input);
  return !shape || !(shape->size() == 1 && (*shape)[0] == 0);
}

void require_values(const InferContext& c, size_t input, size_t count) {
  require_vector(c, input);
  const Dims* shape = c.shape(input);
  if (!shape || !(*shape)[0].is_known()) return;
  if ((*shape)[0].value() != static_cast<int64_t>(count)) {
    c.fail_input(input, "expected ", count, " values, got ", (*shape)[0]);
  }
}

// floor(in * scale) where it can be said exactly.
Dim scaled_dim(InferContext& c, const Dim& in, float scale) {
  if (in.is_known()) return scaled_length(in.value(), scale);
  for (int64_t divisor = 1; divisor <= 256; divisor *= 2) {
    const float multiple = scale * static_cast<float>(divisor);
    if (multiple == std::floor(multiple) && multiple < 0x1p20f) {
      return floor_div(in * Dim(static_cast<int64_t>(multiple)), divisor);
    }
  }
  return c.unknown();
}

void set_scaled(InferContext& c, const std::vector<int64_t>& axes, Dims& out) {
  const Tensor* scales = c.constant(ResizeInput::kScales);
  const std::span<const float> values = scales ? scales->values<float>() : std::span<const float>();
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& dim = out[static_cast<size_t>(axes[i])];
    if (!scales) {
      dim = c.unknown();
      continue;
    }
    if (!(values[i] > 0) || !std::isfinite(values[i])) {
      c.fail_input(ResizeInput::kScales, "expected positive and finite scales, got ", values[i]);
    }
    dim = scaled_dim(c, dim, values[i]);
  }
}

void set_sized(InferContext& c, const std::vector<int64_t>& axes, Dims& out) {
  const auto sizes = sized_dims(c, ResizeInput::kSizes, axes.size());
  Shape known_in, known_sizes;
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& dim = out[static_cast<size_t>(axes[i])];
    const Dim size = sizes ? (*sizes)[i] : c.unknown();
    if (size.is_known() && size.value() < 0) {
      c.fail_input(ResizeInput::kSizes, "expected sizes that are not negative, got ", size);
    }
    if (size.is_known()) known_sizes.push_back(size.value());
    if (dim.is_known()) known_in.push_back(dim.value());
    dim = size;
  }
  const std::string& policy = c.attrs<ResizeAttrs>().keep_aspect_ratio_policy;
  if (policy == "stretch") return;
  const bool is_known = known_in.size() == axes.size() && known_sizes.size() == axes.size();
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& dim = out[static_cast<size_t>(axes[i])];
    dim = is_known ? Dim(rounded_length(known_in[i], common_scale(policy, known_in, known_sizes)))
                   : c.unknown();
  }
}

void infer_resize(InferContext& c) {
  const auto& attrs = c.attrs<ResizeAttrs>();
  check_attrs(c, attrs);
  const bool has_scales = is_given(c, ResizeInput::kScales),
             has_sizes = is_given(c, ResizeInput::kSizes);
  c.require(has_scales || has_sizes, "expected scales or sizes, got neither");
  c.require(!has_scales || !has_sizes, "expected one of scales and sizes, got both");
  const Dims* x = c.shape(0);
  if (!x) return c.set(0, c.dtype(0), std::nullopt);
  std::vector<int64_t> axes(x->size());
  for (size_t i = 0; i < axes.size(); ++i)
    axes[i] = static_cast<int64_t>(i);
  if (attrs.axes) axes = normalized_axes(c, *attrs.axes, x->size());
  require_values(c, has_scales ? ResizeInput::kScales : ResizeInput::kSizes, axes.size());
  if (attrs.coordinate_transformation_mode == "tf_crop_and_resize") {
    c.require(is_given(c, ResizeInput::kRoi), "expected roi, which tf_crop_and_resize reads");
    require_values(c, ResizeInput::kRoi, 2 * axes.size());
  }
  Dims out = *x;
  if (has_scales)
    set_scaled(c, axes, out);
  else
    set_sized(c, axes, out);
  for (size_t i = 0; i < out.size(); ++i) {
    if ((*x)[i] == 0 && out[i].is_known() && out[i].value() > 0) {
      c.fail_input(0, "dim ", i, " is empty and can't be resized to ", out[i]);
    }
  }
  c.set(0, c.dtype(0), std::move(out));
}

std::pmr::vector<ResizeAxis> axes_of(const KernelCall& call) {
  std::pmr::vector<double> roi(scratch());
  if (call.has(ResizeInput::kRoi)) roi = to_reals(call.inputs[ResizeInput::kRoi], 0);
  std::span<const float> scales;
  std::span<const int64_t> sizes;
  if (call.has(ResizeInput::kScales)) {
    const TensorView& view = call.inputs[ResizeInput::kScales];
    scales = {view.data<float>(), static_cast<size_t>(view.count())};
  }
  if (call.has(ResizeInput::kSizes)) {
    const TensorView& view = call.inputs[ResizeInput::kSizes];
    sizes = {view.data<int64_t>(), static_cast<size_t>(view.count())};
  }
  return resize_axes(call.attrs<ResizeAttrs>(), call.inputs[0].shape, call.outputs[0].shape, roi,
                     scales, sizes, scratch());
}

// `maps` holds, for each axis and output index, the offset of the input's element; -1: `fill`.
template <typename T>
void gather(const TensorView& x, const TensorView& y,
            std::span<const std::pmr::vector<int64_t>> maps, const T& fill) {
  const T* in = x.data<T>();
  T* out = y.data<T>();
  if (y.rank() == 0) {
    *out = *in;
    return;
  }
  const std::span<const int64_t> outer = y.shape.first(y.rank() - 1);
  const std::pmr::vector<int64_t>& row = maps.back();
  std::pmr::vector<int64_t> position(outer.size(), 0, scratch());
  int64_t rows = 1;
  for (const int64_t size : outer)
    rows *= size;
  for (int64_t i = 0; i < rows; ++i, next_position(position, outer)) {
    if (i % 64 == 0) check_interrupted();
    int64_t begin = 0;
    bool is_outside = false;
    for (size_t axis = 0; axis < outer.size(); ++axis) {
      const int64_t offset = maps[axis][static_cast<size_t>(position[axis])];
      is_outside |= offset < 0;
      begin += offset;
    }
    for (const int64_t offset : row)
      assign_element(*out++, is_outside || offset < 0 ? fill : in[begin + offset]);
  }
}

void resize_nearest(const KernelCall& call, std::span<const ResizeAxis> axes) {
  const auto& attrs = call.attrs<ResizeAttrs>();
  const TensorView &x = call.inputs[0], &y = call.outputs[0];
  const Strides strides = row_major_strides(x.shape);
  std::pmr::vector<std::pmr::vector<int64_t>> maps(scratch());
  maps.reserve(axes.size());
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    maps.push_back(nearest_elements(attrs, axes[axis], scratch()));
    for (int64_t& element : maps.back())
      element = element < 0 ? -1 : element * strides[axis];
  }
  alignas(16) std::byte bits[16] = {};  // of any element but a string
  if (x.dtype != DType::kString) {
    const double value = attrs.extrapolation_value;
    from_reals(&value, {x.dtype, {}, bits}, 0);
  }
  dispatch_width(x.dtype, [&]<typename T>() {
    T fill{};
    if constexpr (!std::is_same_v<T, std::string>) std::memcpy(&fill, bits, sizeof(T));
    gather<T>(x, y, maps, fill);
  });
}

// Resizes one axis: [outer, in, inner] becomes [outer, out, inner].
void blend_axis(const double* in, double* out, const AxisSplit& split, const ResizeBlend& blend,
                int64_t out_size, double fill) {
  for (int64_t outer = 0; outer < split.outer; ++outer) {
    for (int64_t i = 0; i < out_size; ++i) {
      check_interrupted();
      double* row = out + (outer * out_size + i) * split.inner;
      const auto parts = blend.of(i);
      std::fill_n(row, split.inner, parts.empty() ? fill : 0.0);
      for (const ResizeBlend::WeightedElement& part : parts) {
        const double* from = in + (outer * split.size + part.element) * split.inner;
        for (int64_t k = 0; k < split.inner; ++k)
          row[k] += part.weight * from[k];
      }
    }
  }
}

void resize_blended(const KernelCall& call, std::span<const ResizeAxis> axes) {
  const auto& attrs = call.attrs<ResizeAttrs>();
  const TensorView& x = call.inputs[0];
  for (int part = 0; part < part_count(x.dtype); ++part) {
    const ScratchMark mark;
    std::pmr::vector<double> values = to_reals(x, part), next(scratch());
    DimValues shape(x.shape.begin(), x.shape.end());
    const double fill = part == 0 ? attrs.extrapolation_value : 0.0;
    for (size_t axis = axes.size(); axis-- > 0;) {
      if (axes[axis].is_identity()) continue;
      const AxisSplit split = split_at(shape, axis);
      shape[axis] = axes[axis].out;
      resize_in_pieces(next, static_cast<size_t>(split.outer * axes[axis].out * split.inner));
      blend_axis(values.data(), next.data(), split, blended_elements(attrs, axes[axis], scratch()),
                 axes[axis].out, fill);
      std::swap(values, next);
    }
    from_reals(values.data(), call.outputs[0], part);
  }
}

void reference_resize(const KernelCall& call) {
  if (call.outputs[0].count() == 0) return;
  const std::pmr::vector<ResizeAxis> axes = axes_of(call);
  if (call.attrs<ResizeAttrs>().mode == "nearest") return resize_nearest(call, axes);
  resize_blended(call, axes);
}

std::vector<Sample> resize_samples() {
  using Floats = std::vector<float>;
  const SampleInput none{.omitted = true};
  const auto fixed = [](Tensor value) {
    SampleInput input;
    input.value = std::move(value);
    return input;
  };
  const auto scales = [&](const Floats& values) { return fixed(Tensor::vector(values)); };
  const auto sizes = [&](const std::vector<int64_t>& values) {
    return fixed(Tensor::vector(values));
  };
  const DTypeSet blended = kNumbers | kComplexes;
  return {{.inputs = {{{1, 2, 3, 4}}, none, scales({1, 1, 2, 2})},
           .attrs = {{"coordinate_transformation_mode", std::string("asymmetric")},
                     {"nearest_mode", std::string("floor")}}},
          {.inputs = {{{5}}, none, none, sizes({8})}},
          {.inputs = {{{1, 1, 4, 4}}, none, scales({1, 1, 0.6f, 1.7f})},
           .attrs = {{"mode", std::string("linear")}},
           .only = blended},
          {.inputs = {{{1, 1, 5, 6}}, none, none, sizes({9, 3})},
           .attrs = {{"mode", std::string("cubic")},
                     {"axes", std::vector<int64_t>{2, -1}},
                     {"antialias", int64_t{1}},
                     {"exclude_outside", int64_t{1}}},
           .only = blended},
          {.inputs = {{{1, 1, 4, 4}},
                      scales({0, 0, 0.2f, -0.1f, 1, 1, 0.9f, 1.2f}),
                      none,
                      sizes({1, 1, 3, 3})},
           .attrs = {{"mode", std::string("linear")},
                     {"coordinate_transformation_mode", std::string("tf_crop_and_resize")},
                     {"extrapolation_value", 10.0f}},
           .only = blended},
          {.inputs = {{{0, 2, 2}}, none, scales({1, 2, 2})}}};
}

const OpDef kResizeOps[] = {
    {.name = "Resize",
     .doc = "X sampled anew by `scales` or to `sizes`, one of which is given for all axes or for "
            "`axes`.",
     .since = 19,
     .signature = "(X: T1, roi?: T2, scales?: float, sizes?: int64) -> (Y: T1)",
     .types = {{"T1", kClassicTypes | DType::kBFloat16},
               {"T2", DTypeSet{DType::kFloat16, DType::kFloat, DType::kDouble}}},
     .attrs = attr_schema<ResizeAttrs>(),
     .infer = infer_resize,
     .reference = reference_resize,
     .grad = resize_grad,
     .shape_inputs = 1 << ResizeInput::kScales | 1 << ResizeInput::kSizes,
     .layout = LayoutRole::kImage,
     .samples = resize_samples},
};

}  // namespace

std::span<const OpDef> resize_ops() {
  return kResizeOps;
}

}  // namespace sardonyx::ops
