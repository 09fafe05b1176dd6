// Helpers that the models of ai.onnx.ml share: reading a table of features, and turning raw scores
// into the ones that are given out.
#pragma once

#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/op_def.h"

namespace sardonyx::ops {

// [rows, features]; a vector of features is one row.
struct FeatureTable {
  int64_t rows = 1, features = 0;
};
FeatureTable feature_table(std::span<const int64_t> shape);
// The number of rows, or of features, of input 0. Fails where its rank is known and neither 1
// nor 2.
Dim feature_rows(InferContext& c);
std::optional<Dim> feature_count(InferContext& c);

// The elements of a tensor of float16, float, double, int32 or int64 as T, on scratch().
template <typename T>
std::pmr::vector<T> read_features(const TensorView& x);
// The elements of a tensor attribute as T.
template <typename T>
std::vector<T> read_attribute(const Tensor& tensor) {
  const std::vector<double> values = tensor.to_doubles();
  return {values.begin(), values.end()};
}

// The numbers are those of TreeEnsemble's attribute.
enum class PostTransform { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };
// Reads "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO" or "PROBIT"; throws kInvalidModel.
PostTransform post_transform_named(std::string_view name);

template <typename T>
T logistic(T x);
// The quantile function of the normal distribution, by Winitzki's approximation of the inverse of
// erf
// ("A handy approximation for the error function and its inverse", 2008), as ONNX's definition has
// it.
float probit(float p);
// Transforms the scores of one row in place.
template <typename T>
void transform_scores(PostTransform transform, std::span<T> scores);
// Row-wise over [rows, columns]. A single column knows only kProbit: the others need rivals.
void transform_score_table(PostTransform transform, std::span<float> scores, int64_t columns);

// The labels of a classifier: strings or integers. Throws kInvalidModel unless just one of the
// lists has elements.
struct ClassLabels {
  const std::vector<std::string>& strings;
  const std::vector<int64_t>& integers;
  bool are_strings() const { return !strings.empty(); }
  DType dtype() const { return are_strings() ? DType::kString : DType::kInt64; }
  size_t size() const { return are_strings() ? strings.size() : integers.size(); }
  void check(const InferContext& c) const;
  // Writes label `index` as element `at` of `out`.
  void write(const TensorView& out, int64_t at, size_t index) const;
};

}  // namespace sardonyx::ops
