// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#include "eager/op/generate.h"

#include "eager/op/generate_fields.h"
#include "eager/dispatch/op_row.h"

namespace sardonyx::eager::op {

Tensor Constant(const ConstantAttrs& attrs, Loc loc) {
  static const OpRow row("Constant", fields_of(attrs));
  return row.call({}, &attrs, loc);
}
Tensor ConstantOfShape(const Tensor& input, const ConstantOfShapeAttrs& attrs, Loc loc) {
  static const OpRow row("ConstantOfShape", fields_of(attrs));
  return row.call({input}, &attrs, loc);
}
Tensor Range(const Tensor& start, const Tensor& limit, const Tensor& delta, const RangeAttrs& attrs,
    Loc loc) {
  static const OpRow row("Range", fields_of(attrs));
  return row.call({start, limit, delta}, &attrs, loc);
}
Tensor EyeLike(const Tensor& input, const EyeLikeAttrs& attrs, Loc loc) {
  static const OpRow row("EyeLike", fields_of(attrs));
  return row.call({input}, &attrs, loc);
}
Tensor BlackmanWindow(const Tensor& size, const BlackmanWindowAttrs& attrs, Loc loc) {
  static const OpRow row("BlackmanWindow", fields_of(attrs));
  return row.call({size}, &attrs, loc);
}
Tensor HammingWindow(const Tensor& size, const HammingWindowAttrs& attrs, Loc loc) {
  static const OpRow row("HammingWindow", fields_of(attrs));
  return row.call({size}, &attrs, loc);
}
Tensor HannWindow(const Tensor& size, const HannWindowAttrs& attrs, Loc loc) {
  static const OpRow row("HannWindow", fields_of(attrs));
  return row.call({size}, &attrs, loc);
}
Tensor RandomNormal(const RandomNormalAttrs& attrs, Loc loc) {
  static const OpRow row("RandomNormal", fields_of(attrs));
  return row.call({}, &attrs, loc);
}
Tensor RandomUniform(const RandomUniformAttrs& attrs, Loc loc) {
  static const OpRow row("RandomUniform", fields_of(attrs));
  return row.call({}, &attrs, loc);
}
Tensor RandomNormalLike(const Tensor& input, const RandomNormalLikeAttrs& attrs, Loc loc) {
  static const OpRow row("RandomNormalLike", fields_of(attrs));
  return row.call({input}, &attrs, loc);
}
Tensor RandomUniformLike(const Tensor& input, const RandomUniformLikeAttrs& attrs, Loc loc) {
  static const OpRow row("RandomUniformLike", fields_of(attrs));
  return row.call({input}, &attrs, loc);
}
Tensor Bernoulli(const Tensor& input, const BernoulliAttrs& attrs, Loc loc) {
  static const OpRow row("Bernoulli", fields_of(attrs));
  return row.call({input}, &attrs, loc);
}
Tensor Multinomial(const Tensor& input, const MultinomialAttrs& attrs, Loc loc) {
  static const OpRow row("Multinomial", fields_of(attrs));
  return row.call({input}, &attrs, loc);
}
Tensor DFT(const Tensor& input, const Tensor& dft_length, const Tensor& axis, const DFTAttrs& attrs,
    Loc loc) {
  static const OpRow row("DFT", fields_of(attrs));
  return row.call({input, dft_length, axis}, &attrs, loc);
}
Tensor STFT(const Tensor& signal, const Tensor& frame_step, const Tensor& window,
    const Tensor& frame_length, const STFTAttrs& attrs, Loc loc) {
  static const OpRow row("STFT", fields_of(attrs));
  return row.call({signal, frame_step, window, frame_length}, &attrs, loc);
}
Tensor MelWeightMatrix(const Tensor& num_mel_bins, const Tensor& dft_length,
    const Tensor& sample_rate, const Tensor& lower_edge_hertz, const Tensor& upper_edge_hertz,
    const MelWeightMatrixAttrs& attrs, Loc loc) {
  static const OpRow row("MelWeightMatrix", fields_of(attrs));
  return row.call({num_mel_bins, dft_length, sample_rate, lower_edge_hertz, upper_edge_hertz},
      &attrs, loc);
}
namespace training {

std::vector<Tensor> Adagrad(size_t outputs, const Tensor& R, const Tensor& T,
    const std::vector<Tensor>& inputs, const AdagradAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.preview.training::Adagrad", fields_of(attrs));
  return row.call_many(joined({R, T}, inputs), &attrs, outputs, loc);
}
std::vector<Tensor> Adam(size_t outputs, const Tensor& R, const Tensor& T,
    const std::vector<Tensor>& inputs, const AdamAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.preview.training::Adam", fields_of(attrs));
  return row.call_many(joined({R, T}, inputs), &attrs, outputs, loc);
}
std::vector<Tensor> Momentum(size_t outputs, const Tensor& R, const Tensor& T,
    const std::vector<Tensor>& inputs, const MomentumAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.preview.training::Momentum", fields_of(attrs));
  return row.call_many(joined({R, T}, inputs), &attrs, outputs, loc);
}

}  // namespace training


}  // namespace sardonyx::eager::op
