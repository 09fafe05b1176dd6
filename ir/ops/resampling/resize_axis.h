// How Resize maps one axis: from output indices to coordinates in the input, and to the input
// elements that an output element is made of. The N-d result is the product over the axes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/ops/data_movement/space_depth.h"

namespace sardonyx::ops {

// Inputs of Resize, in order.
struct ResizeInput {
  enum : size_t { kX, kRoi, kScales, kSizes };
};

// Where results are put.
using Memory = std::pmr::memory_resource;

struct ResizeAxis {
  int64_t in = 0, out = 0;
  float scale = 1;
  // The output's length before it was rounded to an integer: what align_corners and
  // tf_crop_and_resize reckon with.
  double length = 0;
  float roi_begin = 0, roi_end = 1;  // tf_crop_and_resize only, in lengths of the axis

  bool is_identity() const { return in == out && scale == 1 && roi_begin == 0 && roi_end == 1; }
};

// The coordinate in the input that output `index` is taken from. Computed in float: with other
// precision, values that are on the border between two neighbours would round to the other one than
// they do elsewhere.
float original_coordinate(const ResizeAttrs& attrs, const ResizeAxis& axis, int64_t index);

// For each output the one input element that mode "nearest" takes; -1 where tf_crop_and_resize
// leaves the input and the extrapolation value stands.
std::pmr::vector<int64_t> nearest_elements(const ResizeAttrs& attrs, const ResizeAxis& axis,
                                           Memory* memory = std::pmr::get_default_resource());

// For each output the input elements that modes "linear" and "cubic" blend.
struct ResizeBlend {
  struct WeightedElement {
    int64_t element;
    double weight;
  };
  std::pmr::vector<WeightedElement> parts;
  // Output i has parts [begins[i], begins[i + 1]); none: extrapolated.
  std::pmr::vector<size_t> begins;
  std::span<const WeightedElement> of(int64_t output) const {
    const auto i = static_cast<size_t>(output);
    return std::span(parts).subspan(begins[i], begins[i + 1] - begins[i]);
  }
};
ResizeBlend blended_elements(const ResizeAttrs& attrs, const ResizeAxis& axis,
                             Memory* memory = std::pmr::get_default_resource());

// One entry for each dim of X, from the values of the inputs (an empty `scales` or `sizes` is one
// that was not given). They must have passed the row's inference.
std::pmr::vector<ResizeAxis> resize_axes(const ResizeAttrs& attrs, std::span<const int64_t> input,
                                         std::span<const int64_t> output,
                                         std::span<const double> roi, std::span<const float> scales,
                                         std::span<const int64_t> sizes,
                                         Memory* memory = std::pmr::get_default_resource());

// The output's length for a scale.
int64_t scaled_length(int64_t length, float scale);
// The scale that the policy not_larger or not_smaller gives all axes, of lengths that are not 0.
float common_scale(std::string_view policy, std::span<const int64_t> lengths,
                   std::span<const int64_t> sizes);
// The output's length under that scale.
int64_t rounded_length(int64_t length, float scale);

}  // namespace sardonyx::ops
