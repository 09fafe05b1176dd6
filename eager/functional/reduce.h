// Reductions beside those that are methods of Tensor (sum, mean, amax, amin). No axes: over all
// elements. NaNs count as they do in arithmetic unless the name says otherwise.
#pragma once

#include "eager/tensor.h"

namespace sardonyx::eager {

// Whether any (all) elements are other than 0: bool. Of nothing: false (true).
Tensor any(const Tensor& x, const Axes& axes = {}, bool keepdim = false, Loc loc = Loc::current());
Tensor all(const Tensor& x, const Axes& axes = {}, bool keepdim = false, Loc loc = Loc::current());
Tensor count_nonzero(const Tensor& x, const Axes& axes = {}, Loc loc = Loc::current());  // int64
// Products; of integers and bools in int64.
Tensor prod(const Tensor& x, const Axes& axes = {}, bool keepdim = false, Loc loc = Loc::current());
Tensor nansum(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
              Loc loc = Loc::current());
Tensor nanmean(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
               Loc loc = Loc::current());
// The square root of var(); its divisor is n - correction. Where that is 0, so is the gradient.
Tensor std(const Tensor& x, const Axes& axes = {}, bool keepdim = false, int64_t correction = 1,
           Loc loc = Loc::current());
// {var or std, mean}.
std::pair<Tensor, Tensor> var_mean(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
                                   int64_t correction = 1, Loc loc = Loc::current());
std::pair<Tensor, Tensor> std_mean(const Tensor& x, const Axes& axes = {}, bool keepdim = false,
                                   int64_t correction = 1, Loc loc = Loc::current());
// (sum |x|^p)^(1/p); p = 0 counts what is not 0, p = +-infinity gives the greatest (least) |x|.
Tensor norm(const Tensor& x, double p, const Axes& axes = {}, bool keepdim = false,
            Loc loc = Loc::current());
// norm(a - b, p).
Tensor dist(const Tensor& a, const Tensor& b, double p = 2, Loc loc = Loc::current());

// The greatest (least) element of all.
Tensor max(const Tensor& x, Loc loc = Loc::current());
Tensor min(const Tensor& x, Loc loc = Loc::current());
// Along an axis: {values, int64 indices}, of the first where several are equal. The gradient goes
// to the element that the index names.
std::pair<Tensor, Tensor> max(const Tensor& x, int64_t axis, bool keepdim = false,
                              Loc loc = Loc::current());
std::pair<Tensor, Tensor> min(const Tensor& x, int64_t axis, bool keepdim = false,
                              Loc loc = Loc::current());
// {least, greatest} of all elements.
Tensor max(const Tensor& a, const Tensor& b, Loc loc = Loc::current());  // maximum
Tensor min(const Tensor& a, const Tensor& b, Loc loc = Loc::current());
std::pair<Tensor, Tensor> aminmax(const Tensor& x, Loc loc = Loc::current());
// int64 indices of the first greatest (least) element; of all elements in row-major order without
// an axis.
Tensor argmax(const Tensor& x, std::optional<int64_t> axis = {}, bool keepdim = false,
              Loc loc = Loc::current());
Tensor argmin(const Tensor& x, std::optional<int64_t> axis = {}, bool keepdim = false,
              Loc loc = Loc::current());

}  // namespace sardonyx::eager
