#include "ir/ops/ml/post_transform_decomposition.h"

#include <numbers>

#include "ir/ops/inference/shape_arithmetic.h"

namespace sardonyx::ops {
namespace {

Term reduced(std::string_view op, const Term& x) {
  return {x.e, x.e->call(op, {x, x.e->int64s({1})})};
}

// Scores next to zero have no part in the sum that all are divided by.
Term softmax_beside_zeros(const Term& x) {
  const Term is_zero = apply("Abs", x) <= 1e-7;
  const Term highest = reduced("ReduceMax", x);
  const Term power = apply("Exp", x - highest);
  const Term sum = reduced("ReduceSum", where(is_zero, 0, power));
  return where(is_zero, x * apply("Exp", -highest), power) / sum;
}

// probit() as a product of 2 p - 1 with what is even and smooth in it, so that the root has a
// slope at its zero, too. In double, as next to that zero all digits of a float cancel.
Term probit_decomposition(const Term& p) {
  const Term x = cast(p, DType::kDouble) * 2 - 1;
  const Term square = x * x;
  const Term log = apply("Log", (1 - x) * (1 + x));
  const Term half = log * 0.5 + 2 / (3.14159 * 0.147);
  const Term is_middle = equal(square, 0);
  const Term per_square = where(is_middle, 1, -log / where(is_middle, 1, square));
  const Term larger = half + apply("Sqrt", half * half - log / 0.147);
  return cast(x * apply("Sqrt", per_square / (larger * 0.147)) * std::numbers::sqrt2, p.dtype());
}

}  // namespace

Term feature_rows_decomposition(const Term& x) {
  Emitter& e = *x.e;
  if (rank_of(e, x, "a model of ai.onnx.ml") != 1) return x;
  return apply("Unsqueeze", x, int64s(e, {0}));
}

Term feature_list(const Term& like, const std::vector<float>& list) {
  Emitter& e = *like.e;
  if (list.size() == 1) return like.number(list[0]);
  const Val row = e.constant(Tensor::vector(list));
  const AttrMap to{{"to", static_cast<int64_t>(like.dtype())}};
  return {&e, like.dtype() == DType::kFloat ? row : call_folded(e, "Cast", {row}, to)};
}

Term transformed_scores(PostTransform transform, const Term& scores, int64_t columns) {
  if (columns == 1 && transform != PostTransform::kProbit) return scores;
  switch (transform) {
    case PostTransform::kSoftmax:
      return apply("Softmax", scores, {{"axis", int64_t{1}}});
    case PostTransform::kSoftmaxZero:
      return softmax_beside_zeros(scores);
    case PostTransform::kLogistic:
      return apply("Sigmoid", scores);
    case PostTransform::kProbit:
      return probit_decomposition(scores);
    case PostTransform::kNone:
      break;
  }
  return scores;
}

}  // namespace sardonyx::ops
