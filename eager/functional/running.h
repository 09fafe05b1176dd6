// What runs along an axis: each result is of the elements up to its place.
#pragma once

#include "eager/tensor.h"

namespace sardonyx::eager {

// {greatest (least) elements so far, their int64 indices}, of the last where several are equal. NaN
// stays. The gradient goes to the elements that the indices name. Steps run one after the other.
std::pair<Tensor, Tensor> cummax(const Tensor& x, int64_t axis, Loc loc = Loc::current());
std::pair<Tensor, Tensor> cummin(const Tensor& x, int64_t axis, Loc loc = Loc::current());
// log(cumsum(exp(x))) without overflow; of floating elements.
Tensor logcumsumexp(const Tensor& x, int64_t axis, Loc loc = Loc::current());
// The integral along an axis by the trapezoidal rule, of values y at the places x or `dx` apart,
// and the integrals up to each place but the first.
Tensor trapezoid(const Tensor& y, const Tensor& x, int64_t axis = -1, Loc loc = Loc::current());
Tensor trapezoid(const Tensor& y, double dx = 1, int64_t axis = -1, Loc loc = Loc::current());
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int64_t axis = -1,
                            Loc loc = Loc::current());
Tensor cumulative_trapezoid(const Tensor& y, double dx = 1, int64_t axis = -1,
                            Loc loc = Loc::current());

}  // namespace sardonyx::eager
