// Attributes of the normalizations.
#pragma once

#include <tuple>
#include <vector>

#include "ir/attributes.h"

namespace sardonyx::ops {

struct BatchNormalizationAttrs {
  float epsilon = 1e-5f;
  float momentum = 0.9f;
  bool training_mode = false;
  static auto fields() {
    return std::tuple{field("epsilon", &BatchNormalizationAttrs::epsilon),
                      field("momentum", &BatchNormalizationAttrs::momentum),
                      field("training_mode", &BatchNormalizationAttrs::training_mode)};
  }
};

struct InstanceNormalizationAttrs {
  float epsilon = 1e-5f;
  static auto fields() {
    return std::tuple{field("epsilon", &InstanceNormalizationAttrs::epsilon)};
  }
};

struct GroupNormalizationAttrs {
  float epsilon = 1e-5f;
  int64_t num_groups = 0;
  DType stash_type = DType::kFloat;
  static auto fields() {
    return std::tuple{field("epsilon", &GroupNormalizationAttrs::epsilon),
                      required("num_groups", &GroupNormalizationAttrs::num_groups),
                      field("stash_type", &GroupNormalizationAttrs::stash_type)};
  }
};

// GroupNormalizationGrad; of InstanceNormalization with 0 groups: each channel is one.
struct GroupNormalizationGradAttrs {
  float epsilon = 1e-5f;
  int64_t num_groups = 0;
  static auto fields() {
    return std::tuple{field("epsilon", &GroupNormalizationGradAttrs::epsilon),
                      field("num_groups", &GroupNormalizationGradAttrs::num_groups)};
  }
};

// LayerNormalization and RMSNormalization.
struct LayerNormalizationAttrs {
  int64_t axis = -1;
  float epsilon = 1e-5f;
  DType stash_type = DType::kFloat;
  static auto fields() {
    return std::tuple{field("axis", &LayerNormalizationAttrs::axis),
                      field("epsilon", &LayerNormalizationAttrs::epsilon),
                      field("stash_type", &LayerNormalizationAttrs::stash_type)};
  }
};

// LayerNormalizationGrad; not centred: that of RMSNormalization.
struct RowNormalizationGradAttrs {
  int64_t axis = -1;
  float epsilon = 1e-5f;
  bool is_centered = true;
  static auto fields() {
    return std::tuple{field("axis", &RowNormalizationGradAttrs::axis),
                      field("epsilon", &RowNormalizationGradAttrs::epsilon),
                      field("is_centered", &RowNormalizationGradAttrs::is_centered)};
  }
};

struct LpNormalizationAttrs {
  int64_t axis = -1;
  int64_t p = 2;
  static auto fields() {
    return std::tuple{field("axis", &LpNormalizationAttrs::axis),
                      field("p", &LpNormalizationAttrs::p)};
  }
};

struct MeanVarianceNormalizationAttrs {
  std::vector<int64_t> axes = {0, 2, 3};
  static auto fields() { return std::tuple{field("axes", &MeanVarianceNormalizationAttrs::axes)}; }
};

struct LrnAttrs {
  float alpha = 1e-4f;
  float beta = 0.75f;
  float bias = 1;
  int64_t size = 0;
  static auto fields() {
    return std::tuple{field("alpha", &LrnAttrs::alpha), field("beta", &LrnAttrs::beta),
                      field("bias", &LrnAttrs::bias), required("size", &LrnAttrs::size)};
  }
};

}  // namespace sardonyx::ops
