// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#include "eager/op_calls_for_test.h"
#include "eager/op/network_fields.h"

namespace sardonyx::eager::op {

namespace {

const NamedCall kNetworkCalls[] = {
    {"Conv",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Conv(at(in, 0), at(in, 1), at(in, 2), read<ConvAttrs>(attrs))};
     }},
    {"ConvTranspose",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ConvTranspose(at(in, 0), at(in, 1), at(in, 2),
           read<ConvTransposeAttrs>(attrs))};
     }},
    {"ConvInteger",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ConvInteger(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           read<ConvIntegerAttrs>(attrs))};
     }},
    {"QLinearConv",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{QLinearConv(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4), at(in, 5),
           at(in, 6), at(in, 7), at(in, 8), read<QLinearConvAttrs>(attrs))};
     }},
    {"DeformConv",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{DeformConv(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4),
           read<DeformConvAttrs>(attrs))};
     }},
    {"Col2Im",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Col2Im(at(in, 0), at(in, 1), at(in, 2), read<Col2ImAttrs>(attrs))};
     }},
    {"CausalConvWithState",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return CausalConvWithState(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           read<CausalConvWithStateAttrs>(attrs));
     }},
    {"AveragePool",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{AveragePool(at(in, 0), read<AveragePoolAttrs>(attrs))};
     }},
    {"MaxPool",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{MaxPool(at(in, 0), read<MaxPoolAttrs>(attrs))};
       return MaxPoolOutputs(outputs, at(in, 0), read<MaxPoolAttrs>(attrs));
     }},
    {"LpPool",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{LpPool(at(in, 0), read<LpPoolAttrs>(attrs))};
     }},
    {"GlobalAveragePool",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{GlobalAveragePool(at(in, 0))};
     }},
    {"GlobalMaxPool",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{GlobalMaxPool(at(in, 0))};
     }},
    {"GlobalLpPool",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{GlobalLpPool(at(in, 0), read<GlobalLpPoolAttrs>(attrs))};
     }},
    {"MaxUnpool",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{MaxUnpool(at(in, 0), at(in, 1), at(in, 2), read<MaxUnpoolAttrs>(attrs))};
     }},
    {"MaxRoiPool",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{MaxRoiPool(at(in, 0), at(in, 1), read<MaxRoiPoolAttrs>(attrs))};
     }},
    {"RoiAlign",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{RoiAlign(at(in, 0), at(in, 1), at(in, 2), read<RoiAlignAttrs>(attrs))};
     }},
    {"BatchNormalization",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{BatchNormalization(at(in, 0), at(in, 1), at(in, 2),
           at(in, 3), at(in, 4), read<BatchNormalizationAttrs>(attrs))};
       return BatchNormalizationOutputs(outputs, at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           at(in, 4), read<BatchNormalizationAttrs>(attrs));
     }},
    {"InstanceNormalization",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{InstanceNormalization(at(in, 0), at(in, 1), at(in, 2),
           read<InstanceNormalizationAttrs>(attrs))};
     }},
    {"GroupNormalization",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{GroupNormalization(at(in, 0), at(in, 1), at(in, 2),
           read<GroupNormalizationAttrs>(attrs))};
     }},
    {"MeanVarianceNormalization",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{MeanVarianceNormalization(at(in, 0),
           read<MeanVarianceNormalizationAttrs>(attrs))};
     }},
    {"LRN",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{LRN(at(in, 0), read<LRNAttrs>(attrs))};
     }},
    {"LayerNormalization",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       if (outputs == 1) return Tensors{LayerNormalization(at(in, 0), at(in, 1), at(in, 2),
           read<LayerNormalizationAttrs>(attrs))};
       return LayerNormalizationOutputs(outputs, at(in, 0), at(in, 1), at(in, 2),
           read<LayerNormalizationAttrs>(attrs));
     }},
    {"RMSNormalization",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{RMSNormalization(at(in, 0), at(in, 1), read<RMSNormalizationAttrs>(attrs))};
     }},
    {"LpNormalization",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{LpNormalization(at(in, 0), read<LpNormalizationAttrs>(attrs))};
     }},
    {"DepthToSpace",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{DepthToSpace(at(in, 0), read<DepthToSpaceAttrs>(attrs))};
     }},
    {"SpaceToDepth",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{SpaceToDepth(at(in, 0), read<SpaceToDepthAttrs>(attrs))};
     }},
    {"CenterCropPad",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{CenterCropPad(at(in, 0), at(in, 1), read<CenterCropPadAttrs>(attrs))};
     }},
    {"AffineGrid",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{AffineGrid(at(in, 0), at(in, 1), read<AffineGridAttrs>(attrs))};
     }},
    {"Resize",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Resize(at(in, 0), at(in, 1), at(in, 2), at(in, 3),
           read<ResizeAttrs>(attrs))};
     }},
    {"GridSample",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{GridSample(at(in, 0), at(in, 1), read<GridSampleAttrs>(attrs))};
     }},
};

}  // namespace

std::vector<std::span<const NamedCall>> network_calls() {
  return {kNetworkCalls};
}

}  // namespace sardonyx::eager::op
