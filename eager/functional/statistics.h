// Statistics of samples beside the reductions of eager/functional/reduce.h.
#pragma once

#include "eager/functional/order.h"
#include "eager/tensor.h"

namespace sardonyx::eager {

// The covariances of variables x [n, samples] (or of one [samples]): [n, n], with the divisor
// samples - correction; and the correlation coefficients, within [-1, 1].
Tensor cov(const Tensor& x, int64_t correction = 1, Loc loc = Loc::current());
Tensor corrcoef(const Tensor& x, Loc loc = Loc::current());
// How many elements fall into each of `bins` equal parts of [low, high]; of [min, max] where both
// are the same. Elements outside count nowhere. Of x's type.
Tensor histc(const Tensor& x, int64_t bins = 100, double low = 0, double high = 0,
             Loc loc = Loc::current());
// The elements of the flattened x without those that equal the one before: values, the place of
// each element's value, how often each came.
UniqueResult unique_consecutive(const Tensor& x, Loc loc = Loc::current());

}  // namespace sardonyx::eager
