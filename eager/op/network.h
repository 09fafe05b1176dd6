// Convolution, pooling, normalisation and pictures.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op_types.h"

namespace sardonyx::eager::op {

struct ConvAttrs {
  std::string auto_pad = "NOTSET";
  OptionalList<int64_t> dilations = {};
  int64_t group = 1;
  OptionalList<int64_t> kernel_shape = {};
  OptionalList<int64_t> pads = {};
  OptionalList<int64_t> strides = {};
};
// (X: T, W: T, B?: T) -> (Y: T)
Tensor Conv(const Tensor& X, const Tensor& W, const Tensor& B = {}, const ConvAttrs& attrs = {},
    Loc loc = Loc::current());

struct ConvTransposeAttrs {
  std::string auto_pad = "NOTSET";
  OptionalList<int64_t> dilations = {};
  int64_t group = 1;
  OptionalList<int64_t> kernel_shape = {};
  OptionalList<int64_t> output_padding = {};
  OptionalList<int64_t> output_shape = {};
  OptionalList<int64_t> pads = {};
  OptionalList<int64_t> strides = {};
};
// (X: T, W: T, B?: T) -> (Y: T)
Tensor ConvTranspose(const Tensor& X, const Tensor& W, const Tensor& B = {},
    const ConvTransposeAttrs& attrs = {}, Loc loc = Loc::current());

struct ConvIntegerAttrs {
  std::string auto_pad = "NOTSET";
  OptionalList<int64_t> dilations = {};
  int64_t group = 1;
  OptionalList<int64_t> kernel_shape = {};
  OptionalList<int64_t> pads = {};
  OptionalList<int64_t> strides = {};
};
// (x: T1, w: T2, x_zero_point?: T1, w_zero_point?: T2) -> (y: T3)
Tensor ConvInteger(const Tensor& x, const Tensor& w, const Tensor& x_zero_point = {},
    const Tensor& w_zero_point = {}, const ConvIntegerAttrs& attrs = {}, Loc loc = Loc::current());

struct QLinearConvAttrs {
  std::string auto_pad = "NOTSET";
  OptionalList<int64_t> dilations = {};
  int64_t group = 1;
  OptionalList<int64_t> kernel_shape = {};
  OptionalList<int64_t> pads = {};
  OptionalList<int64_t> strides = {};
};
// (x: T1, x_scale: float, x_zero_point: T1, w: T2, w_scale: float, w_zero_point: T2, y_scale:
//   float, y_zero_point: T3, B?: T4) -> (y: T3)
Tensor QLinearConv(const Tensor& x, const Tensor& x_scale, const Tensor& x_zero_point,
    const Tensor& w, const Tensor& w_scale, const Tensor& w_zero_point, const Tensor& y_scale,
    const Tensor& y_zero_point, const Tensor& B = {}, const QLinearConvAttrs& attrs = {},
    Loc loc = Loc::current());

struct DeformConvAttrs {
  OptionalList<int64_t> dilations = {};
  int64_t group = 1;
  OptionalList<int64_t> kernel_shape = {};
  int64_t offset_group = 1;
  OptionalList<int64_t> pads = {};
  OptionalList<int64_t> strides = {};
};
// (X: T, W: T, offset: T, B?: T, mask?: T) -> (Y: T)
Tensor DeformConv(const Tensor& X, const Tensor& W, const Tensor& offset, const Tensor& B = {},
    const Tensor& mask = {}, const DeformConvAttrs& attrs = {}, Loc loc = Loc::current());

struct Col2ImAttrs {
  OptionalList<int64_t> dilations = {};
  OptionalList<int64_t> pads = {};
  OptionalList<int64_t> strides = {};
};
// (input: T, image_shape: int64, block_shape: int64) -> (output: T)
Tensor Col2Im(const Tensor& input, const Tensor& image_shape, const Tensor& block_shape,
    const Col2ImAttrs& attrs = {}, Loc loc = Loc::current());

struct CausalConvWithStateAttrs {
  std::string activation = "none";
};
// (input: T, weight: T, bias?: T, past_state?: T) -> (output: T, present_state: T)
std::vector<Tensor> CausalConvWithState(const Tensor& input, const Tensor& weight,
    const Tensor& bias = {}, const Tensor& past_state = {},
    const CausalConvWithStateAttrs& attrs = {}, Loc loc = Loc::current());

struct AveragePoolAttrs {
  std::string auto_pad = "NOTSET";
  int64_t ceil_mode = 0;
  OptionalList<int64_t> dilations = {};
  OptionalList<int64_t> kernel_shape = {};  // required
  OptionalList<int64_t> pads = {};
  OptionalList<int64_t> strides = {};
  int64_t count_include_pad = 0;
};
// (X: T) -> (Y: T)
Tensor AveragePool(const Tensor& X, const AveragePoolAttrs& attrs, Loc loc = Loc::current());

struct MaxPoolAttrs {
  std::string auto_pad = "NOTSET";
  int64_t ceil_mode = 0;
  OptionalList<int64_t> dilations = {};
  OptionalList<int64_t> kernel_shape = {};  // required
  OptionalList<int64_t> pads = {};
  OptionalList<int64_t> strides = {};
  int64_t storage_order = 0;
};
// (X: T) -> (Y: T, Indices?: I)
Tensor MaxPool(const Tensor& X, const MaxPoolAttrs& attrs, Loc loc = Loc::current());
std::vector<Tensor> MaxPoolOutputs(size_t outputs, const Tensor& X, const MaxPoolAttrs& attrs,
    Loc loc = Loc::current());

struct LpPoolAttrs {
  std::string auto_pad = "NOTSET";
  int64_t ceil_mode = 0;
  OptionalList<int64_t> dilations = {};
  OptionalList<int64_t> kernel_shape = {};  // required
  OptionalList<int64_t> pads = {};
  OptionalList<int64_t> strides = {};
  int64_t p = 2;
};
// (X: T) -> (Y: T)
Tensor LpPool(const Tensor& X, const LpPoolAttrs& attrs, Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor GlobalAveragePool(const Tensor& X, Loc loc = Loc::current());

// (X: T) -> (Y: T)
Tensor GlobalMaxPool(const Tensor& X, Loc loc = Loc::current());

struct GlobalLpPoolAttrs {
  int64_t p = 2;
};
// (X: T) -> (Y: T)
Tensor GlobalLpPool(const Tensor& X, const GlobalLpPoolAttrs& attrs = {}, Loc loc = Loc::current());

struct MaxUnpoolAttrs {
  OptionalList<int64_t> kernel_shape = {};  // required
  OptionalList<int64_t> pads = {};
  OptionalList<int64_t> strides = {};
};
// (X: T1, I: T2, output_shape?: T2) -> (output: T1)
Tensor MaxUnpool(const Tensor& X, const Tensor& I, const Tensor& output_shape,
    const MaxUnpoolAttrs& attrs, Loc loc = Loc::current());

struct MaxRoiPoolAttrs {
  OptionalList<int64_t> pooled_shape = {};  // required
  float spatial_scale = 1.f;
};
// (X: T, rois: T) -> (Y: T)
Tensor MaxRoiPool(const Tensor& X, const Tensor& rois, const MaxRoiPoolAttrs& attrs,
    Loc loc = Loc::current());

struct RoiAlignAttrs {
  std::string coordinate_transformation_mode = "half_pixel";
  std::string mode = "avg";
  int64_t output_height = 1;
  int64_t output_width = 1;
  int64_t sampling_ratio = 0;
  float spatial_scale = 1.f;
};
// (X: T1, rois: T1, batch_indices: T2) -> (Y: T1)
Tensor RoiAlign(const Tensor& X, const Tensor& rois, const Tensor& batch_indices,
    const RoiAlignAttrs& attrs = {}, Loc loc = Loc::current());

struct BatchNormalizationAttrs {
  float epsilon = 1e-05f;
  float momentum = 0.9f;
  int64_t training_mode = 0;
};
// (X: T, scale: T1, B: T1, input_mean: T2, input_var: T2) -> (Y: T, running_mean?: T2,
//   running_var?: T2)
Tensor BatchNormalization(const Tensor& X, const Tensor& scale, const Tensor& B,
    const Tensor& input_mean, const Tensor& input_var, const BatchNormalizationAttrs& attrs = {},
    Loc loc = Loc::current());
std::vector<Tensor> BatchNormalizationOutputs(size_t outputs, const Tensor& X, const Tensor& scale,
    const Tensor& B, const Tensor& input_mean, const Tensor& input_var,
    const BatchNormalizationAttrs& attrs = {}, Loc loc = Loc::current());

struct InstanceNormalizationAttrs {
  float epsilon = 1e-05f;
};
// (input: T, scale: T, B: T) -> (output: T)
Tensor InstanceNormalization(const Tensor& input, const Tensor& scale, const Tensor& B,
    const InstanceNormalizationAttrs& attrs = {}, Loc loc = Loc::current());

struct GroupNormalizationAttrs {
  float epsilon = 1e-05f;
  std::optional<int64_t> num_groups = {};  // required
  DType stash_type = DType::kFloat;
};
// (X: T, scale: T, bias: T) -> (Y: T)
Tensor GroupNormalization(const Tensor& X, const Tensor& scale, const Tensor& bias,
    const GroupNormalizationAttrs& attrs, Loc loc = Loc::current());

struct MeanVarianceNormalizationAttrs {
  std::vector<int64_t> axes = {0, 2, 3};
};
// (X: T) -> (Y: T)
Tensor MeanVarianceNormalization(const Tensor& X, const MeanVarianceNormalizationAttrs& attrs = {},
    Loc loc = Loc::current());

struct LRNAttrs {
  float alpha = 1e-04f;
  float beta = 0.75f;
  float bias = 1.f;
  std::optional<int64_t> size = {};  // required
};
// (X: T) -> (Y: T)
Tensor LRN(const Tensor& X, const LRNAttrs& attrs, Loc loc = Loc::current());

struct LayerNormalizationAttrs {
  int64_t axis = -1;
  float epsilon = 1e-05f;
  DType stash_type = DType::kFloat;
};
// (X: T, Scale: T, B?: T) -> (Y: T, Mean?: U, InvStdDev?: U)
Tensor LayerNormalization(const Tensor& X, const Tensor& Scale, const Tensor& B = {},
    const LayerNormalizationAttrs& attrs = {}, Loc loc = Loc::current());
std::vector<Tensor> LayerNormalizationOutputs(size_t outputs, const Tensor& X, const Tensor& Scale,
    const Tensor& B = {}, const LayerNormalizationAttrs& attrs = {}, Loc loc = Loc::current());

struct RMSNormalizationAttrs {
  int64_t axis = -1;
  float epsilon = 1e-05f;
  DType stash_type = DType::kFloat;
};
// (X: T, scale: V) -> (Y: V)
Tensor RMSNormalization(const Tensor& X, const Tensor& scale,
    const RMSNormalizationAttrs& attrs = {}, Loc loc = Loc::current());

struct LpNormalizationAttrs {
  int64_t axis = -1;
  int64_t p = 2;
};
// (input: T) -> (output: T)
Tensor LpNormalization(const Tensor& input, const LpNormalizationAttrs& attrs = {},
    Loc loc = Loc::current());

struct DepthToSpaceAttrs {
  std::optional<int64_t> blocksize = {};  // required
  std::string mode = "DCR";
};
// (input: T) -> (output: T)
Tensor DepthToSpace(const Tensor& input, const DepthToSpaceAttrs& attrs, Loc loc = Loc::current());

struct SpaceToDepthAttrs {
  std::optional<int64_t> blocksize = {};  // required
};
// (input: T) -> (output: T)
Tensor SpaceToDepth(const Tensor& input, const SpaceToDepthAttrs& attrs, Loc loc = Loc::current());

struct CenterCropPadAttrs {
  OptionalList<int64_t> axes = {};
};
// (input_data: T, shape: Tind) -> (output_data: T)
Tensor CenterCropPad(const Tensor& input_data, const Tensor& shape,
    const CenterCropPadAttrs& attrs = {}, Loc loc = Loc::current());

struct AffineGridAttrs {
  int64_t align_corners = 0;
};
// (theta: T1, size: T2) -> (grid: T1)
Tensor AffineGrid(const Tensor& theta, const Tensor& size, const AffineGridAttrs& attrs = {},
    Loc loc = Loc::current());

struct ResizeAttrs {
  int64_t antialias = 0;
  OptionalList<int64_t> axes = {};
  std::string coordinate_transformation_mode = "half_pixel";
  float cubic_coeff_a = -0.75f;
  int64_t exclude_outside = 0;
  float extrapolation_value = 0.f;
  std::string keep_aspect_ratio_policy = "stretch";
  std::string mode = "nearest";
  std::string nearest_mode = "round_prefer_floor";
};
// (X: T1, roi?: T2, scales?: float, sizes?: int64) -> (Y: T1)
Tensor Resize(const Tensor& X, const Tensor& roi = {}, const Tensor& scales = {},
    const Tensor& sizes = {}, const ResizeAttrs& attrs = {}, Loc loc = Loc::current());

struct GridSampleAttrs {
  int64_t align_corners = 0;
  std::string mode = "linear";
  std::string padding_mode = "zeros";
};
// (X: T1, grid: T2) -> (Y: T1)
Tensor GridSample(const Tensor& X, const Tensor& grid, const GridSampleAttrs& attrs = {},
    Loc loc = Loc::current());


}  // namespace sardonyx::eager::op
