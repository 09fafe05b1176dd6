#include "models/linear_regression.h"

#include "eager/autograd/autograd.h"
#include "eager/create.h"
#include "eager/functional/functional.h"
#include "eager/trace/compile.h"

namespace sardonyx::models {
namespace {

using eager::Tensor;
using Tensors = std::vector<Tensor>;

constexpr double kRate = 0.5;

Tensor squared_error(const Tensor& slope, const Tensor& offset, const Tensor& x, const Tensor& y) {
  return eager::square(x * slope + offset - y).mean();
}

}  // namespace

Line fit_line(int steps) {
  const Tensor x = eager::linspace(-1, 1, 32), y = x * 2;
  const auto gradients = eager::grad(
      eager::Function([&](const Tensors& in) { return squared_error(in[0], in[1], x, y); }));
  Tensor slope = Tensor::scalar(0.f), offset = Tensor::scalar(1.f);
  for (int i = 0; i < steps; ++i) {
    const Tensors d = gradients({slope, offset});
    slope = slope - kRate * d[0];
    offset = offset - kRate * d[1];
  }
  return {slope.item<double>(), offset.item<double>()};
}

Line fit_line_compiled(int steps) {
  const Tensor x = eager::linspace(-1, 1, 32), y = x * 2;
  const Tensor slope = Tensor::scalar(0.f).set_requires_grad();
  const Tensor offset = Tensor::scalar(1.f).set_requires_grad();
  const eager::Compiled step = eager::compile([&](const Tensors& in) -> Tensors {
    const Tensor error = squared_error(slope, offset, in[0], in[1]);
    const Tensors d = eager::grad({error}, {slope, offset});
    slope.assign((slope - kRate * d[0]).detach());
    offset.assign((offset - kRate * d[1]).detach());
    return {error};
  });
  for (int i = 0; i < steps; ++i)
    (void)step({x, y});
  return {slope.item<double>(), offset.item<double>()};
}

}  // namespace sardonyx::models
