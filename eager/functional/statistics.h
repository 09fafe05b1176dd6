// Statistics of samples beside the reductions of eager/functional/reduce.h.
#pragma once

#include <optional>
#include <utility>

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
struct Histogram {
  Tensor counts, edges;  // [bins] and [bins + 1], of x's type
};
struct HistogramOptions {
  std::optional<std::pair<double, double>> range = {};  // none: [min, max] of x
  Tensor weight = {};    // of x's shape: what an element counts; ones where undefined
  bool density = false;  // divided by the sum and the widths: a density, whose integral is 1
};
// How many elements of the flattened x fall into each bin [edge, next edge), of which the last has
// its upper edge, too. Elements outside count nowhere. Of equal bins, or of edges (ascending) at
// hand, beside which a range is an error.
Histogram histogram(const Tensor& x, int64_t bins, const HistogramOptions& options = {},
                    Loc loc = Loc::current());
Histogram histogram(const Tensor& x, const Tensor& edges, const HistogramOptions& options = {},
                    Loc loc = Loc::current());
// The elements of the flattened x without those that equal the one before: values, the place of
// each element's value, how often each came.
UniqueResult unique_consecutive(const Tensor& x, Loc loc = Loc::current());

}  // namespace sardonyx::eager
