// The fields of the attributes, for conversions.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op/network.h"

namespace sardonyx::eager::op {

template <typename F>
void each_field(const ConvAttrs*, F&& field) {
  field("auto_pad", &ConvAttrs::auto_pad);
  field("dilations", &ConvAttrs::dilations);
  field("group", &ConvAttrs::group);
  field("kernel_shape", &ConvAttrs::kernel_shape);
  field("pads", &ConvAttrs::pads);
  field("strides", &ConvAttrs::strides);
}
template <typename F>
void each_field(const ConvTransposeAttrs*, F&& field) {
  field("auto_pad", &ConvTransposeAttrs::auto_pad);
  field("dilations", &ConvTransposeAttrs::dilations);
  field("group", &ConvTransposeAttrs::group);
  field("kernel_shape", &ConvTransposeAttrs::kernel_shape);
  field("output_padding", &ConvTransposeAttrs::output_padding);
  field("output_shape", &ConvTransposeAttrs::output_shape);
  field("pads", &ConvTransposeAttrs::pads);
  field("strides", &ConvTransposeAttrs::strides);
}
template <typename F>
void each_field(const ConvIntegerAttrs*, F&& field) {
  field("auto_pad", &ConvIntegerAttrs::auto_pad);
  field("dilations", &ConvIntegerAttrs::dilations);
  field("group", &ConvIntegerAttrs::group);
  field("kernel_shape", &ConvIntegerAttrs::kernel_shape);
  field("pads", &ConvIntegerAttrs::pads);
  field("strides", &ConvIntegerAttrs::strides);
}
template <typename F>
void each_field(const QLinearConvAttrs*, F&& field) {
  field("auto_pad", &QLinearConvAttrs::auto_pad);
  field("dilations", &QLinearConvAttrs::dilations);
  field("group", &QLinearConvAttrs::group);
  field("kernel_shape", &QLinearConvAttrs::kernel_shape);
  field("pads", &QLinearConvAttrs::pads);
  field("strides", &QLinearConvAttrs::strides);
}
template <typename F>
void each_field(const DeformConvAttrs*, F&& field) {
  field("dilations", &DeformConvAttrs::dilations);
  field("group", &DeformConvAttrs::group);
  field("kernel_shape", &DeformConvAttrs::kernel_shape);
  field("offset_group", &DeformConvAttrs::offset_group);
  field("pads", &DeformConvAttrs::pads);
  field("strides", &DeformConvAttrs::strides);
}
template <typename F>
void each_field(const Col2ImAttrs*, F&& field) {
  field("dilations", &Col2ImAttrs::dilations);
  field("pads", &Col2ImAttrs::pads);
  field("strides", &Col2ImAttrs::strides);
}
template <typename F>
void each_field(const CausalConvWithStateAttrs*, F&& field) {
  field("activation", &CausalConvWithStateAttrs::activation);
}
template <typename F>
void each_field(const AveragePoolAttrs*, F&& field) {
  field("auto_pad", &AveragePoolAttrs::auto_pad);
  field("ceil_mode", &AveragePoolAttrs::ceil_mode);
  field("dilations", &AveragePoolAttrs::dilations);
  field("kernel_shape", &AveragePoolAttrs::kernel_shape);
  field("pads", &AveragePoolAttrs::pads);
  field("strides", &AveragePoolAttrs::strides);
  field("count_include_pad", &AveragePoolAttrs::count_include_pad);
}
template <typename F>
void each_field(const MaxPoolAttrs*, F&& field) {
  field("auto_pad", &MaxPoolAttrs::auto_pad);
  field("ceil_mode", &MaxPoolAttrs::ceil_mode);
  field("dilations", &MaxPoolAttrs::dilations);
  field("kernel_shape", &MaxPoolAttrs::kernel_shape);
  field("pads", &MaxPoolAttrs::pads);
  field("strides", &MaxPoolAttrs::strides);
  field("storage_order", &MaxPoolAttrs::storage_order);
}
template <typename F>
void each_field(const LpPoolAttrs*, F&& field) {
  field("auto_pad", &LpPoolAttrs::auto_pad);
  field("ceil_mode", &LpPoolAttrs::ceil_mode);
  field("dilations", &LpPoolAttrs::dilations);
  field("kernel_shape", &LpPoolAttrs::kernel_shape);
  field("pads", &LpPoolAttrs::pads);
  field("strides", &LpPoolAttrs::strides);
  field("p", &LpPoolAttrs::p);
}
template <typename F>
void each_field(const GlobalLpPoolAttrs*, F&& field) {
  field("p", &GlobalLpPoolAttrs::p);
}
template <typename F>
void each_field(const MaxUnpoolAttrs*, F&& field) {
  field("kernel_shape", &MaxUnpoolAttrs::kernel_shape);
  field("pads", &MaxUnpoolAttrs::pads);
  field("strides", &MaxUnpoolAttrs::strides);
}
template <typename F>
void each_field(const MaxRoiPoolAttrs*, F&& field) {
  field("pooled_shape", &MaxRoiPoolAttrs::pooled_shape);
  field("spatial_scale", &MaxRoiPoolAttrs::spatial_scale);
}
template <typename F>
void each_field(const RoiAlignAttrs*, F&& field) {
  field("coordinate_transformation_mode", &RoiAlignAttrs::coordinate_transformation_mode);
  field("mode", &RoiAlignAttrs::mode);
  field("output_height", &RoiAlignAttrs::output_height);
  field("output_width", &RoiAlignAttrs::output_width);
  field("sampling_ratio", &RoiAlignAttrs::sampling_ratio);
  field("spatial_scale", &RoiAlignAttrs::spatial_scale);
}
template <typename F>
void each_field(const BatchNormalizationAttrs*, F&& field) {
  field("epsilon", &BatchNormalizationAttrs::epsilon);
  field("momentum", &BatchNormalizationAttrs::momentum);
  field("training_mode", &BatchNormalizationAttrs::training_mode);
}
template <typename F>
void each_field(const InstanceNormalizationAttrs*, F&& field) {
  field("epsilon", &InstanceNormalizationAttrs::epsilon);
}
template <typename F>
void each_field(const GroupNormalizationAttrs*, F&& field) {
  field("epsilon", &GroupNormalizationAttrs::epsilon);
  field("num_groups", &GroupNormalizationAttrs::num_groups);
  field("stash_type", &GroupNormalizationAttrs::stash_type);
}
template <typename F>
void each_field(const MeanVarianceNormalizationAttrs*, F&& field) {
  field("axes", &MeanVarianceNormalizationAttrs::axes);
}
template <typename F>
void each_field(const LRNAttrs*, F&& field) {
  field("alpha", &LRNAttrs::alpha);
  field("beta", &LRNAttrs::beta);
  field("bias", &LRNAttrs::bias);
  field("size", &LRNAttrs::size);
}
template <typename F>
void each_field(const LayerNormalizationAttrs*, F&& field) {
  field("axis", &LayerNormalizationAttrs::axis);
  field("epsilon", &LayerNormalizationAttrs::epsilon);
  field("stash_type", &LayerNormalizationAttrs::stash_type);
}
template <typename F>
void each_field(const RMSNormalizationAttrs*, F&& field) {
  field("axis", &RMSNormalizationAttrs::axis);
  field("epsilon", &RMSNormalizationAttrs::epsilon);
  field("stash_type", &RMSNormalizationAttrs::stash_type);
}
template <typename F>
void each_field(const LpNormalizationAttrs*, F&& field) {
  field("axis", &LpNormalizationAttrs::axis);
  field("p", &LpNormalizationAttrs::p);
}
template <typename F>
void each_field(const DepthToSpaceAttrs*, F&& field) {
  field("blocksize", &DepthToSpaceAttrs::blocksize);
  field("mode", &DepthToSpaceAttrs::mode);
}
template <typename F>
void each_field(const SpaceToDepthAttrs*, F&& field) {
  field("blocksize", &SpaceToDepthAttrs::blocksize);
}
template <typename F>
void each_field(const CenterCropPadAttrs*, F&& field) {
  field("axes", &CenterCropPadAttrs::axes);
}
template <typename F>
void each_field(const AffineGridAttrs*, F&& field) {
  field("align_corners", &AffineGridAttrs::align_corners);
}
template <typename F>
void each_field(const ResizeAttrs*, F&& field) {
  field("antialias", &ResizeAttrs::antialias);
  field("axes", &ResizeAttrs::axes);
  field("coordinate_transformation_mode", &ResizeAttrs::coordinate_transformation_mode);
  field("cubic_coeff_a", &ResizeAttrs::cubic_coeff_a);
  field("exclude_outside", &ResizeAttrs::exclude_outside);
  field("extrapolation_value", &ResizeAttrs::extrapolation_value);
  field("keep_aspect_ratio_policy", &ResizeAttrs::keep_aspect_ratio_policy);
  field("mode", &ResizeAttrs::mode);
  field("nearest_mode", &ResizeAttrs::nearest_mode);
}
template <typename F>
void each_field(const GridSampleAttrs*, F&& field) {
  field("align_corners", &GridSampleAttrs::align_corners);
  field("mode", &GridSampleAttrs::mode);
  field("padding_mode", &GridSampleAttrs::padding_mode);
}

}  // namespace sardonyx::eager::op
