// The fields of the attributes, for conversions.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op/arrange.h"

namespace sardonyx::eager::op {

template <typename F>
void each_field(const ShapeAttrs*, F&& field) {
  field("start", &ShapeAttrs::start);
  field("end", &ShapeAttrs::end);
}
template <typename F>
void each_field(const ReshapeAttrs*, F&& field) {
  field("allowzero", &ReshapeAttrs::allowzero);
}
template <typename F>
void each_field(const FlattenAttrs*, F&& field) {
  field("axis", &FlattenAttrs::axis);
}
template <typename F>
void each_field(const TransposeAttrs*, F&& field) {
  field("perm", &TransposeAttrs::perm);
}
template <typename F>
void each_field(const ConcatAttrs*, F&& field) {
  field("axis", &ConcatAttrs::axis);
}
template <typename F>
void each_field(const SplitAttrs*, F&& field) {
  field("axis", &SplitAttrs::axis);
  field("num_outputs", &SplitAttrs::num_outputs);
}
template <typename F>
void each_field(const PadAttrs*, F&& field) {
  field("mode", &PadAttrs::mode);
}
template <typename F>
void each_field(const GatherAttrs*, F&& field) {
  field("axis", &GatherAttrs::axis);
}
template <typename F>
void each_field(const GatherElementsAttrs*, F&& field) {
  field("axis", &GatherElementsAttrs::axis);
}
template <typename F>
void each_field(const GatherNDAttrs*, F&& field) {
  field("batch_dims", &GatherNDAttrs::batch_dims);
}
template <typename F>
void each_field(const OneHotAttrs*, F&& field) {
  field("axis", &OneHotAttrs::axis);
}
template <typename F>
void each_field(const CompressAttrs*, F&& field) {
  field("axis", &CompressAttrs::axis);
}
template <typename F>
void each_field(const ReverseSequenceAttrs*, F&& field) {
  field("batch_axis", &ReverseSequenceAttrs::batch_axis);
  field("time_axis", &ReverseSequenceAttrs::time_axis);
}
template <typename F>
void each_field(const ScatterElementsAttrs*, F&& field) {
  field("axis", &ScatterElementsAttrs::axis);
  field("reduction", &ScatterElementsAttrs::reduction);
}
template <typename F>
void each_field(const ScatterNDAttrs*, F&& field) {
  field("reduction", &ScatterNDAttrs::reduction);
}
template <typename F>
void each_field(const TensorScatterAttrs*, F&& field) {
  field("axis", &TensorScatterAttrs::axis);
  field("mode", &TensorScatterAttrs::mode);
}
template <typename F>
void each_field(const UniqueAttrs*, F&& field) {
  field("axis", &UniqueAttrs::axis);
  field("sorted", &UniqueAttrs::sorted);
}
template <typename F>
void each_field(const NonMaxSuppressionAttrs*, F&& field) {
  field("center_point_box", &NonMaxSuppressionAttrs::center_point_box);
}
template <typename F>
void each_field(const SequenceEmptyAttrs*, F&& field) {
  field("dtype", &SequenceEmptyAttrs::dtype);
}
template <typename F>
void each_field(const ConcatFromSequenceAttrs*, F&& field) {
  field("axis", &ConcatFromSequenceAttrs::axis);
  field("new_axis", &ConcatFromSequenceAttrs::new_axis);
}
template <typename F>
void each_field(const SplitToSequenceAttrs*, F&& field) {
  field("axis", &SplitToSequenceAttrs::axis);
  field("keepdims", &SplitToSequenceAttrs::keepdims);
}
template <typename F>
void each_field(const OptionalAttrs*, F&& field) {
  field("type", &OptionalAttrs::type);
}

}  // namespace sardonyx::eager::op
