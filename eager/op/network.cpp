// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#include "eager/op/network.h"

#include "eager/op/network_fields.h"
#include "eager/dispatch/op_row.h"

namespace sardonyx::eager::op {

Tensor Conv(const Tensor& X, const Tensor& W, const Tensor& B, const ConvAttrs& attrs, Loc loc) {
  static const OpRow row("Conv", fields_of(attrs));
  return row.call({X, W, B}, &attrs, loc);
}
Tensor ConvTranspose(const Tensor& X, const Tensor& W, const Tensor& B,
    const ConvTransposeAttrs& attrs, Loc loc) {
  static const OpRow row("ConvTranspose", fields_of(attrs));
  return row.call({X, W, B}, &attrs, loc);
}
Tensor ConvInteger(const Tensor& x, const Tensor& w, const Tensor& x_zero_point,
    const Tensor& w_zero_point, const ConvIntegerAttrs& attrs, Loc loc) {
  static const OpRow row("ConvInteger", fields_of(attrs));
  return row.call({x, w, x_zero_point, w_zero_point}, &attrs, loc);
}
Tensor QLinearConv(const Tensor& x, const Tensor& x_scale, const Tensor& x_zero_point,
    const Tensor& w, const Tensor& w_scale, const Tensor& w_zero_point, const Tensor& y_scale,
    const Tensor& y_zero_point, const Tensor& B, const QLinearConvAttrs& attrs, Loc loc) {
  static const OpRow row("QLinearConv", fields_of(attrs));
  return row.call({x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B},
      &attrs, loc);
}
Tensor DeformConv(const Tensor& X, const Tensor& W, const Tensor& offset, const Tensor& B,
    const Tensor& mask, const DeformConvAttrs& attrs, Loc loc) {
  static const OpRow row("DeformConv", fields_of(attrs));
  return row.call({X, W, offset, B, mask}, &attrs, loc);
}
Tensor Col2Im(const Tensor& input, const Tensor& image_shape, const Tensor& block_shape,
    const Col2ImAttrs& attrs, Loc loc) {
  static const OpRow row("Col2Im", fields_of(attrs));
  return row.call({input, image_shape, block_shape}, &attrs, loc);
}
std::vector<Tensor> CausalConvWithState(const Tensor& input, const Tensor& weight,
    const Tensor& bias, const Tensor& past_state, const CausalConvWithStateAttrs& attrs, Loc loc) {
  static const OpRow row("CausalConvWithState", fields_of(attrs));
  return row.call_many({input, weight, bias, past_state}, &attrs, 2, loc);
}
Tensor AveragePool(const Tensor& X, const AveragePoolAttrs& attrs, Loc loc) {
  static const OpRow row("AveragePool", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor MaxPool(const Tensor& X, const MaxPoolAttrs& attrs, Loc loc) {
  static const OpRow row("MaxPool", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
std::vector<Tensor> MaxPoolOutputs(size_t outputs, const Tensor& X, const MaxPoolAttrs& attrs,
    Loc loc) {
  static const OpRow row("MaxPool", fields_of(attrs));
  return row.call_many({X}, &attrs, outputs, loc);
}
Tensor LpPool(const Tensor& X, const LpPoolAttrs& attrs, Loc loc) {
  static const OpRow row("LpPool", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor GlobalAveragePool(const Tensor& X, Loc loc) {
  static const OpRow row("GlobalAveragePool");
  return row.call({X}, nullptr, loc);
}
Tensor GlobalMaxPool(const Tensor& X, Loc loc) {
  static const OpRow row("GlobalMaxPool");
  return row.call({X}, nullptr, loc);
}
Tensor GlobalLpPool(const Tensor& X, const GlobalLpPoolAttrs& attrs, Loc loc) {
  static const OpRow row("GlobalLpPool", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor MaxUnpool(const Tensor& X, const Tensor& I, const Tensor& output_shape,
    const MaxUnpoolAttrs& attrs, Loc loc) {
  static const OpRow row("MaxUnpool", fields_of(attrs));
  return row.call({X, I, output_shape}, &attrs, loc);
}
Tensor MaxRoiPool(const Tensor& X, const Tensor& rois, const MaxRoiPoolAttrs& attrs, Loc loc) {
  static const OpRow row("MaxRoiPool", fields_of(attrs));
  return row.call({X, rois}, &attrs, loc);
}
Tensor RoiAlign(const Tensor& X, const Tensor& rois, const Tensor& batch_indices,
    const RoiAlignAttrs& attrs, Loc loc) {
  static const OpRow row("RoiAlign", fields_of(attrs));
  return row.call({X, rois, batch_indices}, &attrs, loc);
}
Tensor BatchNormalization(const Tensor& X, const Tensor& scale, const Tensor& B,
    const Tensor& input_mean, const Tensor& input_var, const BatchNormalizationAttrs& attrs,
    Loc loc) {
  static const OpRow row("BatchNormalization", fields_of(attrs));
  return row.call({X, scale, B, input_mean, input_var}, &attrs, loc);
}
std::vector<Tensor> BatchNormalizationOutputs(size_t outputs, const Tensor& X, const Tensor& scale,
    const Tensor& B, const Tensor& input_mean, const Tensor& input_var,
    const BatchNormalizationAttrs& attrs, Loc loc) {
  static const OpRow row("BatchNormalization", fields_of(attrs));
  return row.call_many({X, scale, B, input_mean, input_var}, &attrs, outputs, loc);
}
Tensor InstanceNormalization(const Tensor& input, const Tensor& scale, const Tensor& B,
    const InstanceNormalizationAttrs& attrs, Loc loc) {
  static const OpRow row("InstanceNormalization", fields_of(attrs));
  return row.call({input, scale, B}, &attrs, loc);
}
Tensor GroupNormalization(const Tensor& X, const Tensor& scale, const Tensor& bias,
    const GroupNormalizationAttrs& attrs, Loc loc) {
  static const OpRow row("GroupNormalization", fields_of(attrs));
  return row.call({X, scale, bias}, &attrs, loc);
}
Tensor MeanVarianceNormalization(const Tensor& X, const MeanVarianceNormalizationAttrs& attrs,
    Loc loc) {
  static const OpRow row("MeanVarianceNormalization", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor LRN(const Tensor& X, const LRNAttrs& attrs, Loc loc) {
  static const OpRow row("LRN", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor LayerNormalization(const Tensor& X, const Tensor& Scale, const Tensor& B,
    const LayerNormalizationAttrs& attrs, Loc loc) {
  static const OpRow row("LayerNormalization", fields_of(attrs));
  return row.call({X, Scale, B}, &attrs, loc);
}
std::vector<Tensor> LayerNormalizationOutputs(size_t outputs, const Tensor& X, const Tensor& Scale,
    const Tensor& B, const LayerNormalizationAttrs& attrs, Loc loc) {
  static const OpRow row("LayerNormalization", fields_of(attrs));
  return row.call_many({X, Scale, B}, &attrs, outputs, loc);
}
Tensor RMSNormalization(const Tensor& X, const Tensor& scale, const RMSNormalizationAttrs& attrs,
    Loc loc) {
  static const OpRow row("RMSNormalization", fields_of(attrs));
  return row.call({X, scale}, &attrs, loc);
}
Tensor LpNormalization(const Tensor& input, const LpNormalizationAttrs& attrs, Loc loc) {
  static const OpRow row("LpNormalization", fields_of(attrs));
  return row.call({input}, &attrs, loc);
}
Tensor DepthToSpace(const Tensor& input, const DepthToSpaceAttrs& attrs, Loc loc) {
  static const OpRow row("DepthToSpace", fields_of(attrs));
  return row.call({input}, &attrs, loc);
}
Tensor SpaceToDepth(const Tensor& input, const SpaceToDepthAttrs& attrs, Loc loc) {
  static const OpRow row("SpaceToDepth", fields_of(attrs));
  return row.call({input}, &attrs, loc);
}
Tensor CenterCropPad(const Tensor& input_data, const Tensor& shape, const CenterCropPadAttrs& attrs,
    Loc loc) {
  static const OpRow row("CenterCropPad", fields_of(attrs));
  return row.call({input_data, shape}, &attrs, loc);
}
Tensor AffineGrid(const Tensor& theta, const Tensor& size, const AffineGridAttrs& attrs, Loc loc) {
  static const OpRow row("AffineGrid", fields_of(attrs));
  return row.call({theta, size}, &attrs, loc);
}
Tensor Resize(const Tensor& X, const Tensor& roi, const Tensor& scales, const Tensor& sizes,
    const ResizeAttrs& attrs, Loc loc) {
  static const OpRow row("Resize", fields_of(attrs));
  return row.call({X, roi, scales, sizes}, &attrs, loc);
}
Tensor GridSample(const Tensor& X, const Tensor& grid, const GridSampleAttrs& attrs, Loc loc) {
  static const OpRow row("GridSample", fields_of(attrs));
  return row.call({X, grid}, &attrs, loc);
}

}  // namespace sardonyx::eager::op
