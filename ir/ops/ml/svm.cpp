#include "ir/ops/ml/svm.h"

#include <algorithm>
#include <cmath>

#include "ir/core/memory/scratch_arena.h"
#include "ir/core/run_control.h"
#include "ir/ops/inference/infer.h"
#include "ir/ops/op_families.h"

namespace sardonyx::ops {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;
using Strings = std::vector<std::string>;

constexpr DTypeSet kSvmTypes{DType::kFloat, DType::kDouble, DType::kInt64, DType::kInt32};

void check_kernel(InferContext& c, const SvmAttrs& attrs) {
  const std::string& type = attrs.kernel_type;
  c.require(type == "LINEAR" || type == "POLY" || type == "RBF" || type == "SIGMOID",
            "attribute kernel_type: expected LINEAR, POLY, RBF or SIGMOID, got '", type, "'");
  c.require(attrs.kernel_params.empty() || attrs.kernel_params.size() >= 3,
            "attribute kernel_params: expected gamma, coef0 and degree, got ",
            attrs.kernel_params.size(), " elements");
  post_transform_named(attrs.post_transform);
}

// `list` holds `count` rows, each as long as X has features.
void require_rows(InferContext& c, std::string_view name, size_t size, int64_t count) {
  const auto length = static_cast<int64_t>(size);
  c.require(length % count == 0, "attribute ", name, ": ", size, " elements are not ", count,
            " rows of one length");
  const std::optional<Dim> features = feature_count(c);
  c.require(!features || !features->is_known() || features->value() == length / count, "attribute ",
            name, ": expected rows of ", features.value_or(0),
            " elements (the features of X), got ", length / count);
}

void require_at_least(InferContext& c, std::string_view name, size_t size, int64_t least) {
  c.require(static_cast<int64_t>(size) >= least, "attribute ", name, ": expected at least ", least,
            " elements, got ", size);
}

// The sum of term(i) for i < count, in four sums, none of which waits for another.
template <typename Term>
double summed(int64_t count, const Term& term) {
  double parts[4] = {};
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int64_t k = 0; k < 4; ++k)
      parts[k] += term(i + k);
  }
  for (; i < count; ++i)
    parts[0] += term(i);
  return parts[0] + parts[1] + (parts[2] + parts[3]);
}

// The kernel function of one row of features and one support vector.
class KernelFunction {
 public:
  KernelFunction(const SvmAttrs& attrs, bool linear)
      : kind_(linear ? 'L' : attrs.kernel_type[0]), p_(svm_kernel_params(attrs)) {}

  double value(const double* x, const float* vector, int64_t features) const {
    if (kind_ == 'R') {
      return std::exp(-p_.gamma * summed(features, [&](int64_t i) {
        const double difference = x[i] - vector[i];
        return difference * difference;
      }));
    }
    const double product = summed(features, [&](int64_t i) { return x[i] * vector[i]; });
    if (kind_ == 'L') return product;
    if (kind_ == 'P') return std::pow(p_.gamma * product + p_.coef0, p_.degree);
    return std::tanh(p_.gamma * product + p_.coef0);
  }

 private:
  char kind_;  // LINEAR, POLY, RBF or SIGMOID
  SvmKernelParams p_;
};

std::pmr::vector<double> kernel_values(const SvmAttrs& attrs, const SvmVectors& vectors,
                                       const double* x, int64_t features) {
  std::pmr::vector<double> values(scratch());
  values.reserve(static_cast<size_t>(vectors.count));
  const KernelFunction function(attrs, vectors.are_coefficients);
  for (int64_t i = 0; i < vectors.count; ++i)
    values.push_back(function.value(x, vectors.rows.data() + i * features, features));
  return values;
}

// --- SVMRegressor ---

void infer_svm_regressor(InferContext& c) {
  const auto& attrs = c.attrs<SvmRegressorAttrs>();
  check_kernel(c, attrs);
  c.require(attrs.n_supports >= 0, "attribute n_supports: expected at least 0, got ",
            attrs.n_supports);
  require_at_least(c, "rho", attrs.rho.size(), 1);
  const Dim rows = feature_rows(c);
  if (attrs.n_supports > 0) {
    require_rows(c, "support_vectors", attrs.support_vectors.size(), attrs.n_supports);
    require_at_least(c, "coefficients", attrs.coefficients.size(), attrs.n_supports);
  } else {
    require_rows(c, "coefficients", attrs.coefficients.size(), 1);
  }
  c.set(0, DType::kFloat, Dims{rows, 1});
}

void svm_regressor(const KernelCall& call) {
  const auto& attrs = call.attrs<SvmRegressorAttrs>();
  const auto [rows, features] = feature_table(call.inputs[0].shape);
  const std::pmr::vector<double> x = read_features<double>(call.inputs[0]);
  float* out = call.outputs[0].data<float>();
  for (int64_t row = 0; row < rows; ++row) {
    const ScratchMark mark;
    check_interrupted();
    out[row] = finish_svm_regressor(
        attrs, kernel_values(attrs, svm_vectors(attrs), x.data() + row * features, features));
  }
}

// --- SVMClassifier ---

// The sum of vectors_per_class; 0 means that the coefficients are one linear model for each class.
int64_t vector_count(const SvmClassifierAttrs& attrs) {
  int64_t count = 0;
  for (const int64_t vectors : attrs.vectors_per_class)
    count += vectors;
  return count;
}

void check_pairwise(InferContext& c, const SvmClassifierAttrs& attrs, int64_t classes) {
  c.require(classes >= 2, "class labels: expected at least 2, got ", classes);
  c.require(static_cast<int64_t>(attrs.vectors_per_class.size()) == classes,
            "attribute vectors_per_class: expected ", classes,
            " elements (one for each class), got ", attrs.vectors_per_class.size());
  const int64_t vectors = vector_count(attrs), pairs = classes * (classes - 1) / 2;
  require_rows(c, "support_vectors", attrs.support_vectors.size(), vectors);
  const auto coefficients = static_cast<int64_t>(attrs.coefficients.size());
  c.require(coefficients / (classes - 1) >= vectors, "attribute coefficients: expected ",
            classes - 1, " rows of ", vectors, " elements, got ", coefficients, " elements");
  require_at_least(c, "rho", attrs.rho.size(), pairs);
  if (!attrs.prob_a.empty()) require_at_least(c, "prob_a", attrs.prob_a.size(), pairs);
}

void infer_svm_classifier(InferContext& c) {
  const auto& attrs = c.attrs<SvmClassifierAttrs>();
  check_kernel(c, attrs);
  const ClassLabels labels = svm_labels(attrs);
  labels.check(c);
  const auto classes = static_cast<int64_t>(labels.size());
  c.require(classes < 65536, "class labels: at most 65535 are supported, got ", classes);
  c.require(attrs.prob_a.size() == attrs.prob_b.size(), "attribute prob_b: expected ",
            attrs.prob_a.size(), " elements, as many as prob_a, got ", attrs.prob_b.size());
  for (const int64_t vectors : attrs.vectors_per_class) {
    c.require(vectors >= 0 && vectors <= static_cast<int64_t>(attrs.support_vectors.size()),
              "attribute vectors_per_class: ", vectors, " is outside 0..",
              attrs.support_vectors.size(), ", the size of support_vectors");
  }
  const Dim rows = feature_rows(c);
  if (vector_count(attrs) > 0) {
    check_pairwise(c, attrs, classes);
  } else {
    require_at_least(c, "rho", attrs.rho.size(), 1);
    require_rows(c, "coefficients", attrs.coefficients.size(), classes);
  }
  c.set(0, labels.dtype(), Dims{rows});
  c.set(1, DType::kFloat, Dims{rows, svm_score_columns(attrs)});
}

// Votes by one classifier for each pair of classes i < j: positive is for i. Row j - 1 of the
// coefficients holds those of class i's vectors against j, row i those of class j's vectors against
// i.
std::pmr::vector<double> pairwise_scores(const SvmClassifierAttrs& attrs,
                                         std::span<const double> kernels) {
  const auto vectors = static_cast<int64_t>(kernels.size());
  const auto classes = static_cast<int64_t>(attrs.vectors_per_class.size());
  std::pmr::vector<int64_t> starts(1, 0, scratch());
  for (const int64_t count : attrs.vectors_per_class)
    starts.push_back(starts.back() + count);
  const auto part = [&](int64_t of_class, int64_t row) {
    const float* coefficients = attrs.coefficients.data() + row * vectors + starts[of_class];
    const double* values = kernels.data() + starts[of_class];
    return summed(attrs.vectors_per_class[of_class],
                  [&](int64_t i) { return coefficients[i] * values[i]; });
  };
  std::pmr::vector<double> scores(scratch());
  for (int64_t i = 0; i < classes; ++i) {
    for (int64_t j = i + 1; j < classes; ++j)
      scores.push_back(part(i, j - 1) + part(j, i) + attrs.rho[scores.size()]);
  }
  return scores;
}

size_t most_voted(const std::pmr::vector<double>& scores, size_t classes) {
  std::pmr::vector<int64_t> votes(classes, 0, scratch());
  size_t at = 0;
  for (size_t i = 0; i < classes; ++i) {
    for (size_t j = i + 1; j < classes; ++j)
      ++votes[scores[at++] > 0 ? i : j];
  }
  return std::max_element(votes.begin(), votes.end()) - votes.begin();
}

// Probabilities of `n` classes from those of its pairs, r[i * n + j] = P(i | i or j): algorithm 2
// of Wu, Lin and Weng, "Probability estimates for multi-class classification by pairwise coupling"
// (2004).
void couple_pairs(const std::pmr::vector<float>& r, std::span<float> p) {
  const size_t n = p.size();
  std::pmr::vector<float> q(n * n, 0, scratch()), qp(n, scratch());
  for (size_t i = 0; i < n; ++i) {
    p[i] = 1.f / static_cast<float>(n);
    for (size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      q[i * n + i] += r[j * n + i] * r[j * n + i];
      q[i * n + j] = -r[j * n + i] * r[i * n + j];
    }
  }
  const float tolerance = 0.005f / static_cast<float>(n);
  for (int step = 0; step < 100; ++step) {
    float pqp = 0, error = 0;
    for (size_t i = 0; i < n; ++i) {
      qp[i] = 0;
      for (size_t j = 0; j < n; ++j)
        qp[i] += q[i * n + j] * p[j];
      pqp += p[i] * qp[i];
    }
    for (const float value : qp)
      error = std::max(error, std::abs(value - pqp));
    if (error < tolerance) return;
    for (size_t i = 0; i < n; ++i) {
      const float move = (pqp - qp[i]) / q[i * n + i];
      p[i] += move;
      pqp = (pqp + move * (move * q[i * n + i] + 2 * qp[i])) / (1 + move) / (1 + move);
      for (size_t j = 0; j < n; ++j) {
        qp[j] = (qp[j] + move * q[i * n + j]) / (1 + move);
        p[j] /= 1 + move;
      }
    }
  }
}

// Platt's probabilities of all classes.
void class_probabilities(const SvmClassifierAttrs& attrs, const std::pmr::vector<double>& scores,
                         std::span<float> out) {
  const size_t n = out.size();
  std::pmr::vector<float> pairs(n * n, 0, scratch());
  size_t at = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i + 1; j < n; ++j, ++at) {
      const float margin = static_cast<float>(scores[at]) * attrs.prob_a[at] + attrs.prob_b[at];
      const float wins = std::clamp(1 - logistic(margin), 1e-7f, 1 - 1e-7f);
      pairs[i * n + j] = wins;
      pairs[j * n + i] = 1 - wins;
    }
  }
  couple_pairs(pairs, out);
}

// Both classes' scores out of the margin of the only pair, as ONNX Runtime has them.
void spread_margin(float margin, PostTransform transform, std::span<float> out) {
  switch (transform) {
    case PostTransform::kNone:
      out[0] = -margin;
      out[1] = margin;
      return;
    case PostTransform::kLogistic:
      out[0] = logistic(-margin);
      out[1] = logistic(margin);
      return;
    case PostTransform::kProbit:
      out[0] = probit(margin);
      out[1] = 0;
      return;
    case PostTransform::kSoftmax:
    case PostTransform::kSoftmaxZero:
      out[0] = 1 - margin;
      out[1] = margin;
      return;
  }
}

// The scores given out for one row of a machine with support vectors; gives the winning class.
size_t classify_by_pairs(const SvmClassifierAttrs& attrs, std::span<const double> kernels,
                         PostTransform transform, std::span<float> out) {
  const std::pmr::vector<double> scores = pairwise_scores(attrs, kernels);
  const size_t classes = attrs.vectors_per_class.size();
  if (!attrs.prob_a.empty()) {
    class_probabilities(attrs, scores, out);
    transform_scores(transform, out);
  } else if (classes > 2) {
    std::copy(scores.begin(), scores.end(), out.begin());
    transform_scores(transform, out);
  } else {
    spread_margin(static_cast<float>(scores[0]), transform, out);
  }
  return most_voted(scores, classes);
}

// Classifies by one linear model for each class. Of two classes the second wins as soon as the best
// score is positive (or 0.5, where no coefficient is negative and scores are probabilities).
size_t classify_by_models(const SvmClassifierAttrs& attrs, std::span<const double> products,
                          PostTransform transform, std::span<float> out) {
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<float>(products[i] + attrs.rho[0]);
  size_t winner = std::max_element(out.begin(), out.end()) - out.begin();
  if (out.size() == 2 && attrs.prob_a.empty()) {
    const bool positive = std::all_of(attrs.coefficients.begin(), attrs.coefficients.end(),
                                      [](float value) { return value >= 0; });
    if (positive ? out[winner] >= 0.5f : out[winner] > 0) winner = 1;
  }
  transform_score_table(transform, out, static_cast<int64_t>(out.size()));
  return winner;
}

void svm_classifier(const KernelCall& call) {
  const auto& attrs = call.attrs<SvmClassifierAttrs>();
  const ClassLabels labels = svm_labels(attrs);
  const PostTransform transform = post_transform_named(attrs.post_transform);
  const auto [rows, features] = feature_table(call.inputs[0].shape);
  const std::pmr::vector<double> x = read_features<double>(call.inputs[0]);
  std::pmr::vector<float> out(static_cast<size_t>(svm_score_columns(attrs)), scratch());
  for (int64_t row = 0; row < rows; ++row) {
    const ScratchMark mark;
    check_interrupted();
    const std::pmr::vector<double> kernels =
        kernel_values(attrs, svm_vectors(attrs), x.data() + row * features, features);
    const size_t winner = finish_svm_classifier(attrs, kernels, transform, out);
    if (call.wants(0)) labels.write(call.outputs[0], row, winner);
    if (call.wants(1)) {
      std::copy(out.begin(), out.end(), call.outputs[1].data<float>() + row * out.size());
    }
  }
}

// --- samples ---

AttrMap machine_sample(const char* kernel) {
  return {{"kernel_type", std::string(kernel)},
          {"kernel_params", Floats{0.5f, 0.25f, 3}},
          {"support_vectors", Floats{1, 0, -1, 0.5f, 0.5f, -2}},
          {"rho", Floats{0.1f, -0.2f, 0.3f}}};
}

std::vector<Sample> svm_regressor_samples() {
  std::vector<Sample> samples;
  for (const char* kernel : {"LINEAR", "POLY", "RBF", "SIGMOID"}) {
    AttrMap attrs = machine_sample(kernel);
    attrs.insert({{"n_supports", int64_t{3}}, {"coefficients", Floats{1, -0.5f, 0.25f}}});
    samples.push_back({.inputs = {{.shape = {4, 2}}}, .attrs = attrs});
  }
  samples.push_back(
      {.inputs = {{.shape = {4, 2}}},
       .attrs = {
           {"coefficients", Floats{1, -2}}, {"rho", Floats{0.5f}}, {"one_class", int64_t{1}}}});
  return samples;
}

std::vector<Sample> svm_classifier_samples() {
  AttrMap attrs = machine_sample("RBF");
  attrs.insert({{"vectors_per_class", Ints{1, 1, 1}},
                {"coefficients", Floats{1, -0.5f, 0.25f, -1, 0.75f, 2}},
                {"classlabels_ints", Ints{1, 2, 3}}});
  AttrMap probabilities = attrs;
  probabilities.insert({{"prob_a", Floats{-1, -2, -0.5f}}, {"prob_b", Floats{0, 0.1f, -0.1f}}});
  AttrMap two = machine_sample("POLY");
  two.insert({{"vectors_per_class", Ints{2, 1}},
              {"coefficients", Floats{1, -0.5f, 0.25f}},
              {"classlabels_strings", Strings{"a", "b"}},
              {"post_transform", std::string("LOGISTIC")}});
  return {{.inputs = {{.shape = {4, 2}}}, .attrs = attrs, .outputs = 2},
          {.inputs = {{.shape = {4, 2}}}, .attrs = probabilities, .outputs = 2},
          {.inputs = {{.shape = {4, 2}}}, .attrs = two, .outputs = 2},
          {.inputs = {{.shape = {4, 2}}},
           .attrs = {{"coefficients", Floats{1, -0.5f, 0.25f, -1}},
                     {"rho", Floats{0.1f}},
                     {"classlabels_strings", Strings{"a", "b"}}},
           .outputs = 2}};
}

const OpDef kSupportVectorOps[] = {
    {.name = "SVMClassifier",
     .doc = "The class of each row of X [N, F] by support vectors, and the scores.",
     .domain = "ai.onnx.ml",
     .signature = "(X: T1) -> (Y: T2, Z: float)",
     .types = {{"T1", kSvmTypes}, {"T2", DTypeSet{DType::kString, DType::kInt64}}},
     .attrs = attr_schema<SvmClassifierAttrs>(),
     .infer = infer_svm_classifier,
     .reference = svm_classifier,
     .samples = svm_classifier_samples},
    {.name = "SVMRegressor",
     .doc = "The value of each row of X [N, F] by support vectors: [N, 1].",
     .domain = "ai.onnx.ml",
     .signature = "(X: T) -> (Y: float)",
     .types = {{"T", kSvmTypes}},
     .attrs = attr_schema<SvmRegressorAttrs>(),
     .infer = infer_svm_regressor,
     .reference = svm_regressor,
     .samples = svm_regressor_samples},
};

}  // namespace

SvmVectors svm_vectors(const SvmRegressorAttrs& attrs) {
  const bool linear = attrs.n_supports == 0;
  return {linear, linear ? attrs.coefficients : attrs.support_vectors,
          std::max<int64_t>(attrs.n_supports, 1)};
}

SvmVectors svm_vectors(const SvmClassifierAttrs& attrs) {
  const int64_t vectors = vector_count(attrs);
  if (vectors > 0) return {false, attrs.support_vectors, vectors};
  return {true, attrs.coefficients, static_cast<int64_t>(svm_labels(attrs).size())};
}

SvmKernelParams svm_kernel_params(const SvmAttrs& attrs) {
  if (attrs.kernel_params.empty()) return {};
  return {attrs.kernel_params[0], attrs.kernel_params[1], attrs.kernel_params[2]};
}

float finish_svm_regressor(const SvmRegressorAttrs& attrs, std::span<const double> kernels) {
  const bool is_plain = attrs.n_supports == 0;
  const double sum = summed(static_cast<int64_t>(kernels.size()), [&](int64_t i) {
    return is_plain ? kernels[i] : kernels[i] * attrs.coefficients[i];
  });
  auto result = static_cast<float>(attrs.rho[0] + sum);
  transform_score_table(post_transform_named(attrs.post_transform), {&result, 1}, 1);
  if (attrs.one_class != 0) return result > 0 ? 1.f : -1.f;
  return result;
}

ClassLabels svm_labels(const SvmClassifierAttrs& attrs) {
  return {attrs.classlabels_strings, attrs.classlabels_ints};
}

int64_t svm_score_columns(const SvmClassifierAttrs& attrs) {
  const auto classes = static_cast<int64_t>(svm_labels(attrs).size());
  if (vector_count(attrs) == 0 || !attrs.prob_a.empty()) return classes;
  return classes > 2 ? classes * (classes - 1) / 2 : 2;
}

size_t finish_svm_classifier(const SvmClassifierAttrs& attrs, std::span<const double> kernels,
                             PostTransform transform, std::span<float> out) {
  return vector_count(attrs) == 0 ? classify_by_models(attrs, kernels, transform, out)
                                  : classify_by_pairs(attrs, kernels, transform, out);
}

std::span<const OpDef> support_vector_ops() {
  return kSupportVectorOps;
}

}  // namespace sardonyx::ops
