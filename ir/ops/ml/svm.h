// Support vector machines of ai.onnx.ml: their attributes, and what follows the values of the
// kernel function. Where the specification is silent, they do as ONNX Runtime does.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "ir/ops/ml/post_transform.h"

namespace sardonyx::ops {

struct SvmAttrs {
  std::vector<float> coefficients, kernel_params;
  std::string kernel_type = "LINEAR", post_transform = "NONE";
  std::vector<float> rho, support_vectors;
  template <typename A>
  static auto shared_fields() {
    return std::tuple{Field<A, std::vector<float>>{"coefficients", &A::coefficients},
                      Field<A, std::vector<float>>{"kernel_params", &A::kernel_params},
                      Field<A, std::string>{"kernel_type", &A::kernel_type},
                      Field<A, std::string>{"post_transform", &A::post_transform},
                      Field<A, std::vector<float>>{"rho", &A::rho},
                      Field<A, std::vector<float>>{"support_vectors", &A::support_vectors}};
  }
};

struct SvmClassifierAttrs : SvmAttrs {
  std::vector<int64_t> classlabels_ints;
  std::vector<std::string> classlabels_strings;
  std::vector<float> prob_a, prob_b;
  std::vector<int64_t> vectors_per_class;
  static auto fields() {
    using A = SvmClassifierAttrs;
    return std::tuple_cat(shared_fields<A>(),
                          std::tuple{field("classlabels_ints", &A::classlabels_ints),
                                     field("classlabels_strings", &A::classlabels_strings),
                                     field("prob_a", &A::prob_a), field("prob_b", &A::prob_b),
                                     field("vectors_per_class", &A::vectors_per_class)});
  }
};

struct SvmRegressorAttrs : SvmAttrs {
  int64_t n_supports = 0, one_class = 0;
  static auto fields() {
    using A = SvmRegressorAttrs;
    return std::tuple_cat(shared_fields<A>(), std::tuple{field("n_supports", &A::n_supports),
                                                         field("one_class", &A::one_class)});
  }
};

// The vectors that the kernel function of a machine is applied to: its support vectors or, where it
// has none, coefficients, of which there is one row for each class (or a single one); then the
// kernel function is a product.
struct SvmVectors {
  bool are_coefficients;
  const std::vector<float>& rows;
  int64_t count;
};
SvmVectors svm_vectors(const SvmRegressorAttrs& attrs);
SvmVectors svm_vectors(const SvmClassifierAttrs& attrs);

// The numbers that the kernel function is made of; zeros where they are not given.
struct SvmKernelParams {
  double gamma = 0, coef0 = 0, degree = 0;
};
SvmKernelParams svm_kernel_params(const SvmAttrs& attrs);

// The result for one row, out of the kernel function's values with all vectors.
float finish_svm_regressor(const SvmRegressorAttrs& attrs, std::span<const double> kernels);
// The winning class, and the scores that are given out.
int64_t svm_score_columns(const SvmClassifierAttrs& attrs);
size_t finish_svm_classifier(const SvmClassifierAttrs& attrs, std::span<const double> kernels,
                             PostTransform transform, std::span<float> out);
ClassLabels svm_labels(const SvmClassifierAttrs& attrs);

}  // namespace sardonyx::ops
