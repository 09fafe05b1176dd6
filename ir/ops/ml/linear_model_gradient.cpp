#include "ir/ops/ml/linear_model_gradient.h"

#include <cmath>
#include <optional>

#include "ir/autodiff/autodiff_body.h"
#include "ir/ops/inference/shape_arithmetic.h"
#include "ir/ops/ml/linear_model.h"
#include "ir/ops/ml/post_transform_decomposition.h"

namespace sardonyx::ops {
namespace {

// x [features] or [rows, features] times coefficients [targets, features], plus intercepts, as
// [rows, targets] in the type of x.
Term linear_scores_decomposition(const Term& x, const std::vector<float>& coefficients,
                                 const std::vector<float>& intercepts, int64_t targets) {
  Emitter& e = *x.e;
  const Shape shape{targets, static_cast<int64_t>(coefficients.size()) / targets};
  const Term matrix = cast({&e, e.constant(Tensor::of<float>(coefficients, shape))}, x.dtype());
  const Term products{
      &e, e.call("Gemm", {feature_rows_decomposition(x), matrix}, {{"transB", int64_t{1}}})};
  return intercepts.empty() ? products : products + feature_list(x, intercepts);
}

Vals linear_classifier_decomposition(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<LinearClassifierAttrs>();
  const int64_t columns = coefficient_rows(attrs);
  const size_t classes = attrs.classlabels_strings.size() + attrs.classlabels_ints.size();
  const Term scores =
      linear_scores_decomposition({&e, c.inputs[0]}, attrs.coefficients, attrs.intercepts, columns);
  const PostTransform transform = post_transform_named(attrs.post_transform);
  const Term given = columns == 1 && transform == PostTransform::kLogistic
                         ? apply("Sigmoid", scores)
                         : transformed_scores(transform, scores, columns);
  if (columns != 1 || classes != 2) return {{}, cast(given, DType::kFloat)};
  const Vals both{1 - given, given};
  const Term table{&e, e.call_many("Concat", both, {{"axis", int64_t{1}}}, 1)[0]};
  return {{}, cast(table, DType::kFloat)};
}

Vals linear_regressor_decomposition(Emitter& e, const BodyCall& c) {
  const auto& attrs = c.attrs<LinearRegressorAttrs>();
  const Term scores = linear_scores_decomposition({&e, c.inputs[0]}, attrs.coefficients,
                                                  attrs.intercepts, attrs.targets);
  return {
      cast(transformed_scores(post_transform_named(attrs.post_transform), scores, attrs.targets),
           DType::kFloat)};
}

Vals normalizer_decomposition(Emitter& e, const BodyCall& c) {
  const std::string& norm = c.attrs<NormalizerAttrs>().norm;
  const Term x{&e, c.inputs[0]};
  const auto reduced = [&](std::string_view op) {
    return Term{&e, e.call(op, {x, e.int64s({-1})})};
  };
  const Term size = reduced(norm == "MAX"  ? "ReduceMax"
                            : norm == "L1" ? "ReduceL1"
                                           : "ReduceSumSquare");
  // A row of no size stays as it is.
  const Term divisor = where(equal(size, 0), 1, size);
  return {cast(x / (norm == "L2" ? apply("Sqrt", divisor) : divisor), DType::kFloat)};
}

Vals array_feature_extractor_decomposition(Emitter& e, const BodyCall& c) {
  const Term indices = apply("Reshape", Term{&e, c.inputs[1]}, int64s(e, {-1}));
  const Term x{&e, c.inputs[0]};
  const Term rows = rank_of(e, x, c.op.name) == 1 ? feature_rows_decomposition(x) : x;
  return {apply("Gather", rows, indices, {{"axis", int64_t{-1}}})};
}

// x as [rows, `wanted`]: cut, or filled up with zeros.
Term in_columns(const Term& x, std::optional<int64_t> wanted) {
  Emitter& e = *x.e;
  const bool is_row = rank_of(e, x, "FeatureVectorizer") == 1;
  const Val sizes = dims_of(e, x, is_row ? 0 : 1);
  const Val features = call_folded(e, "ReduceProd", {sizes, e.int64s({0})});
  const Val rows = is_row ? e.int64s({1}) : dims_of(e, x, 0, 1);
  const Term table = reshaped(x, {&e, joined_lists(e, {rows, features})});
  if (!wanted) return table;
  const Val width = e.int64s({*wanted});
  const Term cut{&e, e.call("Slice", {table, e.int64s({0}), width, e.int64s({1})})};
  const Val missing =
      call_folded(e, "Max", {call_folded(e, "Sub", {width, features}), e.int64s({0})});
  return apply("Pad", cut, {&e, joined_lists(e, {e.int64s({0, 0, 0}), missing})});
}

Vals feature_vectorizer_decomposition(Emitter& e, const BodyCall& c) {
  const auto given = c.raw_attrs.get("inputdimensions");
  const auto sizes = given ? std::get<std::vector<int64_t>>(*given) : std::vector<int64_t>();
  Vals columns;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const auto wanted = sizes.empty() ? std::nullopt : std::optional(sizes[i]);
    columns.push_back(cast(in_columns({&e, c.inputs[i]}, wanted), DType::kFloat));
  }
  return e.call_many("Concat", columns, {{"axis", int64_t{1}}}, 1);
}

}  // namespace

Vals linear_classifier_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, linear_classifier_decomposition);
}

Vals linear_regressor_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, linear_regressor_decomposition);
}

Vals scaler_grad(Emitter& e, const GradCall& call) {
  const std::vector<float>& scale = call.attrs<ScalerAttrs>().scale;
  const Term d = cast(d_output(e, call, 0), input(e, call, 0).dtype());
  return {scale.empty() ? d : d * feature_list(d, scale)};
}

Vals normalizer_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, normalizer_decomposition);
}

// Imputed elements have no gradient.
Vals imputer_grad(Emitter& e, const GradCall& call) {
  const float replaced = call.attrs<ImputerAttrs>().replaced_value_float;
  const Term x = input(e, call, 0);
  const Term is_missing = std::isnan(replaced) ? apply("IsNaN", x) : equal(x, double{replaced});
  return {where(is_missing, 0, d_output(e, call, 0))};
}

Vals array_feature_extractor_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, array_feature_extractor_decomposition);
}

Vals feature_vectorizer_grad(Emitter& e, const GradCall& call) {
  return autodiff_body(e, call, feature_vectorizer_decomposition);
}

}  // namespace sardonyx::ops
