// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#include "eager/op/arrange.h"

#include "eager/op/arrange_fields.h"
#include "eager/dispatch/op_row.h"

namespace sardonyx::eager::op {

Tensor Shape(const Tensor& data, const ShapeAttrs& attrs, Loc loc) {
  static const OpRow row("Shape", fields_of(attrs));
  return row.call({data}, &attrs, loc);
}
Tensor Size(const Tensor& data, Loc loc) {
  static const OpRow row("Size");
  return row.call({data}, nullptr, loc);
}
Tensor Reshape(const Tensor& data, const Tensor& shape, const ReshapeAttrs& attrs, Loc loc) {
  static const OpRow row("Reshape", fields_of(attrs));
  return row.call({data, shape}, &attrs, loc);
}
Tensor Flatten(const Tensor& input, const FlattenAttrs& attrs, Loc loc) {
  static const OpRow row("Flatten", fields_of(attrs));
  return row.call({input}, &attrs, loc);
}
Tensor Squeeze(const Tensor& data, const Tensor& axes, Loc loc) {
  static const OpRow row("Squeeze");
  return row.call({data, axes}, nullptr, loc);
}
Tensor Unsqueeze(const Tensor& data, const Tensor& axes, Loc loc) {
  static const OpRow row("Unsqueeze");
  return row.call({data, axes}, nullptr, loc);
}
Tensor Transpose(const Tensor& data, const TransposeAttrs& attrs, Loc loc) {
  static const OpRow row("Transpose", fields_of(attrs));
  return row.call({data}, &attrs, loc);
}
Tensor Expand(const Tensor& input, const Tensor& shape, Loc loc) {
  static const OpRow row("Expand");
  return row.call({input, shape}, nullptr, loc);
}
Tensor Identity(const Tensor& input, Loc loc) {
  static const OpRow row("Identity");
  return row.call({input}, nullptr, loc);
}
Tensor Concat(const std::vector<Tensor>& inputs, const ConcatAttrs& attrs, Loc loc) {
  static const OpRow row("Concat", fields_of(attrs));
  return row.call(inputs, &attrs, loc);
}
std::vector<Tensor> Split(size_t outputs, const Tensor& input, const Tensor& split,
    const SplitAttrs& attrs, Loc loc) {
  static const OpRow row("Split", fields_of(attrs));
  return row.call_many({input, split}, &attrs, outputs, loc);
}
Tensor Tile(const Tensor& input, const Tensor& repeats, Loc loc) {
  static const OpRow row("Tile");
  return row.call({input, repeats}, nullptr, loc);
}
Tensor Slice(const Tensor& data, const Tensor& starts, const Tensor& ends, const Tensor& axes,
    const Tensor& steps, Loc loc) {
  static const OpRow row("Slice");
  return row.call({data, starts, ends, axes, steps}, nullptr, loc);
}
Tensor Pad(const Tensor& data, const Tensor& pads, const Tensor& constant_value, const Tensor& axes,
    const PadAttrs& attrs, Loc loc) {
  static const OpRow row("Pad", fields_of(attrs));
  return row.call({data, pads, constant_value, axes}, &attrs, loc);
}
Tensor Gather(const Tensor& data, const Tensor& indices, const GatherAttrs& attrs, Loc loc) {
  static const OpRow row("Gather", fields_of(attrs));
  return row.call({data, indices}, &attrs, loc);
}
Tensor GatherElements(const Tensor& data, const Tensor& indices, const GatherElementsAttrs& attrs,
    Loc loc) {
  static const OpRow row("GatherElements", fields_of(attrs));
  return row.call({data, indices}, &attrs, loc);
}
Tensor GatherND(const Tensor& data, const Tensor& indices, const GatherNDAttrs& attrs, Loc loc) {
  static const OpRow row("GatherND", fields_of(attrs));
  return row.call({data, indices}, &attrs, loc);
}
Tensor OneHot(const Tensor& indices, const Tensor& depth, const Tensor& values,
    const OneHotAttrs& attrs, Loc loc) {
  static const OpRow row("OneHot", fields_of(attrs));
  return row.call({indices, depth, values}, &attrs, loc);
}
Tensor Compress(const Tensor& input, const Tensor& condition, const CompressAttrs& attrs, Loc loc) {
  static const OpRow row("Compress", fields_of(attrs));
  return row.call({input, condition}, &attrs, loc);
}
Tensor ReverseSequence(const Tensor& input, const Tensor& sequence_lens,
    const ReverseSequenceAttrs& attrs, Loc loc) {
  static const OpRow row("ReverseSequence", fields_of(attrs));
  return row.call({input, sequence_lens}, &attrs, loc);
}
Tensor ScatterElements(const Tensor& data, const Tensor& indices, const Tensor& updates,
    const ScatterElementsAttrs& attrs, Loc loc) {
  static const OpRow row("ScatterElements", fields_of(attrs));
  return row.call({data, indices, updates}, &attrs, loc);
}
Tensor ScatterND(const Tensor& data, const Tensor& indices, const Tensor& updates,
    const ScatterNDAttrs& attrs, Loc loc) {
  static const OpRow row("ScatterND", fields_of(attrs));
  return row.call({data, indices, updates}, &attrs, loc);
}
Tensor TensorScatter(const Tensor& past_cache, const Tensor& update, const Tensor& write_indices,
    const TensorScatterAttrs& attrs, Loc loc) {
  static const OpRow row("TensorScatter", fields_of(attrs));
  return row.call({past_cache, update, write_indices}, &attrs, loc);
}
Tensor NonZero(const Tensor& X, Loc loc) {
  static const OpRow row("NonZero");
  return row.call({X}, nullptr, loc);
}
Tensor Unique(const Tensor& X, const UniqueAttrs& attrs, Loc loc) {
  static const OpRow row("Unique", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
std::vector<Tensor> UniqueOutputs(size_t outputs, const Tensor& X, const UniqueAttrs& attrs,
    Loc loc) {
  static const OpRow row("Unique", fields_of(attrs));
  return row.call_many({X}, &attrs, outputs, loc);
}
Tensor NonMaxSuppression(const Tensor& boxes, const Tensor& scores,
    const Tensor& max_output_boxes_per_class, const Tensor& iou_threshold,
    const Tensor& score_threshold, const NonMaxSuppressionAttrs& attrs, Loc loc) {
  static const OpRow row("NonMaxSuppression", fields_of(attrs));
  return row.call({boxes, scores, max_output_boxes_per_class, iou_threshold, score_threshold},
      &attrs, loc);
}
Tensor SequenceAt(const Tensor& input_sequence, const Tensor& position, Loc loc) {
  static const OpRow row("SequenceAt");
  return row.call({input_sequence, position}, nullptr, loc);
}
Tensor SequenceConstruct(const std::vector<Tensor>& inputs, Loc loc) {
  static const OpRow row("SequenceConstruct");
  return row.call(inputs, nullptr, loc);
}
Tensor SequenceEmpty(const SequenceEmptyAttrs& attrs, Loc loc) {
  static const OpRow row("SequenceEmpty", fields_of(attrs));
  return row.call({}, &attrs, loc);
}
Tensor SequenceErase(const Tensor& input_sequence, const Tensor& position, Loc loc) {
  static const OpRow row("SequenceErase");
  return row.call({input_sequence, position}, nullptr, loc);
}
Tensor SequenceInsert(const Tensor& input_sequence, const Tensor& tensor, const Tensor& position,
    Loc loc) {
  static const OpRow row("SequenceInsert");
  return row.call({input_sequence, tensor, position}, nullptr, loc);
}
Tensor SequenceLength(const Tensor& input_sequence, Loc loc) {
  static const OpRow row("SequenceLength");
  return row.call({input_sequence}, nullptr, loc);
}
Tensor ConcatFromSequence(const Tensor& input_sequence, const ConcatFromSequenceAttrs& attrs,
    Loc loc) {
  static const OpRow row("ConcatFromSequence", fields_of(attrs));
  return row.call({input_sequence}, &attrs, loc);
}
Tensor SplitToSequence(const Tensor& input, const Tensor& split, const SplitToSequenceAttrs& attrs,
    Loc loc) {
  static const OpRow row("SplitToSequence", fields_of(attrs));
  return row.call({input, split}, &attrs, loc);
}
Tensor Optional(const Tensor& input, const OptionalAttrs& attrs, Loc loc) {
  static const OpRow row("Optional", fields_of(attrs));
  return row.call({input}, &attrs, loc);
}
Tensor OptionalGetElement(const Tensor& input, Loc loc) {
  static const OpRow row("OptionalGetElement");
  return row.call({input}, nullptr, loc);
}
Tensor OptionalHasElement(const Tensor& input, Loc loc) {
  static const OpRow row("OptionalHasElement");
  return row.call({input}, nullptr, loc);
}

}  // namespace sardonyx::eager::op
