// Random numbers of given distributions. They come from the generator of eager/create.h; in a trace
// they are drawn anew in each run.
#pragma once

#include "eager/create.h"

namespace sardonyx::eager {

// 1 with the probability that each element of p is (within [0, 1]), else 0; of p's type.
Tensor bernoulli(const Tensor& p, Loc loc = Loc::current());
// `count` indices for each row of weights [n] or [rows, n]: int64 [count] or [rows, count]. Weights
// are floating, at least 0, and need not sum to 1. Without replacement no index comes twice, which
// needs `count` weights above 0 in each row.
Tensor multinomial(const Tensor& weights, int64_t count, bool replacement = false,
                   Loc loc = Loc::current());
// N(mean, std^2); of tensors, which broadcast, or of a shape.
Tensor normal(const Tensor& mean, const Operand& std);
Tensor normal(double mean, double std, const Dims& shape, CreateOptions options = {},
              Loc loc = Loc::current());
// Evenly within [low, high).
Tensor uniform(double low, double high, const Dims& shape, CreateOptions options = {},
               Loc loc = Loc::current());
// Exponentially distributed with mean 1 / rate.
Tensor exponential(double rate, const Dims& shape, CreateOptions options = {},
                   Loc loc = Loc::current());
// Samples of the categories whose logits are along an axis, softened by the temperature tau > 0
// (Jang et al., 2017). `hard`: one-hot, with the gradient of the soft ones.
struct GumbelSoftmaxOptions {
  double tau = 1;
  bool hard = false;
  int64_t axis = -1;
};
Tensor gumbel_softmax(const Tensor& logits, GumbelSoftmaxOptions options = {},
                      Loc loc = Loc::current());

}  // namespace sardonyx::eager
