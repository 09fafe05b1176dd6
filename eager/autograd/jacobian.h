// Functions made of functions: products with Jacobians, whole ones, Hessians, and functions of one
// sample on batches. What they give can be differentiated again where an argument is tracked, and
// traced. Functions take and give floating tensors; each has a form for functions of one tensor.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "eager/autograd/autograd.h"

namespace sardonyx::eager {

using TensorMap = std::function<Tensor(const Tensor&)>;

// {fn(inputs), J tangents}: how the value moves where the inputs move along the tangents (of the
// inputs' types). Takes two backward passes: the first gives J^T v for a v of any value, which is
// linear in it, and the second differentiates that by v.
std::pair<Tensor, Tensor> jvp(const Function& fn, const std::vector<Tensor>& inputs,
                              const std::vector<Tensor>& tangents, Loc loc = Loc::current());
std::pair<Tensor, Tensor> jvp(const TensorMap& fn, const Tensor& x, const Tensor& tangent,
                              Loc loc = Loc::current());

// {fn(inputs), a function that gives J^T v for each input}; it may be called many times.
using Pullback = std::function<std::vector<Tensor>(const Tensor& v)>;
std::pair<Tensor, Pullback> vjp(const Function& fn, const std::vector<Tensor>& inputs,
                                Loc loc = Loc::current());

// By each input the Jacobian [fn's shape..., input's shape...]. jacrev takes one backward pass for
// each element of the result, jacfwd one jvp for each element of an input: the fewer the better.
// Shapes are known, in a trace too.
std::function<std::vector<Tensor>(const std::vector<Tensor>&)> jacrev(Function fn);
TensorMap jacrev(TensorMap fn);
std::function<std::vector<Tensor>(const std::vector<Tensor>&)> jacfwd(Function fn);
TensorMap jacfwd(TensorMap fn);

// Of a function whose result has one element: by inputs i and j the second derivatives, [input i's
// shape..., input j's shape...] at [i][j].
std::function<std::vector<std::vector<Tensor>>(const std::vector<Tensor>&)> hessian(Function fn);
TensorMap hessian(TensorMap fn);
// The Hessian times a vector, for each input, without the Hessian.
std::vector<Tensor> hvp(const Function& fn, const std::vector<Tensor>& inputs,
                        const std::vector<Tensor>& tangents, Loc loc = Loc::current());

struct VmapOptions {
  // The axis of each argument that is the batch; none: all samples get the argument whole. Axis 0
  // of all where empty.
  std::vector<std::optional<int64_t>> in_axes = {};
  int64_t out_axis = 0;  // the batch among the axes of each result
};
// A function of one sample's tensors as one of batches: vmap(grad(loss)) gives gradients by sample.
// Samples run one after the other (a loop; in a trace one Scan, for any batch), so it saves
// writing, not time.
using TensorsMap = std::function<std::vector<Tensor>(const std::vector<Tensor>&)>;
TensorsMap vmap(TensorsMap fn, VmapOptions options = {});
TensorMap vmap(TensorMap fn, VmapOptions options = {});

}  // namespace sardonyx::eager
