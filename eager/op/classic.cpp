// Made by make-op-functions from the op table; not to be edited.
// clang-format off
#include "eager/op/classic.h"

#include "eager/op/classic_fields.h"
#include "eager/dispatch/op_row.h"

namespace sardonyx::eager::op {

namespace ml {

Tensor TreeEnsemble(const Tensor& X, const TreeEnsembleAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.ml::TreeEnsemble", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
std::vector<Tensor> TreeEnsembleClassifier(const Tensor& X,
    const TreeEnsembleClassifierAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.ml::TreeEnsembleClassifier", fields_of(attrs));
  return row.call_many({X}, &attrs, 2, loc);
}
Tensor TreeEnsembleRegressor(const Tensor& X, const TreeEnsembleRegressorAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.ml::TreeEnsembleRegressor", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor Binarizer(const Tensor& X, const BinarizerAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.ml::Binarizer", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor Imputer(const Tensor& X, const ImputerAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.ml::Imputer", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
std::vector<Tensor> LinearClassifier(const Tensor& X, const LinearClassifierAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.ml::LinearClassifier", fields_of(attrs));
  return row.call_many({X}, &attrs, 2, loc);
}
Tensor LinearRegressor(const Tensor& X, const LinearRegressorAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.ml::LinearRegressor", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor Normalizer(const Tensor& X, const NormalizerAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.ml::Normalizer", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor Scaler(const Tensor& X, const ScalerAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.ml::Scaler", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
std::vector<Tensor> SVMClassifier(const Tensor& X, const SVMClassifierAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.ml::SVMClassifier", fields_of(attrs));
  return row.call_many({X}, &attrs, 2, loc);
}
Tensor SVMRegressor(const Tensor& X, const SVMRegressorAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.ml::SVMRegressor", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor ArrayFeatureExtractor(const Tensor& X, const Tensor& Y, Loc loc) {
  static const OpRow row("ai.onnx.ml::ArrayFeatureExtractor");
  return row.call({X, Y}, nullptr, loc);
}
Tensor CategoryMapper(const Tensor& X, const CategoryMapperAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.ml::CategoryMapper", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor FeatureVectorizer(const std::vector<Tensor>& X, const FeatureVectorizerAttrs& attrs,
    Loc loc) {
  static const OpRow row("ai.onnx.ml::FeatureVectorizer", fields_of(attrs));
  return row.call(X, &attrs, loc);
}
Tensor LabelEncoder(const Tensor& X, const LabelEncoderAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.ml::LabelEncoder", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor OneHotEncoder(const Tensor& X, const OneHotEncoderAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.ml::OneHotEncoder", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor CastMap(const Tensor& X, const CastMapAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.ml::CastMap", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor DictVectorizer(const Tensor& X, const DictVectorizerAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.ml::DictVectorizer", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}
Tensor ZipMap(const Tensor& X, const ZipMapAttrs& attrs, Loc loc) {
  static const OpRow row("ai.onnx.ml::ZipMap", fields_of(attrs));
  return row.call({X}, &attrs, loc);
}

}  // namespace ml


}  // namespace sardonyx::eager::op
