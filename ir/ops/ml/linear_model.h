// Linear models of ai.onnx.ml: their attributes, and what follows the sums of products.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "ir/op_def.h"

namespace sardonyx::ops {

struct LinearClassifierAttrs {
  std::vector<int64_t> classlabels_ints;
  std::vector<std::string> classlabels_strings;
  std::vector<float> coefficients, intercepts;
  int64_t multi_class = 0;
  std::string post_transform = "NONE";
  static auto fields() {
    using A = LinearClassifierAttrs;
    return std::tuple{field("classlabels_ints", &A::classlabels_ints),
                      field("classlabels_strings", &A::classlabels_strings),
                      required("coefficients", &A::coefficients),
                      field("intercepts", &A::intercepts),
                      field("multi_class", &A::multi_class),
                      field("post_transform", &A::post_transform)};
  }
};

// How many rows the coefficients have: one for each class, or a single one that tells two apart.
int64_t coefficient_rows(const LinearClassifierAttrs& attrs);
// Labels and scores out of the sums [rows, coefficient_rows], which are changed.
void finish_linear_classifier(const LinearClassifierAttrs& attrs, std::span<float> scores,
                              std::span<const TensorView> outputs);

struct LinearRegressorAttrs {
  std::vector<float> coefficients, intercepts;
  std::string post_transform = "NONE";
  int64_t targets = 1;
  static auto fields() {
    using A = LinearRegressorAttrs;
    return std::tuple{field("coefficients", &A::coefficients), field("intercepts", &A::intercepts),
                      field("post_transform", &A::post_transform), field("targets", &A::targets)};
  }
};

// Scores out of the sums [rows, targets], which are changed.
void finish_linear_regressor(const LinearRegressorAttrs& attrs, std::span<float> scores,
                             float* out);

// y = (x - offset) * scale; a list has one element, or one for each feature (the last dim).
struct ScalerAttrs {
  std::vector<float> offset, scale;
  static auto fields() {
    return std::tuple{field("offset", &ScalerAttrs::offset), field("scale", &ScalerAttrs::scale)};
  }
};

struct NormalizerAttrs {
  std::string norm = "MAX";
  static auto fields() { return std::tuple{field("norm", &NormalizerAttrs::norm)}; }
};

struct ImputerAttrs {
  std::vector<float> imputed_value_floats;
  std::vector<int64_t> imputed_value_int64s;
  float replaced_value_float = 0;
  int64_t replaced_value_int64 = 0;
  static auto fields() {
    using A = ImputerAttrs;
    return std::tuple{field("imputed_value_floats", &A::imputed_value_floats),
                      field("imputed_value_int64s", &A::imputed_value_int64s),
                      field("replaced_value_float", &A::replaced_value_float),
                      field("replaced_value_int64", &A::replaced_value_int64)};
  }
};

}  // namespace sardonyx::ops
