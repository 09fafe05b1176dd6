// Terms that several optimisers' formulas share; for the optimisers' own sources.
#pragma once

#include "eager/functional/functional.h"

namespace sardonyx::eager::optim {

// The gradient that an update starts from.
inline Tensor effective_gradient(const Tensor& x, const Tensor& gradient, double decay,
                                 bool maximize) {
  const Tensor own = maximize ? -gradient : gradient;
  return decay == 0 ? own : own + decay * x;
}

// mean + share * (value - mean)
inline Tensor moved(const Tensor& mean, const Tensor& value, double share) {
  return mean + share * (value - mean);
}

// The same with a share that updates compute: float64, rank 0.
inline Tensor moved(const Tensor& mean, const Tensor& value, const Tensor& share) {
  return mean + share.to(mean.dtype()) * (value - mean);
}

// mean of squares
inline Tensor moved_square(const Tensor& mean, const Tensor& value, double beta) {
  return beta * mean + (1 - beta) * (value * value);
}

// base^count as a float64
template <typename Base>
Tensor power(const Base& base, const Tensor& count) {
  return pow(base, count.to(DType::kDouble));
}

// A number that updates compute (float64, rank 0) in the type of x.
inline Tensor as_factor(const Tensor& number, const Tensor& x) {
  return number.to(x.dtype());
}

}  // namespace sardonyx::eager::optim
