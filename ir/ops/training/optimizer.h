// Attributes of the rows that update parameters. A number is the sum of its parts. The momentum of
// SgdStep and RmspropStep and the beta1 of AdamStep are those of the last input where there is one.
#pragma once

#include <tuple>
#include <vector>

#include "ir/attributes.h"

namespace sardonyx::ops {

using Number = std::vector<float>;
double number_of(const Number& parts);
// The parts of a number, to about 48 bits.
Number number_parts(double number);

struct SgdStepAttrs {
  Number momentum, dampening, weight_decay;
  bool nesterov = false, maximize = false;
  static auto fields() {
    return std::tuple{
        field("momentum", &SgdStepAttrs::momentum), field("dampening", &SgdStepAttrs::dampening),
        field("weight_decay", &SgdStepAttrs::weight_decay),
        field("nesterov", &SgdStepAttrs::nesterov), field("maximize", &SgdStepAttrs::maximize)};
  }
};

struct AdamStepAttrs {
  Number beta1 = number_parts(0.9), beta2 = number_parts(0.999), epsilon = number_parts(1e-8);
  Number weight_decay;
  bool decoupled = false;  // the decay is no part of the gradient (AdamW)
  bool maximize = false;
  static auto fields() {
    return std::tuple{field("beta1", &AdamStepAttrs::beta1),
                      field("beta2", &AdamStepAttrs::beta2),
                      field("epsilon", &AdamStepAttrs::epsilon),
                      field("weight_decay", &AdamStepAttrs::weight_decay),
                      field("decoupled", &AdamStepAttrs::decoupled),
                      field("maximize", &AdamStepAttrs::maximize)};
  }
};

struct RmspropStepAttrs {
  Number alpha = number_parts(0.99), epsilon = number_parts(1e-8);
  Number weight_decay, momentum;
  bool maximize = false;
  static auto fields() {
    return std::tuple{field("alpha", &RmspropStepAttrs::alpha),
                      field("epsilon", &RmspropStepAttrs::epsilon),
                      field("weight_decay", &RmspropStepAttrs::weight_decay),
                      field("momentum", &RmspropStepAttrs::momentum),
                      field("maximize", &RmspropStepAttrs::maximize)};
  }
};

struct AdagradStepAttrs {
  Number rate_decay, weight_decay, epsilon = number_parts(1e-10);
  bool maximize = false;
  static auto fields() {
    return std::tuple{field("rate_decay", &AdagradStepAttrs::rate_decay),
                      field("weight_decay", &AdagradStepAttrs::weight_decay),
                      field("epsilon", &AdagradStepAttrs::epsilon),
                      field("maximize", &AdagradStepAttrs::maximize)};
  }
};

// Attributes of a step (SgdStepAttrs, AdamStepAttrs) whose gradient is the product of two matrices.
template <typename Step>
struct ProductStepAttrs : Step {
  bool transA = false, transB = false;
  static auto fields() {
    using A = ProductStepAttrs;
    return std::tuple_cat(Step::fields(),
                          std::tuple{field("transA", &A::transA), field("transB", &A::transB)});
  }
};

}  // namespace sardonyx::ops
