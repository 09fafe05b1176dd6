// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#include "eager/op_calls_for_test.h"
#include "eager/op/generate_fields.h"

namespace sardonyx::eager::op {

namespace {

const NamedCall kGenerateCalls[] = {
    {"Constant",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Constant(read<ConstantAttrs>(attrs))};
     }},
    {"ConstantOfShape",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ConstantOfShape(at(in, 0), read<ConstantOfShapeAttrs>(attrs))};
     }},
    {"Range",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Range(at(in, 0), at(in, 1), at(in, 2), read<RangeAttrs>(attrs))};
     }},
    {"EyeLike",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{EyeLike(at(in, 0), read<EyeLikeAttrs>(attrs))};
     }},
    {"BlackmanWindow",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{BlackmanWindow(at(in, 0), read<BlackmanWindowAttrs>(attrs))};
     }},
    {"HammingWindow",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{HammingWindow(at(in, 0), read<HammingWindowAttrs>(attrs))};
     }},
    {"HannWindow",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{HannWindow(at(in, 0), read<HannWindowAttrs>(attrs))};
     }},
    {"RandomNormal",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{RandomNormal(read<RandomNormalAttrs>(attrs))};
     }},
    {"RandomUniform",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{RandomUniform(read<RandomUniformAttrs>(attrs))};
     }},
    {"RandomNormalLike",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{RandomNormalLike(at(in, 0), read<RandomNormalLikeAttrs>(attrs))};
     }},
    {"RandomUniformLike",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{RandomUniformLike(at(in, 0), read<RandomUniformLikeAttrs>(attrs))};
     }},
    {"Bernoulli",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Bernoulli(at(in, 0), read<BernoulliAttrs>(attrs))};
     }},
    {"Multinomial",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Multinomial(at(in, 0), read<MultinomialAttrs>(attrs))};
     }},
    {"DFT",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{DFT(at(in, 0), at(in, 1), at(in, 2), read<DFTAttrs>(attrs))};
     }},
    {"STFT",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{STFT(at(in, 0), at(in, 1), at(in, 2), at(in, 3), read<STFTAttrs>(attrs))};
     }},
    {"MelWeightMatrix",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{MelWeightMatrix(at(in, 0), at(in, 1), at(in, 2), at(in, 3), at(in, 4),
           read<MelWeightMatrixAttrs>(attrs))};
     }},
};

}  // namespace

namespace training {
namespace {

const NamedCall kGenerateCalls[] = {
    {"ai.onnx.preview.training::Adagrad",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Adagrad(outputs, at(in, 0), at(in, 1), rest(in, 2), read<AdagradAttrs>(attrs));
     }},
    {"ai.onnx.preview.training::Adam",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Adam(outputs, at(in, 0), at(in, 1), rest(in, 2), read<AdamAttrs>(attrs));
     }},
    {"ai.onnx.preview.training::Momentum",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Momentum(outputs, at(in, 0), at(in, 1), rest(in, 2), read<MomentumAttrs>(attrs));
     }},
};

}  // namespace
}  // namespace training

std::vector<std::span<const NamedCall>> generate_calls() {
  return {kGenerateCalls, training::kGenerateCalls};
}

}  // namespace sardonyx::eager::op
