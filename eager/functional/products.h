// Products of vectors and matrices under torch's names, beside matmul, linear and einsum of
// eager/functional/functional.h.
#pragma once

#include "eager/tensor.h"

namespace sardonyx::eager {

// Of matrices [n, k] and [k, m]; of batches of them [b, n, k] and [b, k, m]; of a matrix [n, k] and
// a vector [k]; of two vectors [k]. Other ranks are an error.
Tensor mm(const Tensor& a, const Tensor& b, Loc loc = Loc::current());
Tensor bmm(const Tensor& a, const Tensor& b, Loc loc = Loc::current());
Tensor mv(const Tensor& a, const Tensor& b, Loc loc = Loc::current());
Tensor dot(const Tensor& a, const Tensor& b, Loc loc = Loc::current());
Tensor outer(const Tensor& a, const Tensor& b, Loc loc = Loc::current());  // [n], [m] to [n, m]
// Sums over the last axes of both: [..., k] and [___, k] to [..., ___].
Tensor inner(const Tensor& a, const Tensor& b, Loc loc = Loc::current());
// beta * x + alpha * (a b), x broadcast to the product of mm() (bmm()).
Tensor addmm(const Tensor& x, const Tensor& a, const Tensor& b, ScaledProduct scales = {},
             Loc loc = Loc::current());
Tensor baddbmm(const Tensor& x, const Tensor& a, const Tensor& b, ScaledProduct scales = {},
               Loc loc = Loc::current());
// beta * x + alpha * (a b) of a matrix and a vector; of a product summed over the batch.
Tensor addmv(const Tensor& x, const Tensor& a, const Tensor& b, ScaledProduct scales = {},
             Loc loc = Loc::current());
Tensor addbmm(const Tensor& x, const Tensor& a, const Tensor& b, ScaledProduct scales = {},
              Loc loc = Loc::current());
// Sums over the last `count` axes of a and the first of b, or over the axes named for each.
Tensor tensordot(const Tensor& a, const Tensor& b, int64_t count = 2, Loc loc = Loc::current());
Tensor tensordot(const Tensor& a, const Tensor& b, const std::vector<int64_t>& a_axes,
                 const std::vector<int64_t>& b_axes, Loc loc = Loc::current());
// Kronecker's product of tensors of one rank: [n_i] and [m_i] to [n_i * m_i].
Tensor kron(const Tensor& a, const Tensor& b, Loc loc = Loc::current());
// The cross product of vectors of 3 along an axis; the others broadcast.
Tensor cross(const Tensor& a, const Tensor& b, int64_t axis = -1, Loc loc = Loc::current());
// The sum of the diagonal of a matrix.
Tensor trace(const Tensor& x, Loc loc = Loc::current());
// Of matrices [..., n, n]; a negative power is of the inverse.
Tensor matrix_power(const Tensor& x, int64_t power, Loc loc = Loc::current());
// Distances ||a_i - b_j||_p of the rows of a [..., n, d] and b [..., m, d]: [..., n, m]. Memory of
// n * m * d elements. The gradient of a distance of 0 is 0.
Tensor cdist(const Tensor& a, const Tensor& b, double p = 2, Loc loc = Loc::current());
// The p-norms along the last axis, whose gradient is 0 where they are: distances by differences.
Tensor row_norms(const Tensor& difference, double p, Loc loc = Loc::current());

}  // namespace sardonyx::eager
