// Linear models of ai.onnx.ml, and the ops that scale and mend their inputs. Where the
// specification is silent, they do as ONNX Runtime does.
#include "ir/ops/ml/linear_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/core/dtype_dispatch.h"
#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/ml/linear_model_gradient.h"
#include "ir/ops/ml/post_transform.h"
#include "ir/ops/op_families.h"

namespace sardonyx::ops {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

constexpr DTypeSet kLinearTypes{DType::kFloat, DType::kDouble, DType::kInt64, DType::kInt32};

// The sum of products, in several partial sums: a single one would wait for each addition.
double dot(const double* values, const float* coefficients, int64_t count) {
  constexpr int64_t kParts = 8;
  double parts[kParts] = {};
  int64_t i = 0;
  for (; i + kParts <= count; i += kParts) {
    for (int64_t k = 0; k < kParts; ++k)
      parts[k] += values[i + k] * double{coefficients[i + k]};
  }
  double sum = 0;
  for (; i < count; ++i)
    sum += values[i] * double{coefficients[i]};
  for (const double part : parts)
    sum += part;
  return sum;
}

// scores[rows, targets] = x[rows, features] * coefficients[targets, features]^T + intercepts.
std::pmr::vector<float> linear_scores(const TensorView& x, const Floats& coefficients,
                                      const Floats& intercepts, int64_t targets) {
  const auto [rows, features] = feature_table(x.shape);
  const std::pmr::vector<double> values = read_features<double>(x);
  std::pmr::vector<float> scores(scratch());
  scores.reserve(static_cast<size_t>(rows * targets));
  for (int64_t row = 0; row < rows; ++row) {
    check_interrupted();
    for (int64_t target = 0; target < targets; ++target) {
      const double intercept = intercepts.empty() ? 0 : intercepts[static_cast<size_t>(target)];
      const double sum =
          dot(values.data() + row * features, coefficients.data() + target * features, features);
      scores.push_back(static_cast<float>(intercept + sum));
    }
  }
  return scores;
}

void require_coefficients(InferContext& c, size_t coefficients, int64_t targets) {
  const std::optional<Dim> features = feature_count(c);
  if (!features || !features->is_known()) return;
  // Divided, not multiplied, so that nothing overflows.
  const auto size = static_cast<int64_t>(coefficients);
  const bool fits = features->value() == 0
                        ? size == 0
                        : size % features->value() == 0 && size / features->value() == targets;
  c.require(fits, "attribute coefficients: expected ", targets, " rows of ", *features,
            " (the features of X), got ", size, " elements");
}

// --- LinearClassifier ---

void infer_linear_classifier(InferContext& c) {
  const auto& attrs = c.attrs<LinearClassifierAttrs>();
  const ClassLabels labels{attrs.classlabels_strings, attrs.classlabels_ints};
  labels.check(c);
  post_transform_named(attrs.post_transform);
  const Dim samples = feature_rows(c);
  const int64_t rows = coefficient_rows(attrs);
  const auto classes = static_cast<int64_t>(labels.size());
  c.require(rows == classes || rows == 1, "attribute intercepts: expected ", classes,
            " (one for each class) or 1, got ", rows);
  require_coefficients(c, attrs.coefficients.size(), rows);
  c.set(0, labels.dtype(), Dims{samples});
  c.set(1, DType::kFloat, Dims{samples, rows == 1 && classes == 2 ? 2 : rows});
}

// The class of a single score for two classes, or for one: positive means the second.
size_t winner_of_single(float score, const ClassLabels& labels) {
  return score > 0 && labels.size() > 1 ? 1 : 0;
}

// A single column is the second class's alone: LOGISTIC makes a probability of it, while SOFTMAX
// needs rivals.
void transform_class_scores(PostTransform transform, std::span<float> scores, int64_t columns) {
  if (columns == 1 && transform == PostTransform::kLogistic)
    return transform_scores(transform, scores);
  transform_score_table(transform, scores, columns);
}

void linear_classifier(const KernelCall& call) {
  const auto& attrs = call.attrs<LinearClassifierAttrs>();
  std::pmr::vector<float> scores =
      linear_scores(call.inputs[0], attrs.coefficients, attrs.intercepts, coefficient_rows(attrs));
  finish_linear_classifier(attrs, scores, call.outputs);
}

// --- LinearRegressor ---

void infer_linear_regressor(InferContext& c) {
  const auto& attrs = c.attrs<LinearRegressorAttrs>();
  post_transform_named(attrs.post_transform);
  c.require(attrs.targets >= 1, "attribute targets: expected at least 1, got ", attrs.targets);
  c.require(
      attrs.intercepts.empty() || static_cast<int64_t>(attrs.intercepts.size()) == attrs.targets,
      "attribute intercepts: expected none or ", attrs.targets, " (one for each target), got ",
      attrs.intercepts.size());
  const Dim rows = feature_rows(c);
  require_coefficients(c, attrs.coefficients.size(), attrs.targets);
  c.set(0, DType::kFloat, Dims{rows, attrs.targets});
}

void linear_regressor(const KernelCall& call) {
  const auto& attrs = call.attrs<LinearRegressorAttrs>();
  std::pmr::vector<float> scores =
      linear_scores(call.inputs[0], attrs.coefficients, attrs.intercepts, attrs.targets);
  finish_linear_regressor(attrs, scores, call.outputs[0].data<float>());
}

// --- Scaler, Normalizer, Imputer, Binarizer ---

// A list of one element, or of one for each feature (the last dim of X).
void require_per_feature(InferContext& c, std::string_view name, size_t length) {
  if (length == 1) return;
  const Dims* shape = c.shape(0);
  if (!shape) return;
  const Dim features = shape->empty() ? Dim(1) : shape->back();
  c.require(!features.is_known() || features.value() == static_cast<int64_t>(length), "attribute ",
            name, ": expected 1 element or ", features, " (one for each feature), got ", length);
}

void infer_scaler(InferContext& c) {
  const auto& attrs = c.attrs<ScalerAttrs>();
  if (!attrs.offset.empty()) require_per_feature(c, "offset", attrs.offset.size());
  if (!attrs.scale.empty()) require_per_feature(c, "scale", attrs.scale.size());
  const bool are_both_given = !attrs.offset.empty() && !attrs.scale.empty();
  c.require(!are_both_given || attrs.scale.size() == attrs.offset.size(),
            "attribute scale: expected ", attrs.offset.size(),
            " elements, as many as offset has, got ", attrs.scale.size());
  c.set(0, DType::kFloat, shape_of(c, 0));
}

// The element of a per-feature list that belongs to element i of a row-major tensor.
float feature_value(const Floats& list, size_t i, float missing) {
  return list.empty() ? missing : list[i % list.size()];
}

void scaler(const KernelCall& call) {
  const auto& attrs = call.attrs<ScalerAttrs>();
  const std::pmr::vector<double> x = read_features<double>(call.inputs[0]);
  float* y = call.outputs[0].data<float>();
  for (size_t i = 0; i < x.size(); ++i) {
    y[i] = static_cast<float>((x[i] - feature_value(attrs.offset, i, 0)) *
                              feature_value(attrs.scale, i, 1));
  }
}

void infer_normalizer(InferContext& c) {
  const std::string& norm = c.attrs<NormalizerAttrs>().norm;
  c.require(norm == "MAX" || norm == "L1" || norm == "L2",
            "attribute norm: expected MAX, L1 or L2, got '", norm, "'");
  feature_rows(c);
  c.set(0, DType::kFloat, shape_of(c, 0));
}

// The divisor of a row; the largest element itself, not its magnitude, for MAX.
double norm_of(std::string_view norm, std::span<const double> row) {
  if (norm == "MAX") {
    double highest = std::numeric_limits<double>::lowest();
    for (const double x : row)
      highest = std::max(highest, x);
    return highest;
  }
  double sum = 0;
  for (const double x : row)
    sum += norm == "L1" ? std::abs(x) : x * x;
  return norm == "L1" ? sum : std::sqrt(sum);
}

void normalizer(const KernelCall& call) {
  const auto [rows, features] = feature_table(call.inputs[0].shape);
  const std::pmr::vector<double> x = read_features<double>(call.inputs[0]);
  float* y = call.outputs[0].data<float>();
  for (int64_t row = 0; row < rows; ++row) {
    const std::span<const double> values(x.data() + row * features, static_cast<size_t>(features));
    const double norm = norm_of(call.attrs<NormalizerAttrs>().norm, values);
    for (const double value : values)
      *y++ = static_cast<float>(norm == 0 ? value : value / norm);
  }
}

void infer_imputer(InferContext& c) {
  const auto& attrs = c.attrs<ImputerAttrs>();
  const bool of_floats = is_floating(c.dtype(0));
  const std::string_view name = of_floats ? "imputed_value_floats" : "imputed_value_int64s";
  const size_t given =
      of_floats ? attrs.imputed_value_floats.size() : attrs.imputed_value_int64s.size();
  c.require(given > 0, "attribute ", name, ": expected values, as X has elements of ", c.dtype(0));
  require_per_feature(c, name, given);
  for (const int64_t value : attrs.imputed_value_int64s) {
    c.require(c.dtype(0) != DType::kInt32 || value == static_cast<int32_t>(value), "attribute ",
              name, ": ", value, " does not fit int32, the type of X");
  }
  same_as_first(c);
}

// One value for all elements, or (step: 1) one for each of them. Without branches, so that
// compilers make vectors of it.
template <int step, typename T, typename Value>
void impute_row(const T* x, size_t count, Value replaced, const Value* imputed, T* y) {
  const bool replaces_nan = replaced != replaced;
  for (size_t i = 0; i < count; ++i) {
    const bool is_missing = (x[i] == replaced) | (replaces_nan & (x[i] != x[i]));
    const T value = static_cast<T>(imputed[i * step]);
    y[i] = is_missing ? value : x[i];
  }
}

template <typename T, typename Value>
void impute(const KernelCall& call, Value replaced, const std::vector<Value>& imputed) {
  const T* x = call.inputs[0].data<T>();
  T* y = call.outputs[0].data<T>();
  const auto count = static_cast<size_t>(call.outputs[0].count());
  if (imputed.size() == 1) return impute_row<0>(x, count, replaced, imputed.data(), y);
  for (size_t at = 0; at < count; at += imputed.size())
    impute_row<1>(x + at, std::min(imputed.size(), count - at), replaced, imputed.data(), y + at);
}

void imputer(const KernelCall& call) {
  const auto& attrs = call.attrs<ImputerAttrs>();
  detail::dispatch_among<float, double, int64_t, int32_t>(call.inputs[0].dtype, [&]<typename T>() {
    if constexpr (std::is_floating_point_v<T>) {
      impute<T>(call, attrs.replaced_value_float, attrs.imputed_value_floats);
    } else {
      impute<T>(call, attrs.replaced_value_int64, attrs.imputed_value_int64s);
    }
  });
}

struct BinarizerAttrs {
  float threshold = 0;
  static auto fields() { return std::tuple{field("threshold", &BinarizerAttrs::threshold)}; }
};

void binarizer(const KernelCall& call) {
  const float threshold = call.attrs<BinarizerAttrs>().threshold;
  detail::dispatch_among<float, double, int64_t, int32_t>(call.inputs[0].dtype, [&]<typename T>() {
    const T* x = call.inputs[0].data<T>();
    T* y = call.outputs[0].data<T>();
    // Without a branch, which random elements would mislead.
    using Compared = std::conditional_t<std::is_same_v<T, float>, float, double>;
    for (int64_t i = 0, count = call.outputs[0].count(); i < count; ++i)
      y[i] = static_cast<T>(static_cast<Compared>(x[i]) > Compared{threshold});
  });
}

// --- samples ---

std::vector<Sample> linear_classifier_samples() {
  const Floats rows{0.5f, -1, 2, 1, 0.25f, -0.5f};
  return {{.inputs = {{.shape = {4, 3}}},
           .attrs = {{"coefficients", rows},
                     {"intercepts", Floats{0.1f, -0.2f}},
                     {"classlabels_strings", Strings{"no", "yes"}},
                     {"post_transform", std::string("SOFTMAX")}},
           .outputs = 2},
          {.inputs = {{.shape = {5, 2}}},
           .attrs = {{"coefficients", rows}, {"classlabels_ints", Ints{3, 5, 7}}},
           .outputs = 2},
          {.inputs = {{.shape = {5, 2}}},
           .attrs = {{"coefficients", rows},
                     {"classlabels_ints", Ints{3, 5, 7}},
                     {"post_transform", std::string("SOFTMAX_ZERO")}},
           .outputs = 2},
          {.inputs = {{.shape = {6}}},
           .attrs = {{"coefficients", rows},
                     {"intercepts", Floats{0.3f}},
                     {"classlabels_ints", Ints{0, 1}}},
           .outputs = 2},
          {.inputs = {{.shape = {5, 6}}},
           .attrs = {{"coefficients", rows},
                     {"intercepts", Floats{0.3f}},
                     {"classlabels_ints", Ints{0, 1}},
                     {"post_transform", std::string("LOGISTIC")}},
           .outputs = 2}};
}

std::vector<Sample> linear_regressor_samples() {
  const Floats rows{0.5f, -1, 2, 1, 0.25f, -0.5f};
  return {{.inputs = {{.shape = {4, 3}}},
           .attrs = {{"coefficients", rows},
                     {"intercepts", Floats{0.1f, -0.2f}},
                     {"targets", int64_t{2}},
                     {"post_transform", std::string("LOGISTIC")}}},
          {.inputs = {{.shape = {6}}}, .attrs = {{"coefficients", rows}}},
          {.inputs = {{.shape = {4, 3}, .low = 0.05, .high = 0.1}},
           .attrs = {{"coefficients", rows},
                     {"intercepts", Floats{0.4f, 0.5f}},
                     {"targets", int64_t{2}},
                     {"post_transform", std::string("PROBIT")}}}};
}

std::vector<Sample> scaler_samples() {
  return {
      {.inputs = {{.shape = {4, 3}}},
       .attrs = {{"offset", Floats{0.5f, -1, 2}}, {"scale", Floats{1, 2, -3}}}},
      {.inputs = {{.shape = {2, 2, 2}}}, .attrs = {{"offset", Floats{1}}, {"scale", Floats{2}}}}};
}

std::vector<Sample> normalizer_samples() {
  std::vector<Sample> samples;
  for (const std::string norm : {"MAX", "L1", "L2"}) {
    samples.push_back({.inputs = {{.shape = {3, 4}}}, .attrs = {{"norm", norm}}});
  }
  return samples;
}

std::vector<Sample> imputer_samples() {
  return {{.inputs = {{.shape = {4, 3}, .low = -1, .high = 1}},
           .attrs = {{"imputed_value_floats", Floats{7, 8, 9}},
                     {"imputed_value_int64s", Ints{7, 8, 9}}}}};
}

std::vector<Sample> binarizer_samples() {
  return {{.inputs = {{.shape = {3, 4}}}, .attrs = {{"threshold", 0.5f}}}};
}

const OpDef kLinearModelOps[] = {
    {.name = "Binarizer",
     .doc = "1 where the element is above the threshold, else 0.",
     .domain = "ai.onnx.ml",
     .signature = "(X: T) -> (Y: T)",
     .types = {{"T", kLinearTypes}},
     .attrs = attr_schema<BinarizerAttrs>(),
     .infer = same_as_first,
     .reference = binarizer,
     .facts = kElementwise,
     .samples = binarizer_samples},
    {.name = "Imputer",
     .doc = "X with a given value in place of missing ones, for each feature or all.",
     .domain = "ai.onnx.ml",
     .signature = "(X: T) -> (Y: T)",
     .types = {{"T", kLinearTypes}},
     .attrs = attr_schema<ImputerAttrs>(),
     .infer = infer_imputer,
     .reference = imputer,
     .grad = imputer_grad,
     .samples = imputer_samples},
    {.name = "LinearClassifier",
     .doc = "The class of each row of X [N, F] by linear scores, and the scores [N, classes].",
     .domain = "ai.onnx.ml",
     .signature = "(X: T1) -> (Y: T2, Z: float)",
     .types = {{"T1", kLinearTypes}, {"T2", DTypeSet{DType::kString, DType::kInt64}}},
     .attrs = attr_schema<LinearClassifierAttrs>(),
     .infer = infer_linear_classifier,
     .reference = linear_classifier,
     .grad = linear_classifier_grad,
     .samples = linear_classifier_samples},
    {.name = "LinearRegressor",
     .doc = "X [N, F] times coefficients plus intercepts: [N, targets].",
     .domain = "ai.onnx.ml",
     .signature = "(X: T) -> (Y: float)",
     .types = {{"T", kLinearTypes}},
     .attrs = attr_schema<LinearRegressorAttrs>(),
     .infer = infer_linear_regressor,
     .reference = linear_regressor,
     .grad = linear_regressor_grad,
     .samples = linear_regressor_samples},
    {.name = "Normalizer",
     .doc = "Each row divided by its norm: MAX, L1 or L2.",
     .domain = "ai.onnx.ml",
     .signature = "(X: T) -> (Y: float)",
     .types = {{"T", kLinearTypes}},
     .attrs = attr_schema<NormalizerAttrs>(),
     .infer = infer_normalizer,
     .reference = normalizer,
     .grad = normalizer_grad,
     .samples = normalizer_samples},
    {.name = "Scaler",
     .doc = "(X - offset) * scale, for each feature or all.",
     .domain = "ai.onnx.ml",
     .signature = "(X: T) -> (Y: float)",
     .types = {{"T", kLinearTypes}},
     .attrs = attr_schema<ScalerAttrs>(),
     .infer = infer_scaler,
     .reference = scaler,
     .grad = scaler_grad,
     .samples = scaler_samples},
};

}  // namespace

int64_t coefficient_rows(const LinearClassifierAttrs& attrs) {
  const size_t labels = ClassLabels{attrs.classlabels_strings, attrs.classlabels_ints}.size();
  return static_cast<int64_t>(attrs.intercepts.empty() ? labels : attrs.intercepts.size());
}

void finish_linear_classifier(const LinearClassifierAttrs& attrs, std::span<float> scores,
                              std::span<const TensorView> outputs) {
  const ClassLabels labels{attrs.classlabels_strings, attrs.classlabels_ints};
  const int64_t columns = coefficient_rows(attrs);
  const int64_t rows = static_cast<int64_t>(scores.size()) / columns;
  for (int64_t row = 0; row < rows && outputs[0]; ++row) {
    const auto begin = scores.begin() + row * columns;
    const size_t winner = columns == 1 ? winner_of_single(*begin, labels)
                                       : std::max_element(begin, begin + columns) - begin;
    labels.write(outputs[0], row, winner);
  }
  if (outputs.size() < 2 || !outputs[1]) return;
  transform_class_scores(post_transform_named(attrs.post_transform), scores, columns);
  float* out = outputs[1].data<float>();
  if (columns != 1 || labels.size() != 2) {
    std::copy(scores.begin(), scores.end(), out);
    return;
  }
  for (const float score : scores) {  // both classes' scores, taken for probabilities
    *out++ = 1 - score;
    *out++ = score;
  }
}

void finish_linear_regressor(const LinearRegressorAttrs& attrs, std::span<float> scores,
                             float* out) {
  transform_score_table(post_transform_named(attrs.post_transform), scores, attrs.targets);
  std::copy(scores.begin(), scores.end(), out);
}

std::span<const OpDef> linear_model_ops() {
  return kLinearModelOps;
}

}  // namespace sardonyx::ops
