// What special functions share: float64 inside, and slopes of their own.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "eager/autograd/autograd.h"
#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"

namespace sardonyx::eager {

// Of float64, whatever the elements: sums of large terms that cancel would leave little of float32.
inline Tensor by_doubles(const Tensor& x, const char* name, const Loc& loc,
                         const std::function<Tensor(const Tensor&)>& function) {
  require_defined(x, name, "x", loc);
  const DType dtype = is_floating(x.dtype()) ? x.dtype() : DType::kFloat;
  return function(x.to(DType::kDouble, loc)).to(dtype, loc);
}

// c[0] + c[1] x + c[2] x^2 + ...
template <size_t N>
Tensor power_sum(const std::array<double, N>& c, const Tensor& x, const Loc& loc) {
  Tensor sum = add({mul({x, loc}, c[N - 1]), loc}, c[N - 2]);
  for (size_t i = N - 2; i-- > 0;)
    sum = add({mul({sum, loc}, x), loc}, c[i]);
  return sum;
}

// function(x), whose slope is given at x and its value.
using Slope = std::function<Tensor(const Tensor& x, const Tensor& y)>;
inline Tensor with_slope(const Tensor& x, const std::function<Tensor(const Tensor&)>& function,
                         const Slope& slope, const Loc& loc) {
  using Tensors = std::vector<Tensor>;
  const auto forward = [=](const Tensors& in) { return Tensors{function(in[0])}; };
  const auto backward = [=](const Tensors& in, const Tensors& out, const Tensors& d) {
    return Tensors{mul({d[0], loc}, slope(in[0], out[0]))};
  };
  return apply(CustomFunction{forward, backward}, {x}, loc)[0];
}

// A function of float64s with its slope.
inline Tensor sloped(const Tensor& x, const char* name,
                     Tensor (*function)(const Tensor&, const Loc&), const Slope& slope,
                     const Loc& loc) {
  const auto values = [=](const Tensor& wide) { return function(wide, loc); };
  return by_doubles(x, name, loc,
                    [&](const Tensor& wide) { return with_slope(wide, values, slope, loc); });
}

}  // namespace sardonyx::eager
