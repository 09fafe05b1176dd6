// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#include "eager/op_calls_for_test.h"
#include "eager/op/classic_fields.h"

namespace sardonyx::eager::op {

namespace ml {
namespace {

const NamedCall kClassicCalls[] = {
    {"ai.onnx.ml::TreeEnsemble",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{TreeEnsemble(at(in, 0), read<TreeEnsembleAttrs>(attrs))};
     }},
    {"ai.onnx.ml::TreeEnsembleClassifier",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return TreeEnsembleClassifier(at(in, 0), read<TreeEnsembleClassifierAttrs>(attrs));
     }},
    {"ai.onnx.ml::TreeEnsembleRegressor",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{TreeEnsembleRegressor(at(in, 0), read<TreeEnsembleRegressorAttrs>(attrs))};
     }},
    {"ai.onnx.ml::Binarizer",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Binarizer(at(in, 0), read<BinarizerAttrs>(attrs))};
     }},
    {"ai.onnx.ml::Imputer",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Imputer(at(in, 0), read<ImputerAttrs>(attrs))};
     }},
    {"ai.onnx.ml::LinearClassifier",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return LinearClassifier(at(in, 0), read<LinearClassifierAttrs>(attrs));
     }},
    {"ai.onnx.ml::LinearRegressor",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{LinearRegressor(at(in, 0), read<LinearRegressorAttrs>(attrs))};
     }},
    {"ai.onnx.ml::Normalizer",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Normalizer(at(in, 0), read<NormalizerAttrs>(attrs))};
     }},
    {"ai.onnx.ml::Scaler",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{Scaler(at(in, 0), read<ScalerAttrs>(attrs))};
     }},
    {"ai.onnx.ml::SVMClassifier",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return SVMClassifier(at(in, 0), read<SVMClassifierAttrs>(attrs));
     }},
    {"ai.onnx.ml::SVMRegressor",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{SVMRegressor(at(in, 0), read<SVMRegressorAttrs>(attrs))};
     }},
    {"ai.onnx.ml::ArrayFeatureExtractor",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ArrayFeatureExtractor(at(in, 0), at(in, 1))};
     }},
    {"ai.onnx.ml::CategoryMapper",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{CategoryMapper(at(in, 0), read<CategoryMapperAttrs>(attrs))};
     }},
    {"ai.onnx.ml::FeatureVectorizer",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{FeatureVectorizer(rest(in, 0), read<FeatureVectorizerAttrs>(attrs))};
     }},
    {"ai.onnx.ml::LabelEncoder",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{LabelEncoder(at(in, 0), read<LabelEncoderAttrs>(attrs))};
     }},
    {"ai.onnx.ml::OneHotEncoder",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{OneHotEncoder(at(in, 0), read<OneHotEncoderAttrs>(attrs))};
     }},
    {"ai.onnx.ml::CastMap",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{CastMap(at(in, 0), read<CastMapAttrs>(attrs))};
     }},
    {"ai.onnx.ml::DictVectorizer",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{DictVectorizer(at(in, 0), read<DictVectorizerAttrs>(attrs))};
     }},
    {"ai.onnx.ml::ZipMap",
     []([[maybe_unused]] const Tensors& in, [[maybe_unused]] const AttrMap& attrs,
        [[maybe_unused]] size_t outputs) -> Tensors {
       return Tensors{ZipMap(at(in, 0), read<ZipMapAttrs>(attrs))};
     }},
};

}  // namespace
}  // namespace ml

std::vector<std::span<const NamedCall>> classic_calls() {
  return {ml::kClassicCalls};
}

}  // namespace sardonyx::eager::op
