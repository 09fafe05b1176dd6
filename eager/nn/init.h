// Initial values of parameters, by torch.nn.init's formulas. Each gives the tensor (and all its
// handles) new values; gradients are not recorded.
#pragma once

#include <string_view>

#include "eager/tensor.h"

namespace sardonyx::eager::nn::init {

void constant(const Tensor& x, Number value);
void zeros(const Tensor& x);
void ones(const Tensor& x);
void uniform(const Tensor& x, double low = 0, double high = 1);
// A new float tensor, uniform within [-bound, bound).
Tensor uniform_tensor(const Dims& shape, double bound);
void normal(const Tensor& x, double mean = 0, double deviation = 1);
// A normal distribution cut to [low, high], by the inverse of its distribution function.
void trunc_normal(const Tensor& x, double mean = 0, double deviation = 1, double low = -2,
                  double high = 2);
// The rest needs rank 2 or more: outputs, inputs, kernel ...
void xavier_uniform(const Tensor& x, double gain = 1);
void xavier_normal(const Tensor& x, double gain = 1);
struct Kaiming {
  double slope = 0;  // of the leaky_relu that follows; 0: of a relu
  bool fan_out = false;
  std::string_view nonlinearity = "leaky_relu";
};
void kaiming_uniform(const Tensor& x, Kaiming options = {});
void kaiming_normal(const Tensor& x, Kaiming options = {});
// Orthonormal rows (or columns, if there are fewer) of the tensor as [first dim, rest], times gain.
void orthogonal(const Tensor& x, double gain = 1);
// Ones on the diagonal; rank 2.
void eye(const Tensor& x);
// Passes inputs on through a convolution kernel (rank 3 to 5) wherever channels allow.
void dirac(const Tensor& x);
// A share `sparsity` of each column is zero, the rest N(0, deviation); rank 2.
void sparse(const Tensor& x, double sparsity, double deviation = 0.01);

// The factor that keeps variances through a nonlinearity: linear, conv, sigmoid, tanh, relu,
// leaky_relu (parameter: slope, 0.01), selu.
double gain(std::string_view nonlinearity, double slope = 0.01);
struct Fans {
  double in, out;
};
Fans fans_of(const Tensor& x);

}  // namespace sardonyx::eager::nn::init
