// Parts of tensors: joined, taken apart and put into others, beside eager/functional/arrange.h.
#pragma once

#include <string_view>

#include "eager/tensor.h"

namespace sardonyx::eager {

Tensor concat(const std::vector<Tensor>& tensors, int64_t axis = 0,
              Loc loc = Loc::current());  // cat
// Joined along the third axis, and as columns of matrices; tensors of fewer axes get some.
Tensor dstack(const std::vector<Tensor>& tensors, Loc loc = Loc::current());
Tensor column_stack(const std::vector<Tensor>& tensors, Loc loc = Loc::current());
// tensor_split() along the second axis (of vectors: the only one), the first and the third.
std::vector<Tensor> hsplit(const Tensor& x, int64_t count, Loc loc = Loc::current());
std::vector<Tensor> vsplit(const Tensor& x, int64_t count, Loc loc = Loc::current());
std::vector<Tensor> dsplit(const Tensor& x, int64_t count, Loc loc = Loc::current());
Tensor fliplr(const Tensor& x, Loc loc = Loc::current());  // along the second axis
Tensor flipud(const Tensor& x, Loc loc = Loc::current());  // along the first
// With axes of size 1 where there are fewer: [n] to [1, n], and to [1, n, 1].
Tensor atleast_1d(const Tensor& x, Loc loc = Loc::current());
Tensor atleast_2d(const Tensor& x, Loc loc = Loc::current());
Tensor atleast_3d(const Tensor& x, Loc loc = Loc::current());
// Matrices along the diagonal of one, zeros around them.
Tensor block_diag(const std::vector<Tensor>& matrices, Loc loc = Loc::current());
// All combinations of elements of vectors, one a row.
Tensor cartesian_prod(const std::vector<Tensor>& vectors, Loc loc = Loc::current());

Tensor argwhere(const Tensor& x, Loc loc = Loc::current());  // nonzero
// The places of what is true, one tensor an axis.
std::vector<Tensor> where(const Tensor& condition, Loc loc = Loc::current());

// x with `source` in place of one index of an axis, of a range of it, of a diagonal.
Tensor select_scatter(const Tensor& x, const Tensor& source, int64_t axis, int64_t index,
                      Loc loc = Loc::current());
Tensor slice_scatter(const Tensor& x, const Tensor& source, int64_t axis, const Slice& range,
                     Loc loc = Loc::current());
Tensor diagonal_scatter(const Tensor& x, const Tensor& source, int64_t offset = 0, int64_t a = 0,
                        int64_t b = 1, Loc loc = Loc::current());
// One value for all places.
Tensor scatter(const Tensor& x, int64_t axis, const Tensor& indices, Number value,
               Loc loc = Loc::current());
// reduction: sum, prod, mean, amax, amin, of the elements of `source` that go to one place and,
// with `include_self`, of what stands there.
Tensor scatter_reduce(const Tensor& x, int64_t axis, const Tensor& indices, const Tensor& source,
                      std::string_view reduction, bool include_self = true,
                      Loc loc = Loc::current());

}  // namespace sardonyx::eager
