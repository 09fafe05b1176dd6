// The fields of the attributes, for conversions.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op/generate.h"

namespace sardonyx::eager::op {

template <typename F>
void each_field(const ConstantAttrs*, F&& field) {
  field("sparse_value", &ConstantAttrs::sparse_value);
  field("value", &ConstantAttrs::value);
  field("value_float", &ConstantAttrs::value_float);
  field("value_floats", &ConstantAttrs::value_floats);
  field("value_int", &ConstantAttrs::value_int);
  field("value_ints", &ConstantAttrs::value_ints);
  field("value_string", &ConstantAttrs::value_string);
  field("value_strings", &ConstantAttrs::value_strings);
}
template <typename F>
void each_field(const ConstantOfShapeAttrs*, F&& field) {
  field("value", &ConstantOfShapeAttrs::value);
}
template <typename F>
void each_field(const RangeAttrs*, F&& field) {
  field("stash_type", &RangeAttrs::stash_type);
}
template <typename F>
void each_field(const EyeLikeAttrs*, F&& field) {
  field("dtype", &EyeLikeAttrs::dtype);
  field("k", &EyeLikeAttrs::k);
}
template <typename F>
void each_field(const BlackmanWindowAttrs*, F&& field) {
  field("output_datatype", &BlackmanWindowAttrs::output_datatype);
  field("periodic", &BlackmanWindowAttrs::periodic);
}
template <typename F>
void each_field(const HammingWindowAttrs*, F&& field) {
  field("output_datatype", &HammingWindowAttrs::output_datatype);
  field("periodic", &HammingWindowAttrs::periodic);
}
template <typename F>
void each_field(const HannWindowAttrs*, F&& field) {
  field("output_datatype", &HannWindowAttrs::output_datatype);
  field("periodic", &HannWindowAttrs::periodic);
}
template <typename F>
void each_field(const RandomNormalAttrs*, F&& field) {
  field("dtype", &RandomNormalAttrs::dtype);
  field("mean", &RandomNormalAttrs::mean);
  field("scale", &RandomNormalAttrs::scale);
  field("seed", &RandomNormalAttrs::seed);
  field("shape", &RandomNormalAttrs::shape);
}
template <typename F>
void each_field(const RandomUniformAttrs*, F&& field) {
  field("dtype", &RandomUniformAttrs::dtype);
  field("high", &RandomUniformAttrs::high);
  field("low", &RandomUniformAttrs::low);
  field("seed", &RandomUniformAttrs::seed);
  field("shape", &RandomUniformAttrs::shape);
}
template <typename F>
void each_field(const RandomNormalLikeAttrs*, F&& field) {
  field("dtype", &RandomNormalLikeAttrs::dtype);
  field("mean", &RandomNormalLikeAttrs::mean);
  field("scale", &RandomNormalLikeAttrs::scale);
  field("seed", &RandomNormalLikeAttrs::seed);
}
template <typename F>
void each_field(const RandomUniformLikeAttrs*, F&& field) {
  field("dtype", &RandomUniformLikeAttrs::dtype);
  field("high", &RandomUniformLikeAttrs::high);
  field("low", &RandomUniformLikeAttrs::low);
  field("seed", &RandomUniformLikeAttrs::seed);
}
template <typename F>
void each_field(const BernoulliAttrs*, F&& field) {
  field("dtype", &BernoulliAttrs::dtype);
  field("seed", &BernoulliAttrs::seed);
}
template <typename F>
void each_field(const MultinomialAttrs*, F&& field) {
  field("dtype", &MultinomialAttrs::dtype);
  field("sample_size", &MultinomialAttrs::sample_size);
  field("seed", &MultinomialAttrs::seed);
}
template <typename F>
void each_field(const DFTAttrs*, F&& field) {
  field("inverse", &DFTAttrs::inverse);
  field("onesided", &DFTAttrs::onesided);
}
template <typename F>
void each_field(const STFTAttrs*, F&& field) {
  field("onesided", &STFTAttrs::onesided);
}
template <typename F>
void each_field(const MelWeightMatrixAttrs*, F&& field) {
  field("output_datatype", &MelWeightMatrixAttrs::output_datatype);
}
namespace training {

template <typename F>
void each_field(const AdagradAttrs*, F&& field) {
  field("decay_factor", &AdagradAttrs::decay_factor);
  field("epsilon", &AdagradAttrs::epsilon);
  field("norm_coefficient", &AdagradAttrs::norm_coefficient);
}
template <typename F>
void each_field(const AdamAttrs*, F&& field) {
  field("alpha", &AdamAttrs::alpha);
  field("beta", &AdamAttrs::beta);
  field("epsilon", &AdamAttrs::epsilon);
  field("norm_coefficient", &AdamAttrs::norm_coefficient);
  field("norm_coefficient_post", &AdamAttrs::norm_coefficient_post);
}
template <typename F>
void each_field(const MomentumAttrs*, F&& field) {
  field("alpha", &MomentumAttrs::alpha);
  field("beta", &MomentumAttrs::beta);
  field("mode", &MomentumAttrs::mode);
  field("norm_coefficient", &MomentumAttrs::norm_coefficient);
}

}  // namespace training


}  // namespace sardonyx::eager::op
