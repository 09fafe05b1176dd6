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
// The sizes of the axes from `start` to `end`: int64, rank 1.
// (data: T) -> (shape: T1); T: any; T1: int64
Tensor Shape(const Tensor& data, const ShapeAttrs& attrs = {}, Loc loc = Loc::current());

// The number of elements: int64, rank 0.
// (data: T) -> (size: T1); T: any; T1: int64
Tensor Size(const Tensor& data, Loc loc = Loc::current());

struct ReshapeAttrs {
  int64_t allowzero = 0;
};
// The elements in another shape: 0 keeps an axis's size (unless allowzero), one -1 is what is left.
// (data: T, shape: int64) -> (reshaped: T); T: any
Tensor Reshape(const Tensor& data, const Tensor& shape, const ReshapeAttrs& attrs = {},
    Loc loc = Loc::current());

struct FlattenAttrs {
  int64_t axis = 1;
};
// A matrix: the axes before `axis` as rows, those from it on as columns.
// (input: T) -> (output: T); T: any
Tensor Flatten(const Tensor& input, const FlattenAttrs& attrs = {}, Loc loc = Loc::current());

// Without the axes of size 1 that are listed, or all such.
// (data: T, axes?: int64) -> (squeezed: T); T: any
Tensor Squeeze(const Tensor& data, const Tensor& axes = {}, Loc loc = Loc::current());

// With axes of size 1 at the places of the result that are listed.
// (data: T, axes: int64) -> (expanded: T); T: any
Tensor Unsqueeze(const Tensor& data, const Tensor& axes, Loc loc = Loc::current());

struct TransposeAttrs {
  OptionalList<int64_t> perm = {};
};
// The axes in the order `perm`, reversed where none is given.
// (data: T) -> (transposed: T); T: any
Tensor Transpose(const Tensor& data, const TransposeAttrs& attrs = {}, Loc loc = Loc::current());

// Broadcast to the shape that is the common one of the input's and the given.
// (input: T, shape: int64) -> (output: T); T: integers, floats, complex, string, bool
Tensor Expand(const Tensor& input, const Tensor& shape, Loc loc = Loc::current());

// The input itself.
// (input: V) -> (output: V); V: any
Tensor Identity(const Tensor& input, Loc loc = Loc::current());

struct ConcatAttrs {
  std::optional<int64_t> axis = {};  // required
};
// The tensors one behind another along `axis`; their other sizes must agree.
// (inputs...: T) -> (concat_result: T); T: integers, floats, complex, string, bool
Tensor Concat(const std::vector<Tensor>& inputs, const ConcatAttrs& attrs,
    Loc loc = Loc::current());

struct SplitAttrs {
  int64_t axis = 0;
  std::optional<int64_t> num_outputs = {};
};
// Parts along `axis`: of the sizes that are listed, or num_outputs of equal ones with a smaller
// last.
// (input: T, split?: int64) -> (outputs...: T); T: integers, floats, complex, string, bool
std::vector<Tensor> Split(size_t outputs, const Tensor& input, const Tensor& split = {},
    const SplitAttrs& attrs = {}, Loc loc = Loc::current());

// The input repeated as often along each axis as `repeats` lists.
// (input: T, repeats: T1) -> (output: T); T: integers, floats, complex, string, bool; T1: int64
Tensor Tile(const Tensor& input, const Tensor& repeats, Loc loc = Loc::current());

// Every `steps`-th element from `starts` to `ends`, for `axes`; negative counts from the end.
// (data: T, starts: Tind, ends: Tind, axes?: Tind, steps?: Tind) -> (output: T); T: integers,
//   floats, complex, string, bool; Tind: int32, int64
Tensor Slice(const Tensor& data, const Tensor& starts, const Tensor& ends, const Tensor& axes = {},
    const Tensor& steps = {}, Loc loc = Loc::current());

struct PadAttrs {
  std::string mode = "constant";
};
// More or fewer elements at the begin and end of each axis: a constant, the edge's, reflected or
// wrapped ones.
// (data: T, pads: int64, constant_value?: T, axes?: Tind) -> (output: T); T: any; Tind: int32,
//   int64
Tensor Pad(const Tensor& data, const Tensor& pads, const Tensor& constant_value = {},
    const Tensor& axes = {}, const PadAttrs& attrs = {}, Loc loc = Loc::current());

struct GatherAttrs {
  int64_t axis = 0;
};
// The slices of `data` along `axis` at these indices: the axis becomes the indices' axes. Negative
// counts from the end, beyond is refused.
// (data: T, indices: Tind) -> (output: T); T: integers, floats, complex, string, bool; Tind: int32,
//   int64
Tensor Gather(const Tensor& data, const Tensor& indices, const GatherAttrs& attrs = {},
    Loc loc = Loc::current());

struct GatherElementsAttrs {
  int64_t axis = 0;
};
// data at the index that `indices` has along `axis`, in the shape of the indices.
// (data: T, indices: Tind) -> (output: T); T: integers, floats, complex, string, bool; Tind: int32,
//   int64
Tensor GatherElements(const Tensor& data, const Tensor& indices,
    const GatherElementsAttrs& attrs = {}, Loc loc = Loc::current());

struct GatherNDAttrs {
  int64_t batch_dims = 0;
};
// The slices of `data` at tuples of indices, the last axis of `indices`, behind batch_dims axes in
// common.
// (data: T, indices: int64) -> (output: T); T: integers, floats, complex, string, bool
Tensor GatherND(const Tensor& data, const Tensor& indices, const GatherNDAttrs& attrs = {},
    Loc loc = Loc::current());

struct OneHotAttrs {
  int64_t axis = -1;
};
// values[1] at the index along a new axis of length depth, else values[0].
// (indices: T1, depth: T2, values: T3) -> (output: T3); T1: integers, float, float16, double; T2:
//   integers, float, float16, double; T3: integers, complex, float, string, bool, float16, double
Tensor OneHot(const Tensor& indices, const Tensor& depth, const Tensor& values,
    const OneHotAttrs& attrs = {}, Loc loc = Loc::current());

struct CompressAttrs {
  std::optional<int64_t> axis = {};
};
// The slices along `axis` whose condition is true; of all elements in a row where no axis is given.
// (input: T, condition: T1) -> (output: T); T: integers, complex, float, string, bool, float16,
//   double; T1: bool
Tensor Compress(const Tensor& input, const Tensor& condition, const CompressAttrs& attrs = {},
    Loc loc = Loc::current());

struct ReverseSequenceAttrs {
  int64_t batch_axis = 1;
  int64_t time_axis = 0;
};
// The first sequence_lens[b] elements along time_axis in reverse, for each b of batch_axis.
// (input: T, sequence_lens: int64) -> (Y: T); T: integers, complex, float, string, bool, float16,
//   double
Tensor ReverseSequence(const Tensor& input, const Tensor& sequence_lens,
    const ReverseSequenceAttrs& attrs = {}, Loc loc = Loc::current());

struct ScatterElementsAttrs {
  int64_t axis = 0;
  std::string reduction = "none";
};
// A copy of `data` with the updates at the index that `indices` has along `axis`, put or combined
// as `reduction` says.
// (data: T, indices: Tind, updates: T) -> (output: T); T: integers, floats, complex, string, bool;
//   Tind: int32, int64
Tensor ScatterElements(const Tensor& data, const Tensor& indices, const Tensor& updates,
    const ScatterElementsAttrs& attrs = {}, Loc loc = Loc::current());

struct ScatterNDAttrs {
  std::string reduction = "none";
};
// A copy of `data` with the updates at tuples of indices, put or combined as `reduction` says.
// (data: T, indices: int64, updates: T) -> (output: T); T: integers, floats, complex, string, bool
Tensor ScatterND(const Tensor& data, const Tensor& indices, const Tensor& updates,
    const ScatterNDAttrs& attrs = {}, Loc loc = Loc::current());

struct TensorScatterAttrs {
  int64_t axis = -2;
  std::string mode = "linear";
};
// The cache with the update written along `axis` from write_indices[batch] on, around its end in
// circular mode.
// (past_cache: T, update: T, write_indices?: int64) -> (present_cache: T); T: integers, floats,
//   complex, 8-bit floats, string, bool, uint4, int4, float4e2m1, float8e8m0
Tensor TensorScatter(const Tensor& past_cache, const Tensor& update,
    const Tensor& write_indices = {}, const TensorScatterAttrs& attrs = {},
    Loc loc = Loc::current());

// The indices of the elements that are not zero: int64 [rank, count].
// (X: T) -> (Y: int64); T: integers, floats, complex, string, bool
Tensor NonZero(const Tensor& X, Loc loc = Loc::current());

struct UniqueAttrs {
  std::optional<int64_t> axis = {};
  int64_t sorted = 1;
};
// The distinct elements, or slices along `axis`, sorted or in the order of the first; with first
// indices, inverse and counts.
// (X: T) -> (Y: T, indices?: int64, inverse_indices?: int64, counts?: int64); T: integers, complex,
//   float, string, bool, float16, double
Tensor Unique(const Tensor& X, const UniqueAttrs& attrs = {}, Loc loc = Loc::current());
std::vector<Tensor> UniqueOutputs(size_t outputs, const Tensor& X, const UniqueAttrs& attrs = {},
    Loc loc = Loc::current());

struct NonMaxSuppressionAttrs {
  int64_t center_point_box = 0;
};
// The boxes [batch, count, 4] that are kept, best scores [batch, classes, count] first, where they
// overlap others by no more than the threshold: [kept, 3] of batch, class and box.
// (boxes: float, scores: float, max_output_boxes_per_class?: int64, iou_threshold?: float,
//   score_threshold?: float) -> (selected_indices: int64)
Tensor NonMaxSuppression(const Tensor& boxes, const Tensor& scores,
    const Tensor& max_output_boxes_per_class = {}, const Tensor& iou_threshold = {},
    const Tensor& score_threshold = {}, const NonMaxSuppressionAttrs& attrs = {},
    Loc loc = Loc::current());

// The tensor at a position of a sequence; negative counts from the end.
// (input_sequence: S, position: I) -> (tensor: T); I: int32, int64; T: integers, complex, float,
//   string, bool, float16, double
Tensor SequenceAt(const Tensor& input_sequence, const Tensor& position, Loc loc = Loc::current());

// A sequence of these tensors, which have one type.
// (inputs...: T) -> (output_sequence: S); T: integers, complex, float, string, bool, float16,
//   double
Tensor SequenceConstruct(const std::vector<Tensor>& inputs, Loc loc = Loc::current());

struct SequenceEmptyAttrs {
  std::optional<DType> dtype = {};
};
// A sequence of no tensors of the type dtype.
// () -> (output: S)
Tensor SequenceEmpty(const SequenceEmptyAttrs& attrs = {}, Loc loc = Loc::current());

// The sequence without the tensor at the position, by default the last.
// (input_sequence: S, position?: I) -> (output_sequence: S); I: int32, int64
Tensor SequenceErase(const Tensor& input_sequence, const Tensor& position = {},
    Loc loc = Loc::current());

// The sequence with the tensor before the position, by default at the end.
// (input_sequence: S, tensor: T, position?: I) -> (output_sequence: S); T: integers, complex,
//   float, string, bool, float16, double; I: int32, int64
Tensor SequenceInsert(const Tensor& input_sequence, const Tensor& tensor,
    const Tensor& position = {}, Loc loc = Loc::current());

// The number of tensors in the sequence: int64, rank 0.
// (input_sequence: S) -> (length: I); I: int64
Tensor SequenceLength(const Tensor& input_sequence, Loc loc = Loc::current());

struct ConcatFromSequenceAttrs {
  std::optional<int64_t> axis = {};  // required
  int64_t new_axis = 0;
};
// The tensors of a sequence joined along `axis`, an own one where new_axis = 1.
// (input_sequence: S) -> (concat_result: T); T: integers, complex, float, string, bool, float16,
//   double
Tensor ConcatFromSequence(const Tensor& input_sequence, const ConcatFromSequenceAttrs& attrs,
    Loc loc = Loc::current());

struct SplitToSequenceAttrs {
  int64_t axis = 0;
  int64_t keepdims = 1;
};
// Parts along `axis` as a sequence: of one length, of lengths that are listed, or single slices.
// (input: T, split?: I) -> (output_sequence: S); T: integers, floats, complex, string, bool; I:
//   int32, int64
Tensor SplitToSequence(const Tensor& input, const Tensor& split = {},
    const SplitToSequenceAttrs& attrs = {}, Loc loc = Loc::current());

struct OptionalAttrs {
  std::optional<Type> type = {};
};
// An optional that holds the input, or an empty one of the type.
// (input?: V) -> (output: O); V: integers, complex, float, string, bool, float16, double
Tensor Optional(const Tensor& input = {}, const OptionalAttrs& attrs = {},
    Loc loc = Loc::current());

// What the optional holds; an empty one is refused.
// (input: O) -> (output: V); O: integers, complex, float, string, bool, float16, double; V:
//   integers, complex, float, string, bool, float16, double
Tensor OptionalGetElement(const Tensor& input, Loc loc = Loc::current());

// Whether the optional holds something: bool, rank 0.
// (input?: O) -> (output: B); O: integers, complex, float, string, bool, float16, double; B: bool
Tensor OptionalHasElement(const Tensor& input = {}, Loc loc = Loc::current());


}  // namespace sardonyx::eager::op
