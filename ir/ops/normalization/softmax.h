// Attributes of the ops along one axis.
#pragma once

#include <string>
#include <tuple>

#include "ir/attributes.h"

namespace sardonyx::ops {

// Attributes of Softmax, LogSoftmax and Hardmax.
struct SoftmaxAttrs {
  int64_t axis = -1;
  static auto fields() { return std::tuple{field("axis", &SoftmaxAttrs::axis)}; }
};

// Attributes of NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
struct LossAttrs {
  std::optional<int64_t> ignore_index;
  std::string reduction = "mean";  // or "sum", "none"
  static auto fields() {
    return std::tuple{field("ignore_index", &LossAttrs::ignore_index),
                      field("reduction", &LossAttrs::reduction)};
  }
};

}  // namespace sardonyx::ops
