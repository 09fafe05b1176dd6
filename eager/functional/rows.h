// Windows of an axis, rows against each other, and norms of parts, under torch's names.
#pragma once

#include <cstdint>
#include <optional>

#include "eager/tensor.h"

namespace sardonyx::eager {

// All windows of `size` elements along an axis, a `step` apart, as a last axis: [.., n, ..] to
// [.., (n - size) / step + 1, .., size]. x.unfold(dimension, size, step) in torch.
Tensor unfold(const Tensor& x, int64_t axis, int64_t size, int64_t step, Loc loc = Loc::current());
// Choices of `count` elements of a vector, in order, one a row.
Tensor combinations(const Tensor& x, int64_t count = 2, bool with_replacement = false,
                    Loc loc = Loc::current());
// Powers of a vector's elements as columns, x^(columns - 1) first unless `increasing`; as many
// columns as elements unless given. Of integers int64.
Tensor vander(const Tensor& x, std::optional<int64_t> columns = {}, bool increasing = false,
              Loc loc = Loc::current());
// Distances of all pairs of rows [n, d], as cdist() measures them: [n (n - 1) / 2], row 0 first.
Tensor pdist(const Tensor& x, double p = 2, Loc loc = Loc::current());
// x with those of its parts along an axis scaled to the norm `maxnorm` whose p-norm is greater.
Tensor renorm(const Tensor& x, double p, int64_t axis, double maxnorm, Loc loc = Loc::current());
Tensor msort(const Tensor& x, Loc loc = Loc::current());  // sorted along the first axis

}  // namespace sardonyx::eager
