// The fields of the attributes, for conversions.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op/math.h"

namespace sardonyx::eager::op {

template <typename F>
void each_field(const ModAttrs*, F&& field) {
  field("fmod", &ModAttrs::fmod);
}
template <typename F>
void each_field(const BitShiftAttrs*, F&& field) {
  field("direction", &BitShiftAttrs::direction);
}
template <typename F>
void each_field(const IsInfAttrs*, F&& field) {
  field("detect_negative", &IsInfAttrs::detect_negative);
  field("detect_positive", &IsInfAttrs::detect_positive);
}
template <typename F>
void each_field(const LeakyReluAttrs*, F&& field) {
  field("alpha", &LeakyReluAttrs::alpha);
}
template <typename F>
void each_field(const EluAttrs*, F&& field) {
  field("alpha", &EluAttrs::alpha);
}
template <typename F>
void each_field(const SeluAttrs*, F&& field) {
  field("alpha", &SeluAttrs::alpha);
  field("gamma", &SeluAttrs::gamma);
}
template <typename F>
void each_field(const CeluAttrs*, F&& field) {
  field("alpha", &CeluAttrs::alpha);
}
template <typename F>
void each_field(const HardSigmoidAttrs*, F&& field) {
  field("alpha", &HardSigmoidAttrs::alpha);
  field("beta", &HardSigmoidAttrs::beta);
}
template <typename F>
void each_field(const ThresholdedReluAttrs*, F&& field) {
  field("alpha", &ThresholdedReluAttrs::alpha);
}
template <typename F>
void each_field(const GeluAttrs*, F&& field) {
  field("approximate", &GeluAttrs::approximate);
}
template <typename F>
void each_field(const SwishAttrs*, F&& field) {
  field("alpha", &SwishAttrs::alpha);
}
template <typename F>
void each_field(const ShrinkAttrs*, F&& field) {
  field("bias", &ShrinkAttrs::bias);
  field("lambd", &ShrinkAttrs::lambd);
}
template <typename F>
void each_field(const DropoutAttrs*, F&& field) {
  field("seed", &DropoutAttrs::seed);
}
template <typename F>
void each_field(const CastAttrs*, F&& field) {
  field("round_mode", &CastAttrs::round_mode);
  field("saturate", &CastAttrs::saturate);
  field("to", &CastAttrs::to);
}
template <typename F>
void each_field(const CastLikeAttrs*, F&& field) {
  field("round_mode", &CastLikeAttrs::round_mode);
  field("saturate", &CastLikeAttrs::saturate);
}
template <typename F>
void each_field(const BitCastAttrs*, F&& field) {
  field("to", &BitCastAttrs::to);
}
template <typename F>
void each_field(const QuantizeLinearAttrs*, F&& field) {
  field("axis", &QuantizeLinearAttrs::axis);
  field("block_size", &QuantizeLinearAttrs::block_size);
  field("output_dtype", &QuantizeLinearAttrs::output_dtype);
  field("precision", &QuantizeLinearAttrs::precision);
  field("saturate", &QuantizeLinearAttrs::saturate);
}
template <typename F>
void each_field(const DequantizeLinearAttrs*, F&& field) {
  field("axis", &DequantizeLinearAttrs::axis);
  field("block_size", &DequantizeLinearAttrs::block_size);
  field("output_dtype", &DequantizeLinearAttrs::output_dtype);
}

}  // namespace sardonyx::eager::op
