// Convolution, pooling, normalisation and images.
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
// The convolution of X [N, C, spatial...] with weights [M, C / group, kernel...] and a bias [M]:
// [N, M, spatial...].
// (X: T, W: T, B?: T) -> (Y: T); T: floats
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
// The transposed convolution, a convolution's gradient, of X [N, C, spatial...] with weights [C, M
// / group, kernel...] and a bias [M]: [N, M, spatial...].
// (X: T, W: T, B?: T) -> (Y: T); T: floats
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
// The convolution of 8-bit integers less their zero points, summed up in int32; shapes as in Conv.
// (x: T1, w: T2, x_zero_point?: T1, w_zero_point?: T2) -> (y: T3); T1: uint8, int8; T2: uint8,
//   int8; T3: int32
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
// The convolution of quantised values, quantised again; weights may have a scale for each of the M
// channels, shapes are as in Conv.
// (x: T1, x_scale: float, x_zero_point: T1, w: T2, w_scale: float, w_zero_point: T2, y_scale:
//   float, y_zero_point: T3, B?: T4) -> (y: T3); T1: uint8, int8; T2: uint8, int8; T3: uint8, int8;
//   T4: int32
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
// A convolution whose taps are moved by offsets [N, groups * taps * 2, out...] and scaled by a mask
// [N, groups * taps, out...]; other shapes as in Conv.
// (X: T, W: T, offset: T, B?: T, mask?: T) -> (Y: T); T: floats
Tensor DeformConv(const Tensor& X, const Tensor& W, const Tensor& offset, const Tensor& B = {},
    const Tensor& mask = {}, const DeformConvAttrs& attrs = {}, Loc loc = Loc::current());

struct Col2ImAttrs {
  OptionalList<int64_t> dilations = {};
  OptionalList<int64_t> pads = {};
  OptionalList<int64_t> strides = {};
};
// Columns [N, C * block, blocks] added up into images [N, C, image_shape...], where blocks overlap.
// (input: T, image_shape: int64, block_shape: int64) -> (output: T); T: integers, floats, complex,
//   string, bool
Tensor Col2Im(const Tensor& input, const Tensor& image_shape, const Tensor& block_shape,
    const Col2ImAttrs& attrs = {}, Loc loc = Loc::current());

struct CausalConvWithStateAttrs {
  std::string activation = "none";
};
// A depthwise convolution [batch, channels, length] that sees the past alone; gives the last
// elements as the state of the next call.
// (input: T, weight: T, bias?: T, past_state?: T) -> (output: T, present_state: T); T: float,
//   float16, bfloat16
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
// The mean of each window of X [N, C, spatial...]; padding counts where count_include_pad says so.
// (X: T) -> (Y: T); T: floats
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
// The largest element of each window of X [N, C, spatial...], and where it is in the whole tensor
// (int64).
// (X: T) -> (Y: T, Indices?: I); T: floats, uint8, int8; I: int64
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
// The p-norm of each window of X [N, C, spatial...].
// (X: T) -> (Y: T); T: floats
Tensor LpPool(const Tensor& X, const LpPoolAttrs& attrs, Loc loc = Loc::current());

// The mean over all spatial axes: [N, C, 1, ...].
// (X: T) -> (Y: T); T: floats
Tensor GlobalAveragePool(const Tensor& X, Loc loc = Loc::current());

// The largest element over all spatial axes: [N, C, 1, ...].
// (X: T) -> (Y: T); T: floats
Tensor GlobalMaxPool(const Tensor& X, Loc loc = Loc::current());

struct GlobalLpPoolAttrs {
  int64_t p = 2;
};
// The p-norm over all spatial axes: [N, C, 1, ...].
// (X: T) -> (Y: T); T: floats
Tensor GlobalLpPool(const Tensor& X, const GlobalLpPoolAttrs& attrs = {}, Loc loc = Loc::current());

struct MaxUnpoolAttrs {
  OptionalList<int64_t> kernel_shape = {};  // required
  OptionalList<int64_t> pads = {};
  OptionalList<int64_t> strides = {};
};
// Zeros but for the elements of X at the indices that MaxPool gave; the shape follows from the
// windows or from output_shape.
// (X: T1, I: T2, output_shape?: T2) -> (output: T1); T1: floats; T2: int64
Tensor MaxUnpool(const Tensor& X, const Tensor& I, const Tensor& output_shape,
    const MaxUnpoolAttrs& attrs, Loc loc = Loc::current());

struct MaxRoiPoolAttrs {
  OptionalList<int64_t> pooled_shape = {};  // required
  float spatial_scale = 1.f;
};
// The largest elements of a grid of pooled_shape over each region [regions, 5] (image, x1, y1, x2,
// y2) of X [N, C, H, W].
// (X: T, rois: T) -> (Y: T); T: floats
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
// Interpolated samples of X [N, C, H, W] pooled over a grid for each region [regions, 4] (x1, y1,
// x2, y2) of the image batch_indices says.
// (X: T1, rois: T1, batch_indices: T2) -> (Y: T1); T1: floats; T2: int64
Tensor RoiAlign(const Tensor& X, const Tensor& rois, const Tensor& batch_indices,
    const RoiAlignAttrs& attrs = {}, Loc loc = Loc::current());

struct BatchNormalizationAttrs {
  float epsilon = 1e-05f;
  float momentum = 0.9f;
  int64_t training_mode = 0;
};
// X [N, C, ...] less the mean of its channel, divided by the standard deviation, times scale [C]
// plus B [C]; with training_mode = 1 by the batch's own statistics, and the running ones follow.
// (X: T, scale: T1, B: T1, input_mean: T2, input_var: T2) -> (Y: T, running_mean?: T2,
//   running_var?: T2); T: floats; T1: floats; T2: floats
Tensor BatchNormalization(const Tensor& X, const Tensor& scale, const Tensor& B,
    const Tensor& input_mean, const Tensor& input_var, const BatchNormalizationAttrs& attrs = {},
    Loc loc = Loc::current());
std::vector<Tensor> BatchNormalizationOutputs(size_t outputs, const Tensor& X, const Tensor& scale,
    const Tensor& B, const Tensor& input_mean, const Tensor& input_var,
    const BatchNormalizationAttrs& attrs = {}, Loc loc = Loc::current());

struct InstanceNormalizationAttrs {
  float epsilon = 1e-05f;
};
// Each image's channels of X [N, C, ...] made of mean 0 and variance 1, times scale [C] plus B [C].
// (input: T, scale: T, B: T) -> (output: T); T: floats
Tensor InstanceNormalization(const Tensor& input, const Tensor& scale, const Tensor& B,
    const InstanceNormalizationAttrs& attrs = {}, Loc loc = Loc::current());

struct GroupNormalizationAttrs {
  float epsilon = 1e-05f;
  std::optional<int64_t> num_groups = {};  // required
  DType stash_type = DType::kFloat;
};
// num_groups groups of channels of X [N, C, ...] made of mean 0 and variance 1, times scale [C]
// plus bias [C].
// (X: T, scale: T, bias: T) -> (Y: T); T: floats
Tensor GroupNormalization(const Tensor& X, const Tensor& scale, const Tensor& bias,
    const GroupNormalizationAttrs& attrs, Loc loc = Loc::current());

struct MeanVarianceNormalizationAttrs {
  std::vector<int64_t> axes = {0, 2, 3};
};
// X less its mean over `axes`, divided by its standard deviation over them.
// (X: T) -> (Y: T); T: floats
Tensor MeanVarianceNormalization(const Tensor& X, const MeanVarianceNormalizationAttrs& attrs = {},
    Loc loc = Loc::current());

struct LRNAttrs {
  float alpha = 1e-04f;
  float beta = 0.75f;
  float bias = 1.f;
  std::optional<int64_t> size = {};  // required
};
// Each element of X [N, C, ...] divided by (bias + alpha / size * sum of squares over `size`
// channels around) ^ beta.
// (X: T) -> (Y: T); T: floats
Tensor LRN(const Tensor& X, const LRNAttrs& attrs, Loc loc = Loc::current());

struct LayerNormalizationAttrs {
  int64_t axis = -1;
  float epsilon = 1e-05f;
  DType stash_type = DType::kFloat;
};
// X made of mean 0 and variance 1 over the axes from `axis` on, times Scale plus B; mean and 1 /
// deviation come as well.
// (X: T, Scale: T, B?: T) -> (Y: T, Mean?: U, InvStdDev?: U); T: floats; U: float, bfloat16
Tensor LayerNormalization(const Tensor& X, const Tensor& Scale, const Tensor& B = {},
    const LayerNormalizationAttrs& attrs = {}, Loc loc = Loc::current());
std::vector<Tensor> LayerNormalizationOutputs(size_t outputs, const Tensor& X, const Tensor& Scale,
    const Tensor& B = {}, const LayerNormalizationAttrs& attrs = {}, Loc loc = Loc::current());

struct RMSNormalizationAttrs {
  int64_t axis = -1;
  float epsilon = 1e-05f;
  DType stash_type = DType::kFloat;
};
// X divided by its root mean square over the axes from `axis` on, times scale.
// (X: T, scale: V) -> (Y: V); T: floats; V: floats
Tensor RMSNormalization(const Tensor& X, const Tensor& scale,
    const RMSNormalizationAttrs& attrs = {}, Loc loc = Loc::current());

struct LpNormalizationAttrs {
  int64_t axis = -1;
  int64_t p = 2;
};
// X divided by its norm of order p (1 or 2) along `axis`.
// (input: T) -> (output: T); T: floats
Tensor LpNormalization(const Tensor& input, const LpNormalizationAttrs& attrs = {},
    Loc loc = Loc::current());

struct DepthToSpaceAttrs {
  std::optional<int64_t> blocksize = {};  // required
  std::string mode = "DCR";
};
// Blocks of channels of [N, C, H, W] laid out in space: [N, C / b^2, H * b, W * b].
// (input: T) -> (output: T); T: integers, floats, complex, string, bool
Tensor DepthToSpace(const Tensor& input, const DepthToSpaceAttrs& attrs, Loc loc = Loc::current());

struct SpaceToDepthAttrs {
  std::optional<int64_t> blocksize = {};  // required
};
// Blocks of space of [N, C, H, W] laid out in channels: [N, C * b^2, H / b, W / b].
// (input: T) -> (output: T); T: integers, floats, complex, string, bool
Tensor SpaceToDepth(const Tensor& input, const SpaceToDepthAttrs& attrs, Loc loc = Loc::current());

struct CenterCropPadAttrs {
  OptionalList<int64_t> axes = {};
};
// The middle of the input, or the input in the middle of zeros, in the sizes that `shape` lists for
// `axes`.
// (input_data: T, shape: Tind) -> (output_data: T); T: integers, floats, complex, string, bool;
//   Tind: int32, int64
Tensor CenterCropPad(const Tensor& input_data, const Tensor& shape,
    const CenterCropPadAttrs& attrs = {}, Loc loc = Loc::current());

struct AffineGridAttrs {
  int64_t align_corners = 0;
};
// The grid of coordinates in [-1, 1] that theta [N, 2, 3] or [N, 3, 4] maps an image of `size` to:
// [N, H, W, 2] or [N, D, H, W, 3].
// (theta: T1, size: T2) -> (grid: T1); T1: floats; T2: int64
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
// X sampled anew by `scales` or to `sizes`, one of which is given for all axes or for `axes`.
// (X: T1, roi?: T2, scales?: float, sizes?: int64) -> (Y: T1); T1: integers, floats, complex,
//   string, bool; T2: float, float16, double
Tensor Resize(const Tensor& X, const Tensor& roi = {}, const Tensor& scales = {},
    const Tensor& sizes = {}, const ResizeAttrs& attrs = {}, Loc loc = Loc::current());

struct GridSampleAttrs {
  int64_t align_corners = 0;
  std::string mode = "linear";
  std::string padding_mode = "zeros";
};
// X [N, C, spatial...] sampled at the coordinates of a grid [N, out..., axes], which are in [-1, 1]
// across the image.
// (X: T1, grid: T2) -> (Y: T1); T1: integers, floats, complex, string, bool; T2: floats
Tensor GridSample(const Tensor& X, const Tensor& grid, const GridSampleAttrs& attrs = {},
    Loc loc = Loc::current());


}  // namespace sardonyx::eager::op
