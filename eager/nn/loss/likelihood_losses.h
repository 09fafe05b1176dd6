// Negative log-likelihoods of distributions, by torch.nn.functional's formulas.
#pragma once

#include "eager/nn/loss/losses.h"

namespace sardonyx::eager::nn {

struct GaussianNllOptions {
  bool full = false;  // with the constant log(2 pi) / 2
  double eps = 1e-6;  // the least variance, which has no gradient below
  Reduction reduction = Reduction::kMean;
};
// (log(variance) + (input - target)^2 / variance) / 2; the variance broadcasts to the input.
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& variance,
                         GaussianNllOptions options = {}, Loc loc = Loc::current());

struct PoissonNllOptions {
  bool log_input = true;  // the input is the logarithm of the rate
  bool full = false;      // with Stirling's approximation of log(target!) for targets above 1
  double eps = 1e-8;      // added to a rate whose logarithm is taken
  Reduction reduction = Reduction::kMean;
};
// exp(input) - target * input, or input - target * log(input + eps).
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, PoissonNllOptions options = {},
                        Loc loc = Loc::current());

}  // namespace sardonyx::eager::nn
