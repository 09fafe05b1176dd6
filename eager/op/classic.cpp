// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#include "eager/op/classic.h"

#include "eager/op/classic_fields.h"
#include "eager/dispatch/op_row.h"

namespace sardonyx::eager::op {

namespace ml {

Tensor TreeEnsemble(const Tensor& X, const TreeEnsembleAttrs& attrs, Loc loc) {
  static const OpRow<TreeEnsembleAttrs> row("ai.onnx.ml::TreeEnsemble");
  return row.call({X}, attrs, loc);
}
std::vector<Tensor> TreeEnsembleClassifier(const Tensor& X,
    const TreeEnsembleClassifierAttrs& attrs, Loc loc) {
  static const OpRow<TreeEnsembleClassifierAttrs> row("ai.onnx.ml::TreeEnsembleClassifier");
  return row.call_many({X}, attrs, 2, loc);
}
Tensor TreeEnsembleRegressor(const Tensor& X, const TreeEnsembleRegressorAttrs& attrs, Loc loc) {
  static const OpRow<TreeEnsembleRegressorAttrs> row("ai.onnx.ml::TreeEnsembleRegressor");
  return row.call({X}, attrs, loc);
}
Tensor Binarizer(const Tensor& X, const BinarizerAttrs& attrs, Loc loc) {
  static const OpRow<BinarizerAttrs> row("ai.onnx.ml::Binarizer");
  return row.call({X}, attrs, loc);
}
Tensor Imputer(const Tensor& X, const ImputerAttrs& attrs, Loc loc) {
  static const OpRow<ImputerAttrs> row("ai.onnx.ml::Imputer");
  return row.call({X}, attrs, loc);
}
std::vector<Tensor> LinearClassifier(const Tensor& X, const LinearClassifierAttrs& attrs, Loc loc) {
  static const OpRow<LinearClassifierAttrs> row("ai.onnx.ml::LinearClassifier");
  return row.call_many({X}, attrs, 2, loc);
}
Tensor LinearRegressor(const Tensor& X, const LinearRegressorAttrs& attrs, Loc loc) {
  static const OpRow<LinearRegressorAttrs> row("ai.onnx.ml::LinearRegressor");
  return row.call({X}, attrs, loc);
}
Tensor Normalizer(const Tensor& X, const NormalizerAttrs& attrs, Loc loc) {
  static const OpRow<NormalizerAttrs> row("ai.onnx.ml::Normalizer");
  return row.call({X}, attrs, loc);
}
Tensor Scaler(const Tensor& X, const ScalerAttrs& attrs, Loc loc) {
  static const OpRow<ScalerAttrs> row("ai.onnx.ml::Scaler");
  return row.call({X}, attrs, loc);
}
std::vector<Tensor> SVMClassifier(const Tensor& X, const SVMClassifierAttrs& attrs, Loc loc) {
  static const OpRow<SVMClassifierAttrs> row("ai.onnx.ml::SVMClassifier");
  return row.call_many({X}, attrs, 2, loc);
}
Tensor SVMRegressor(const Tensor& X, const SVMRegressorAttrs& attrs, Loc loc) {
  static const OpRow<SVMRegressorAttrs> row("ai.onnx.ml::SVMRegressor");
  return row.call({X}, attrs, loc);
}
Tensor ArrayFeatureExtractor(const Tensor& X, const Tensor& Y, Loc loc) {
  static const OpRow<> row("ai.onnx.ml::ArrayFeatureExtractor");
  return row.call({X, Y}, loc);
}
Tensor CategoryMapper(const Tensor& X, const CategoryMapperAttrs& attrs, Loc loc) {
  static const OpRow<CategoryMapperAttrs> row("ai.onnx.ml::CategoryMapper");
  return row.call({X}, attrs, loc);
}
Tensor FeatureVectorizer(const std::vector<Tensor>& X, const FeatureVectorizerAttrs& attrs,
    Loc loc) {
  static const OpRow<FeatureVectorizerAttrs> row("ai.onnx.ml::FeatureVectorizer");
  return row.call(X, attrs, loc);
}
Tensor LabelEncoder(const Tensor& X, const LabelEncoderAttrs& attrs, Loc loc) {
  static const OpRow<LabelEncoderAttrs> row("ai.onnx.ml::LabelEncoder");
  return row.call({X}, attrs, loc);
}
Tensor OneHotEncoder(const Tensor& X, const OneHotEncoderAttrs& attrs, Loc loc) {
  static const OpRow<OneHotEncoderAttrs> row("ai.onnx.ml::OneHotEncoder");
  return row.call({X}, attrs, loc);
}
Tensor CastMap(const Tensor& X, const CastMapAttrs& attrs, Loc loc) {
  static const OpRow<CastMapAttrs> row("ai.onnx.ml::CastMap");
  return row.call({X}, attrs, loc);
}
Tensor DictVectorizer(const Tensor& X, const DictVectorizerAttrs& attrs, Loc loc) {
  static const OpRow<DictVectorizerAttrs> row("ai.onnx.ml::DictVectorizer");
  return row.call({X}, attrs, loc);
}
Tensor ZipMap(const Tensor& X, const ZipMapAttrs& attrs, Loc loc) {
  static const OpRow<ZipMapAttrs> row("ai.onnx.ml::ZipMap");
  return row.call({X}, attrs, loc);
}

}  // namespace ml


}  // namespace sardonyx::eager::op
