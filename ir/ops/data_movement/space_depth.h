// Attributes of the ops on images.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ir/attributes.h"
#include "ir/ops/reference/strided_copy.h"

namespace sardonyx::ops {

struct ResizeAttrs {
  bool antialias = false;
  std::optional<std::vector<int64_t>> axes;
  std::string coordinate_transformation_mode = "half_pixel";
  float cubic_coeff_a = -0.75f;
  bool exclude_outside = false;
  float extrapolation_value = 0;
  std::string keep_aspect_ratio_policy = "stretch";  // stretch, not_larger, not_smaller
  std::string mode = "nearest";                      // nearest, linear, cubic
  std::string nearest_mode = "round_prefer_floor";
  static auto fields() {
    return std::tuple{
        field("antialias", &ResizeAttrs::antialias),
        field("axes", &ResizeAttrs::axes),
        field("coordinate_transformation_mode", &ResizeAttrs::coordinate_transformation_mode),
        field("cubic_coeff_a", &ResizeAttrs::cubic_coeff_a),
        field("exclude_outside", &ResizeAttrs::exclude_outside),
        field("extrapolation_value", &ResizeAttrs::extrapolation_value),
        field("keep_aspect_ratio_policy", &ResizeAttrs::keep_aspect_ratio_policy),
        field("mode", &ResizeAttrs::mode),
        field("nearest_mode", &ResizeAttrs::nearest_mode)};
  }
};

struct GridSampleAttrs {
  bool align_corners = false;
  std::string mode = "linear";         // linear, nearest, cubic
  std::string padding_mode = "zeros";  // zeros, border, reflection
  static auto fields() {
    return std::tuple{field("align_corners", &GridSampleAttrs::align_corners),
                      field("mode", &GridSampleAttrs::mode),
                      field("padding_mode", &GridSampleAttrs::padding_mode)};
  }
};

struct AffineGridAttrs {
  bool align_corners = false;
  static auto fields() {
    return std::tuple{field("align_corners", &AffineGridAttrs::align_corners)};
  }
};

struct CenterCropPadAttrs {
  std::optional<std::vector<int64_t>> axes;
  static auto fields() { return std::tuple{field("axes", &CenterCropPadAttrs::axes)}; }
};

struct DepthToSpaceAttrs {
  int64_t blocksize = 0;
  std::string mode = "DCR";  // DCR, CRD
  static auto fields() {
    return std::tuple{required("blocksize", &DepthToSpaceAttrs::blocksize),
                      field("mode", &DepthToSpaceAttrs::mode)};
  }
};

struct SpaceToDepthAttrs {
  int64_t blocksize = 0;
  static auto fields() { return std::tuple{required("blocksize", &SpaceToDepthAttrs::blocksize)}; }
};

// How these two move the elements of a tensor of shape `x`.
StridedBlock depth_to_space_block(const DepthToSpaceAttrs& attrs, std::span<const int64_t> x);
StridedBlock space_to_depth_block(const SpaceToDepthAttrs& attrs, std::span<const int64_t> x);

}  // namespace sardonyx::ops
