// Ops that move elements, and sequences and optionals of tensors.
// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#pragma once

#include "eager/op_types.h"

namespace sardonyx::eager::op {

struct ShapeAttrs {
  int64_t start = 0;
  std::optional<int64_t> end = {};
};
// (data: T) -> (shape: T1)
Tensor Shape(const Tensor& data, const ShapeAttrs& attrs = {}, Loc loc = Loc::current());

// (data: T) -> (size: T1)
Tensor Size(const Tensor& data, Loc loc = Loc::current());

struct ReshapeAttrs {
  int64_t allowzero = 0;
};
// (data: T, shape: int64) -> (reshaped: T)
Tensor Reshape(const Tensor& data, const Tensor& shape, const ReshapeAttrs& attrs = {},
    Loc loc = Loc::current());

struct FlattenAttrs {
  int64_t axis = 1;
};
// (input: T) -> (output: T)
Tensor Flatten(const Tensor& input, const FlattenAttrs& attrs = {}, Loc loc = Loc::current());

// (data: T, axes?: int64) -> (squeezed: T)
Tensor Squeeze(const Tensor& data, const Tensor& axes = {}, Loc loc = Loc::current());

// (data: T, axes: int64) -> (expanded: T)
Tensor Unsqueeze(const Tensor& data, const Tensor& axes, Loc loc = Loc::current());

struct TransposeAttrs {
  OptionalList<int64_t> perm = {};
};
// (data: T) -> (transposed: T)
Tensor Transpose(const Tensor& data, const TransposeAttrs& attrs = {}, Loc loc = Loc::current());

// (input: T, shape: int64) -> (output: T)
Tensor Expand(const Tensor& input, const Tensor& shape, Loc loc = Loc::current());

// (input: V) -> (output: V)
Tensor Identity(const Tensor& input, Loc loc = Loc::current());

struct ConcatAttrs {
  std::optional<int64_t> axis = {};  // required
};
// (inputs...: T) -> (concat_result: T)
Tensor Concat(const std::vector<Tensor>& inputs, const ConcatAttrs& attrs,
    Loc loc = Loc::current());

struct SplitAttrs {
  int64_t axis = 0;
  std::optional<int64_t> num_outputs = {};
};
// (input: T, split?: int64) -> (outputs...: T)
std::vector<Tensor> Split(size_t outputs, const Tensor& input, const Tensor& split = {},
    const SplitAttrs& attrs = {}, Loc loc = Loc::current());

// (input: T, repeats: T1) -> (output: T)
Tensor Tile(const Tensor& input, const Tensor& repeats, Loc loc = Loc::current());

// (data: T, starts: Tind, ends: Tind, axes?: Tind, steps?: Tind) -> (output: T)
Tensor Slice(const Tensor& data, const Tensor& starts, const Tensor& ends, const Tensor& axes = {},
    const Tensor& steps = {}, Loc loc = Loc::current());

struct PadAttrs {
  std::string mode = "constant";
};
// (data: T, pads: int64, constant_value?: T, axes?: Tind) -> (output: T)
Tensor Pad(const Tensor& data, const Tensor& pads, const Tensor& constant_value = {},
    const Tensor& axes = {}, const PadAttrs& attrs = {}, Loc loc = Loc::current());

struct GatherAttrs {
  int64_t axis = 0;
};
// (data: T, indices: Tind) -> (output: T)
Tensor Gather(const Tensor& data, const Tensor& indices, const GatherAttrs& attrs = {},
    Loc loc = Loc::current());

struct GatherElementsAttrs {
  int64_t axis = 0;
};
// (data: T, indices: Tind) -> (output: T)
Tensor GatherElements(const Tensor& data, const Tensor& indices,
    const GatherElementsAttrs& attrs = {}, Loc loc = Loc::current());

struct GatherNDAttrs {
  int64_t batch_dims = 0;
};
// (data: T, indices: int64) -> (output: T)
Tensor GatherND(const Tensor& data, const Tensor& indices, const GatherNDAttrs& attrs = {},
    Loc loc = Loc::current());

struct OneHotAttrs {
  int64_t axis = -1;
};
// (indices: T1, depth: T2, values: T3) -> (output: T3)
Tensor OneHot(const Tensor& indices, const Tensor& depth, const Tensor& values,
    const OneHotAttrs& attrs = {}, Loc loc = Loc::current());

struct CompressAttrs {
  std::optional<int64_t> axis = {};
};
// (input: T, condition: T1) -> (output: T)
Tensor Compress(const Tensor& input, const Tensor& condition, const CompressAttrs& attrs = {},
    Loc loc = Loc::current());

struct ReverseSequenceAttrs {
  int64_t batch_axis = 1;
  int64_t time_axis = 0;
};
// (input: T, sequence_lens: int64) -> (Y: T)
Tensor ReverseSequence(const Tensor& input, const Tensor& sequence_lens,
    const ReverseSequenceAttrs& attrs = {}, Loc loc = Loc::current());

struct ScatterElementsAttrs {
  int64_t axis = 0;
  std::string reduction = "none";
};
// (data: T, indices: Tind, updates: T) -> (output: T)
Tensor ScatterElements(const Tensor& data, const Tensor& indices, const Tensor& updates,
    const ScatterElementsAttrs& attrs = {}, Loc loc = Loc::current());

struct ScatterNDAttrs {
  std::string reduction = "none";
};
// (data: T, indices: int64, updates: T) -> (output: T)
Tensor ScatterND(const Tensor& data, const Tensor& indices, const Tensor& updates,
    const ScatterNDAttrs& attrs = {}, Loc loc = Loc::current());

struct TensorScatterAttrs {
  int64_t axis = -2;
  std::string mode = "linear";
};
// (past_cache: T, update: T, write_indices?: int64) -> (present_cache: T)
Tensor TensorScatter(const Tensor& past_cache, const Tensor& update,
    const Tensor& write_indices = {}, const TensorScatterAttrs& attrs = {},
    Loc loc = Loc::current());

// (X: T) -> (Y: int64)
Tensor NonZero(const Tensor& X, Loc loc = Loc::current());

struct UniqueAttrs {
  std::optional<int64_t> axis = {};
  int64_t sorted = 1;
};
// (X: T) -> (Y: T, indices?: int64, inverse_indices?: int64, counts?: int64)
Tensor Unique(const Tensor& X, const UniqueAttrs& attrs = {}, Loc loc = Loc::current());
std::vector<Tensor> UniqueOutputs(size_t outputs, const Tensor& X, const UniqueAttrs& attrs = {},
    Loc loc = Loc::current());

struct NonMaxSuppressionAttrs {
  int64_t center_point_box = 0;
};
// (boxes: float, scores: float, max_output_boxes_per_class?: int64, iou_threshold?: float,
//   score_threshold?: float) -> (selected_indices: int64)
Tensor NonMaxSuppression(const Tensor& boxes, const Tensor& scores,
    const Tensor& max_output_boxes_per_class = {}, const Tensor& iou_threshold = {},
    const Tensor& score_threshold = {}, const NonMaxSuppressionAttrs& attrs = {},
    Loc loc = Loc::current());

// (input_sequence: S, position: I) -> (tensor: T)
Tensor SequenceAt(const Tensor& input_sequence, const Tensor& position, Loc loc = Loc::current());

// (inputs...: T) -> (output_sequence: S)
Tensor SequenceConstruct(const std::vector<Tensor>& inputs, Loc loc = Loc::current());

struct SequenceEmptyAttrs {
  std::optional<DType> dtype = {};
};
// () -> (output: S)
Tensor SequenceEmpty(const SequenceEmptyAttrs& attrs = {}, Loc loc = Loc::current());

// (input_sequence: S, position?: I) -> (output_sequence: S)
Tensor SequenceErase(const Tensor& input_sequence, const Tensor& position = {},
    Loc loc = Loc::current());

// (input_sequence: S, tensor: T, position?: I) -> (output_sequence: S)
Tensor SequenceInsert(const Tensor& input_sequence, const Tensor& tensor,
    const Tensor& position = {}, Loc loc = Loc::current());

// (input_sequence: S) -> (length: I)
Tensor SequenceLength(const Tensor& input_sequence, Loc loc = Loc::current());

struct ConcatFromSequenceAttrs {
  std::optional<int64_t> axis = {};  // required
  int64_t new_axis = 0;
};
// (input_sequence: S) -> (concat_result: T)
Tensor ConcatFromSequence(const Tensor& input_sequence, const ConcatFromSequenceAttrs& attrs,
    Loc loc = Loc::current());

struct SplitToSequenceAttrs {
  int64_t axis = 0;
  int64_t keepdims = 1;
};
// (input: T, split?: I) -> (output_sequence: S)
Tensor SplitToSequence(const Tensor& input, const Tensor& split = {},
    const SplitToSequenceAttrs& attrs = {}, Loc loc = Loc::current());

struct OptionalAttrs {
  std::optional<Type> type = {};
};
// (input?: V) -> (output: O)
Tensor Optional(const Tensor& input = {}, const OptionalAttrs& attrs = {},
    Loc loc = Loc::current());

// (input: O) -> (output: V)
Tensor OptionalGetElement(const Tensor& input, Loc loc = Loc::current());

// (input?: O) -> (output: B)
Tensor OptionalHasElement(const Tensor& input = {}, Loc loc = Loc::current());


}  // namespace sardonyx::eager::op
