#include "ir/ops/resampling/resize_axis.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/core/dtype_convert.h"
#include "ir/core/error.h"
#include "ir/core/run_control.h"
#include "ir/core/strides.h"

namespace sardonyx::ops {

namespace {

float crop_coordinate(const ResizeAxis& axis, float index) {
  const auto last = static_cast<float>(axis.in - 1);
  if (axis.out == 1) return 0.5f * (axis.roi_begin + axis.roi_end) * last;
  return axis.roi_begin * last +
         index * (axis.roi_end - axis.roi_begin) * last / static_cast<float>(axis.length - 1);
}

// Maps the middle of the input onto the middle of the output, whose length was rounded.
float symmetric_coordinate(const ResizeAxis& axis, float index) {
  const auto adjustment = static_cast<float>(static_cast<double>(axis.out) / axis.length);
  const float offset = static_cast<float>(axis.in) / 2 * (1 - adjustment);
  return offset + (index + 0.5f) / axis.scale - 0.5f;
}

bool leaves_input(const ResizeAttrs& attrs, const ResizeAxis& axis, float coordinate) {
  return attrs.coordinate_transformation_mode == "tf_crop_and_resize" &&
         !(coordinate >= 0 && coordinate <= static_cast<float>(axis.in - 1));
}

float nearest_integer(const ResizeAttrs& attrs, float coordinate) {
  if (attrs.nearest_mode == "floor") return std::floor(coordinate);
  if (attrs.nearest_mode == "ceil") return std::ceil(coordinate);
  const bool is_halfway = coordinate == std::floor(coordinate) + 0.5f;
  if (!is_halfway) return std::round(coordinate);
  return attrs.nearest_mode == "round_prefer_ceil" ? std::ceil(coordinate) : std::floor(coordinate);
}

// The kernel of cubic convolution (R. Keys, "Cubic convolution interpolation for digital image
// processing", 1981), whose slope at 1 is `a`.
double cubic_kernel(double distance, double a) {
  const double x = std::abs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

double linear_kernel(double distance) {
  return std::max(0.0, 1 - std::abs(distance));
}

// Appends the parts of one output: elements around `coordinate`, the input's ends repeated beyond
// it. With antialiasing the kernel is as wide as the elements that shrink to one.
void blend(const ResizeAttrs& attrs, const ResizeAxis& axis, float coordinate,
           std::pmr::vector<ResizeBlend::WeightedElement>& parts) {
  const bool is_cubic = attrs.mode == "cubic";
  const double squeeze = attrs.antialias ? std::min(static_cast<double>(axis.scale), 1.0) : 1.0;
  const double reach = is_cubic ? 2 : 1;
  const double base = std::ceil(static_cast<double>(coordinate)) - 1;
  const double ratio = static_cast<double>(coordinate) - base;  // in (0, 1]
  const auto first = static_cast<int64_t>(std::floor(-reach / squeeze)) + 1;
  const size_t begin = parts.size();
  double sum = 0, sum_inside = 0;
  for (int64_t i = first; i <= 1 - first; ++i) {
    const double distance = (static_cast<double>(i) - ratio) * squeeze;
    const double weight =
        is_cubic ? cubic_kernel(distance, attrs.cubic_coeff_a) : linear_kernel(distance);
    const double element = base + static_cast<double>(i);
    const bool is_inside = element >= 0 && element < static_cast<double>(axis.in);
    sum += weight;
    if (is_inside) sum_inside += weight;
    if (attrs.exclude_outside && !is_inside) continue;
    const double last = static_cast<double>(axis.in - 1);
    parts.push_back({static_cast<int64_t>(clamped_number(element, 0.0, last)), weight});
  }
  if (attrs.exclude_outside && sum_inside == 0) {  // all weight is outside: the nearest end counts
    const auto nearest = base < 0 ? int64_t{0} : axis.in - 1;
    parts.resize(begin);
    parts.push_back({nearest, 1});
    return;
  }
  const double total = attrs.exclude_outside ? sum_inside : squeeze < 1 ? sum : 1;
  for (size_t i = begin; i < parts.size(); ++i)
    parts[i].weight /= total;
}

}  // namespace

float original_coordinate(const ResizeAttrs& attrs, const ResizeAxis& axis, int64_t index) {
  const std::string& mode = attrs.coordinate_transformation_mode;
  const auto at = static_cast<float>(index);
  if (mode == "asymmetric") return at / axis.scale;
  if (mode == "tf_half_pixel_for_nn") return (at + 0.5f) / axis.scale;
  if (mode == "half_pixel_symmetric") return symmetric_coordinate(axis, at);
  if (mode == "tf_crop_and_resize") return crop_coordinate(axis, at);
  if (mode == "align_corners") {
    if (axis.out == 1) return 0;
    return at * static_cast<float>(axis.in - 1) / static_cast<float>(axis.length - 1);
  }
  if (mode == "pytorch_half_pixel" && axis.out == 1) return 0;
  return (at + 0.5f) / axis.scale - 0.5f;
}

std::pmr::vector<int64_t> nearest_elements(const ResizeAttrs& attrs, const ResizeAxis& axis,
                                           Memory* memory) {
  std::pmr::vector<int64_t> elements(memory);
  elements.reserve(static_cast<size_t>(axis.out));
  for (int64_t i = 0; i < axis.out; ++i) {
    if (axis.is_identity()) {
      elements.push_back(i);
      continue;
    }
    const float coordinate = original_coordinate(attrs, axis, i);
    if (leaves_input(attrs, axis, coordinate)) {
      elements.push_back(-1);
      continue;
    }
    const double nearest = nearest_integer(attrs, coordinate);
    elements.push_back(
        static_cast<int64_t>(clamped_number(nearest, 0.0, static_cast<double>(axis.in - 1))));
  }
  return elements;
}

// Outputs of an axis between two looks at the deadline.
constexpr int64_t kOutputsBetweenLooks = 1 << 12;

ResizeBlend blended_elements(const ResizeAttrs& attrs, const ResizeAxis& axis, Memory* memory) {
  ResizeBlend result{std::pmr::vector<ResizeBlend::WeightedElement>(memory),
                     std::pmr::vector<size_t>(memory)};
  result.begins.reserve(static_cast<size_t>(axis.out) + 1);
  result.begins.push_back(0);
  for (int64_t i = 0; i < axis.out; ++i) {
    if (i % kOutputsBetweenLooks == 0) check_interrupted();
    const float coordinate = original_coordinate(attrs, axis, i);
    if (!leaves_input(attrs, axis, coordinate)) blend(attrs, axis, coordinate, result.parts);
    result.begins.push_back(result.parts.size());
  }
  return result;
}

std::pmr::vector<ResizeAxis> resize_axes(const ResizeAttrs& attrs, std::span<const int64_t> input,
                                         std::span<const int64_t> output,
                                         std::span<const double> roi, std::span<const float> scales,
                                         std::span<const int64_t> sizes, Memory* memory) {
  const size_t rank = input.size();
  InlineVector<size_t, 8> named;
  if (attrs.axes) {
    for (const int64_t axis : *attrs.axes)
      named.push_back(axis_of(axis, rank));
  } else {
    for (size_t i = 0; i < rank; ++i)
      named.push_back(i);
  }
  std::pmr::vector<ResizeAxis> axes(rank, memory);
  for (size_t i = 0; i < rank; ++i) {
    axes[i].in = input[i];
    axes[i].out = output[i];
    axes[i].length = static_cast<double>(output[i]);
  }
  std::optional<float> common;
  if (scales.empty() && attrs.keep_aspect_ratio_policy != "stretch") {
    DimValues lengths;
    for (const size_t axis : named)
      lengths.push_back(input[axis]);
    common = common_scale(attrs.keep_aspect_ratio_policy, lengths, sizes);
  }
  for (size_t i = 0; i < named.size(); ++i) {
    ResizeAxis& axis = axes[named[i]];
    const auto in = static_cast<float>(axis.in);
    if (common)
      axis.scale = *common;
    else if (!scales.empty())
      axis.scale = scales[i];
    else if (axis.in > 0)
      axis.scale = static_cast<float>(axis.out) / in;
    if (common || !scales.empty()) {
      axis.length = static_cast<double>(axis.scale) * static_cast<double>(axis.in);
    }
    if (roi.size() == 2 * named.size()) {
      axis.roi_begin = static_cast<float>(roi[i]);
      axis.roi_end = static_cast<float>(roi[i + named.size()]);
    }
  }
  return axes;
}

int64_t scaled_length(int64_t length, float scale) {
  const float scaled = std::floor(static_cast<float>(length) * scale);
  if (!(scaled >= 0 && scaled < 0x1p62f)) {
    fail(ErrorCode::kResourceExhausted, "size ", length, " times scale ", scale, " is too large");
  }
  return static_cast<int64_t>(scaled);
}

float common_scale(std::string_view policy, std::span<const int64_t> lengths,
                   std::span<const int64_t> sizes) {
  std::optional<float> scale;
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] == 0) continue;
    const float wanted = static_cast<float>(sizes[i]) / static_cast<float>(lengths[i]);
    if (!scale) scale = wanted;
    scale = policy == "not_larger" ? std::min(*scale, wanted) : std::max(*scale, wanted);
  }
  return scale.value_or(1);
}

int64_t rounded_length(int64_t length, float scale) {
  const float scaled = std::round(static_cast<float>(length) * scale);
  if (!(scaled >= 0 && scaled < 0x1p62f)) {
    fail(ErrorCode::kResourceExhausted, "size ", length, " times scale ", scale, " is too large");
  }
  return static_cast<int64_t>(scaled);
}

}  // namespace sardonyx::ops
