// Functions of tensors under torch's names: the commonest here, the others in eager/functional/.
// Every ONNX op under its own name is in eager/op.h.
#pragma once

#include <concepts>
#include <string_view>
#include <vector>

#include "eager/functional/arrange.h"
#include "eager/functional/elementwise.h"
#include "eager/functional/methods.h"
#include "eager/functional/order.h"
#include "eager/functional/parts.h"
#include "eager/functional/products.h"
#include "eager/functional/reduce.h"
#include "eager/functional/rows.h"
#include "eager/functional/running.h"
#include "eager/functional/sampling.h"
#include "eager/functional/statistics.h"
#include "eager/tensor.h"

namespace sardonyx::eager {

// --- elementwise ---
Tensor add(const Operand& a, const Operand& b);
Tensor sub(const Operand& a, const Operand& b);
Tensor mul(const Operand& a, const Operand& b);
Tensor div(const Operand& a, const Operand& b);
Tensor pow(const Operand& a, const Operand& b);
Tensor remainder(const Operand& a, const Operand& b);  // the sign of b, as in Python
// The greater; where both are equal, each takes half of the gradient.
Tensor maximum(const Operand& a, const Operand& b);
Tensor minimum(const Operand& a, const Operand& b);
// a where the condition (bools) is true, else b.
Tensor where(const Tensor& condition, const Operand& a, const Operand& b);
// Elements limited to [low, high]; either bound may be left out.
Tensor clamp(const Tensor& x, std::optional<Number> low, std::optional<Number> high = {},
             Loc loc = Loc::current());
Tensor clip(const Tensor& x, std::optional<Number> low, std::optional<Number> high = {},
            Loc loc = Loc::current());  // clamp
Tensor clamp_min(const Tensor& x, Number low, Loc loc = Loc::current());
Tensor clamp_max(const Tensor& x, Number high, Loc loc = Loc::current());
// Unary functions keep the shape; errors name the caller's line.
Tensor abs(const Tensor& x, Loc loc = Loc::current());
Tensor neg(const Tensor& x, Loc loc = Loc::current());
Tensor exp(const Tensor& x, Loc loc = Loc::current());
Tensor log(const Tensor& x, Loc loc = Loc::current());
// log(1 + x), exact for small x.
Tensor log1p(const Tensor& x, Loc loc = Loc::current());
Tensor sqrt(const Tensor& x, Loc loc = Loc::current());
// 1 / sqrt(x).
Tensor rsqrt(const Tensor& x, Loc loc = Loc::current());
Tensor square(const Tensor& x, Loc loc = Loc::current());
Tensor reciprocal(const Tensor& x, Loc loc = Loc::current());
Tensor sin(const Tensor& x, Loc loc = Loc::current());
Tensor cos(const Tensor& x, Loc loc = Loc::current());
Tensor tanh(const Tensor& x, Loc loc = Loc::current());
Tensor erf(const Tensor& x, Loc loc = Loc::current());
Tensor floor(const Tensor& x, Loc loc = Loc::current());
Tensor ceil(const Tensor& x, Loc loc = Loc::current());
Tensor round(const Tensor& x, Loc loc = Loc::current());  // halves to even
Tensor sign(const Tensor& x, Loc loc = Loc::current());
// Bools.
Tensor isnan(const Tensor& x, Loc loc = Loc::current());

// --- activations ---
Tensor relu(const Tensor& x, Loc loc = Loc::current());
// x where it is not negative, else slope * x.
Tensor leaky_relu(const Tensor& x, double slope = 0.01, Loc loc = Loc::current());
// x where it is positive, else alpha * (exp(x) - 1).
Tensor elu(const Tensor& x, double alpha = 1, Loc loc = Loc::current());
Tensor selu(const Tensor& x, Loc loc = Loc::current());
// approximate: "none" (erf) or "tanh".
Tensor gelu(const Tensor& x, std::string_view approximate = "none", Loc loc = Loc::current());
// x * sigmoid(x).
Tensor silu(const Tensor& x, Loc loc = Loc::current());
Tensor sigmoid(const Tensor& x, Loc loc = Loc::current());
// max(0, min(1, x / 6 + 0.5)).
Tensor hardsigmoid(const Tensor& x, Loc loc = Loc::current());
// x * hardsigmoid(x).
Tensor hardswish(const Tensor& x, Loc loc = Loc::current());
// log(1 + exp(x)).
Tensor softplus(const Tensor& x, Loc loc = Loc::current());
Tensor softplus(const Tensor& x, double beta, Loc loc = Loc::current());  // of beta * x, over beta
// The same, but x where beta * x is above the threshold.
Tensor softplus(const Tensor& x, double beta, double threshold, Loc loc = Loc::current());
// x * tanh(softplus(x)).
Tensor mish(const Tensor& x, Loc loc = Loc::current());
// exp(x) over its sum along the axis; log_softmax is its logarithm.
Tensor softmax(const Tensor& x, int64_t axis = -1, Loc loc = Loc::current());
Tensor log_softmax(const Tensor& x, int64_t axis = -1, Loc loc = Loc::current());

// --- linear algebra ---
Tensor matmul(const Tensor& a, const Tensor& b, Loc loc = Loc::current());
// x [..., in] times weight [out, in] transposed, plus bias [out] where given.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {},
              Loc loc = Loc::current());
// "ij,jk->ik": sums of products of the operands, labelled by axis. "..." stands for axes
// without labels, which broadcast: "...ij,...jk->...ik".
Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands,
              Loc loc = Loc::current());

// --- joining and taking apart ---
// Along an axis that exists, of the element type that torch promotes theirs to. Beside others a
// tensor of shape [0] adds nothing, whatever their ranks.
Tensor cat(const std::vector<Tensor>& tensors, int64_t axis = 0, Loc loc = Loc::current());
Tensor stack(const std::vector<Tensor>& tensors, int64_t axis = 0, Loc loc = Loc::current());
// Pieces of the given sizes along an axis.
std::vector<Tensor> split(const Tensor& x, const Dims& sizes, int64_t axis = 0,
                          Loc loc = Loc::current());
template <std::same_as<std::vector<int64_t>> Numbers>
std::vector<Tensor> split(const Tensor& x, const Numbers& sizes, int64_t axis = 0,
                          Loc loc = Loc::current()) {
  return split(x, to_dims(sizes), axis, loc);
}
// Pieces of ceil(size / count) elements, the last one of what is left: as in torch they may be
// fewer than `count`. Where the size is open in a trace, its example says how many there are.
std::vector<Tensor> chunk(const Tensor& x, int64_t count, int64_t axis = 0,
                          Loc loc = Loc::current());
// pads: elements before and behind the last axis, then the axis before it, and so on; negative ones
// cut off. For an image {left, right, top, bottom}.
Tensor pad(const Tensor& x, const std::vector<int64_t>& pads, Number value = 0,
           Loc loc = Loc::current());
// The whole, repeats[i] times along axis i.
Tensor tile(const Tensor& x, const Dims& repeats, Loc loc = Loc::current());
template <std::same_as<std::vector<int64_t>> Numbers>
Tensor tile(const Tensor& x, const Numbers& repeats, Loc loc = Loc::current()) {
  return tile(x, to_dims(repeats), loc);
}

// --- picking ---
// The rows of x along an axis that `indices` (any rank) name.
Tensor index_select(const Tensor& x, int64_t axis, const Tensor& indices, Loc loc = Loc::current());
// out[i][j] = x[i][indices[i][j]] for axis 1, and so on (GatherElements).
Tensor gather(const Tensor& x, int64_t axis, const Tensor& indices, Loc loc = Loc::current());
// A copy of x with out[i][indices[i][j]] = source[i][j] for axis 1; reduction: "none", "add",
// "mul", "min", "max".
Tensor scatter(const Tensor& x, int64_t axis, const Tensor& indices, const Tensor& source,
               std::string_view reduction = "none", Loc loc = Loc::current());
// Classes outside [0, classes) are an error. In a trace nothing is known of them: there negative
// ones count from the end and others give a row without a one, as ONNX has it.
Tensor one_hot(const Tensor& indices, int64_t classes, DType dtype = DType::kFloat,
               Loc loc = Loc::current());
// Zeros above (below) a diagonal of the last two axes.
Tensor tril(const Tensor& x, int64_t diagonal = 0, Loc loc = Loc::current());
Tensor triu(const Tensor& x, int64_t diagonal = 0, Loc loc = Loc::current());
// {values, indices} of the k largest (smallest) along an axis, sorted.
std::pair<Tensor, Tensor> topk(const Tensor& x, const Dim& k, int64_t axis = -1,
                               bool largest = true, Loc loc = Loc::current());
// Of bools and of integers below 64 bits: int64.
Tensor cumsum(const Tensor& x, int64_t axis, Loc loc = Loc::current());

// --- over axes ---
// With the divisor n - correction, as in torch.
Tensor var(const Tensor& x, const Axes& axes = {}, bool keepdim = false, int64_t correction = 1,
           Loc loc = Loc::current());
Tensor logsumexp(const Tensor& x, const Axes& axes, bool keepdim = false, Loc loc = Loc::current());
Tensor norm(const Tensor& x, Loc loc = Loc::current());  // L2 over all elements

// A dim as a tensor of rank 0 (int64): computed in the graph where it is symbolic.
Tensor dim_tensor(const Dim& dim, Loc loc = Loc::current());
// Dims as a 1-D int64 tensor.
Tensor dims_tensor(const Dims& dims, Loc loc = Loc::current());

}  // namespace sardonyx::eager
