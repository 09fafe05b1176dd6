// Sorting, order statistics, counting and sets.
#pragma once

#include "eager/tensor.h"

namespace sardonyx::eager {

// {values, int64 indices} along an axis. Equal elements keep their order.
std::pair<Tensor, Tensor> sort(const Tensor& x, int64_t axis = -1, bool descending = false,
                               Loc loc = Loc::current());
Tensor argsort(const Tensor& x, int64_t axis = -1, bool descending = false,
               Loc loc = Loc::current());
// {value, index} of the k-th least element along an axis; k counts from 1.
std::pair<Tensor, Tensor> kthvalue(const Tensor& x, int64_t k, int64_t axis = -1,
                                   bool keepdim = false, Loc loc = Loc::current());
// The lower of the middle elements, as in torch: of all elements, or {value, index} along an axis.
// Where there is a NaN, it is the first one.
Tensor median(const Tensor& x, Loc loc = Loc::current());
std::pair<Tensor, Tensor> median(const Tensor& x, int64_t axis, bool keepdim = false,
                                 Loc loc = Loc::current());
// The same of the elements that are no NaN; NaN where there is no other.
Tensor nanmedian(const Tensor& x, Loc loc = Loc::current());
std::pair<Tensor, Tensor> nanmedian(const Tensor& x, int64_t axis, bool keepdim = false,
                                    Loc loc = Loc::current());
// {value, index} of what occurs most often along an axis, the least of several such, at the last
// of its places. A NaN equals no other.
std::pair<Tensor, Tensor> mode(const Tensor& x, int64_t axis = -1, bool keepdim = false,
                               Loc loc = Loc::current());
// The q-th quantile, 0 <= q <= 1, linear between elements; NaN where one is among them.
Tensor quantile(const Tensor& x, double q, std::optional<int64_t> axis = {}, bool keepdim = false,
                Loc loc = Loc::current());
// The same of the elements that are no NaN; NaN where there is no other.
Tensor nanquantile(const Tensor& x, double q, std::optional<int64_t> axis = {},
                   bool keepdim = false, Loc loc = Loc::current());
// x[i + 1] - x[i] along an axis, `times` over.
Tensor diff(const Tensor& x, int64_t times = 1, int64_t axis = -1, Loc loc = Loc::current());
// Running products. ONNX has the op from opset 26 on.
Tensor cumprod(const Tensor& x, int64_t axis, Loc loc = Loc::current());

// The places [n, rank] of the elements other than 0, int64, in row-major order.
Tensor nonzero(const Tensor& x, Loc loc = Loc::current());
// How often each integer from 0 to the greatest (at least minlength - 1) occurs in x [n], or the
// sums of the elements' weights. Negative elements are an error where there are values.
Tensor bincount(const Tensor& x, const Tensor& weights = {}, int64_t minlength = 0,
                Loc loc = Loc::current());
// The sorted different elements of all of x (or slices along an axis); where each element of x is
// among them, in x's shape (of slices: one each); how often each occurs. int64.
struct UniqueResult {
  Tensor values, inverse, counts;
};
UniqueResult unique(const Tensor& x, std::optional<int64_t> axis = {}, Loc loc = Loc::current());
// For each element of x the number of `boundaries` [n] (ascending) below it; with `right`, those
// equal to it as well. int64, in x's shape. Memory of x's elements times n.
Tensor bucketize(const Tensor& x, const Tensor& boundaries, bool right = false,
                 Loc loc = Loc::current());
// Whether each element of x is among `elements`: bool, in x's shape. Memory as bucketize().
Tensor isin(const Tensor& x, const Tensor& elements, Loc loc = Loc::current());

}  // namespace sardonyx::eager
