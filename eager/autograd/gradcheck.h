// Gradients beside differences of values: what a rule of one's own is tested with.
#pragma once

#include <functional>
#include <vector>

#include "eager/tensor.h"

namespace sardonyx::eager {

struct GradcheckOptions {
  double eps = 1e-6;   // the step of the central differences
  double atol = 1e-5;  // |gradient - difference| <= atol + rtol * |difference|
  double rtol = 1e-3;
  bool throws = true;  // else the result says whether gradients fit
};
// Whether backward() of every element of fn's floating results gives, for every element of the
// inputs that require gradients, what central differences do. These inputs are float64, for
// differences of others are too coarse. Throws kInvalidArgument naming the result, the input, their
// elements and both numbers where one does not fit, and where no input requires gradients.
bool gradcheck(const std::function<std::vector<Tensor>(const std::vector<Tensor>&)>& fn,
               const std::vector<Tensor>& inputs, GradcheckOptions options = {},
               Loc loc = Loc::current());

}  // namespace sardonyx::eager
