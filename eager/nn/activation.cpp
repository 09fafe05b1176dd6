#include "eager/nn/activation.h"

#include "eager/create.h"
#include "eager/dispatch.h"

namespace sardonyx::eager::nn {

PReLU::PReLU(int64_t channels, double slope) {
  weight = parameter("weight", full({channels}, slope));
}

Tensor PReLU::forward(const Tensor& x) const {
  static const OpDef& op = op_named("PRelu");
  if (weight.size(0) == 1 || x.rank() < 2) return eager::apply(op, {x, weight}, caller());
  Dims shape(x.rank() - 1, 1);
  shape[0] = weight.size(0);
  return eager::apply(op, {x, weight.reshape(shape, caller())}, caller());
}

Tensor GLU::forward(const Tensor& x) const {
  const std::vector<Tensor> halves = chunk(x, 2, axis_, caller());
  return mul({halves[0], caller()}, sigmoid(halves[1], caller()));
}

}  // namespace sardonyx::eager::nn
