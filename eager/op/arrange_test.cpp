// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#include "eager/op_calls_for_test.h"
#include "eager/op/arrange_fields.h"

namespace sardonyx::eager::op {

namespace {

const NamedCall kArrangeCalls[] = {
    {"Shape",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Shape(at(in, 0), read<ShapeAttrs>(attrs))};
     }},
    {"Size",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Size(at(in, 0))};
     }},
    {"Reshape",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Reshape(at(in, 0), at(in, 1), read<ReshapeAttrs>(attrs))};
     }},
    {"Flatten",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Flatten(at(in, 0), read<FlattenAttrs>(attrs))};
     }},
    {"Squeeze",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Squeeze(at(in, 0), at(in, 1))};
     }},
    {"Unsqueeze",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Unsqueeze(at(in, 0), at(in, 1))};
     }},
    {"Transpose",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Transpose(at(in, 0), read<TransposeAttrs>(attrs))};
     }},
    {"Expand",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Expand(at(in, 0), at(in, 1))};
     }},
    {"Identity",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Identity(at(in, 0))};
     }},
    {"Concat",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Concat(rest(in, 0), read<ConcatAttrs>(attrs))};
     }},
    {"Split",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Split(outputs, at(in, 0), at(in, 1), read<SplitAttrs>(attrs));
     }},
    {"Tile",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Tile(at(in, 0), at(in, 1))};
     }},
    {"Slice",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Slice(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4))};
     }},
    {"Pad",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Pad(at(in, 0), at(in, 1), at(in, 2), at(in, 3), read<PadAttrs>(attrs))};
     }},
    {"Gather",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Gather(at(in, 0), at(in, 1), read<GatherAttrs>(attrs))};
     }},
    {"GatherElements",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{GatherElements(at(in, 0), at(in, 1), read<GatherElementsAttrs>(attrs))};
     }},
    {"GatherND",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{GatherND(at(in, 0), at(in, 1), read<GatherNDAttrs>(attrs))};
     }},
    {"OneHot",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{OneHot(at(in, 0), at(in, 1), at(in, 2), read<OneHotAttrs>(attrs))};
     }},
    {"Compress",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Compress(at(in, 0), at(in, 1), read<CompressAttrs>(attrs))};
     }},
    {"ReverseSequence",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ReverseSequence(at(in, 0), at(in, 1), read<ReverseSequenceAttrs>(attrs))};
     }},
    {"ScatterElements",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ScatterElements(at(in, 0), at(in, 1), at(in, 2),
           read<ScatterElementsAttrs>(attrs))};
     }},
    {"ScatterND",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ScatterND(at(in, 0), at(in, 1), at(in, 2), read<ScatterNDAttrs>(attrs))};
     }},
    {"TensorScatter",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{TensorScatter(at(in, 0), at(in, 1), at(in, 2),
           read<TensorScatterAttrs>(attrs))};
     }},
    {"NonZero",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{NonZero(at(in, 0))};
     }},
    {"Unique",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{Unique(at(in, 0), read<UniqueAttrs>(attrs))};
       return UniqueOutputs(outputs, at(in, 0), read<UniqueAttrs>(attrs));
     }},
    {"NonMaxSuppression",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{NonMaxSuppression(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4),
           read<NonMaxSuppressionAttrs>(attrs))};
     }},
    {"SequenceAt",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{SequenceAt(at(in, 0), at(in, 1))};
     }},
    {"SequenceConstruct",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{SequenceConstruct(rest(in, 0))};
     }},
    {"SequenceEmpty",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{SequenceEmpty(read<SequenceEmptyAttrs>(attrs))};
     }},
    {"SequenceErase",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{SequenceErase(at(in, 0), at(in, 1))};
     }},
    {"SequenceInsert",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{SequenceInsert(at(in, 0), at(in, 1), at(in, 2))};
     }},
    {"SequenceLength",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{SequenceLength(at(in, 0))};
     }},
    {"ConcatFromSequence",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ConcatFromSequence(at(in, 0), read<ConcatFromSequenceAttrs>(attrs))};
     }},
    {"SplitToSequence",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{SplitToSequence(at(in, 0), at(in, 1), read<SplitToSequenceAttrs>(attrs))};
     }},
    {"Optional",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Optional(at(in, 0), read<OptionalAttrs>(attrs))};
     }},
    {"OptionalGetElement",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{OptionalGetElement(at(in, 0))};
     }},
    {"OptionalHasElement",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{OptionalHasElement(at(in, 0))};
     }},
};

}  // namespace

std::vector<std::span<const NamedCall>> arrange_calls() {
  return {kArrangeCalls};
}

}  // namespace sardonyx::eager::op
