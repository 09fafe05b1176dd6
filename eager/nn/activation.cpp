#include "eager/nn/activation.h"

#include "eager/create.h"
#include "eager/dispatch/dispatch.h"
#include "eager/nn/module_state.h"

namespace sardonyx::eager::nn {

PReLU::PReLU(int64_t channels, double slope, Loc loc) {
  if (channels <= 0) fail_at(loc, "PReLU: expected a positive number of channels, got ", channels);
  weight = parameter("weight", full({channels}, slope));
}

Tensor PReLU::forward(const Tensor& x) const {
  detail::require_registered(*this, {{"weight", weight}});
  return prelu(x, weight, caller());
}

Tensor rrelu(const Tensor& x, double lower, double upper, bool training, Loc loc) {
  require_defined(x, "rrelu", "x", loc);
  if (!(lower <= upper) || !is_floating(x.dtype())) {
    fail_at(loc, "rrelu: expected floating elements and lower <= upper, got ", x.type(), ", ",
            lower, " and ", upper);
  }
  if (!training) return leaky_relu(x, (lower + upper) / 2, loc);
  const Tensor shares = rand(x.shape(loc), {.dtype = x.dtype()}, loc);
  const Tensor slopes = add({mul({shares, loc}, upper - lower), loc}, lower);
  return where(Operand(x, loc) < 0, {mul({x, loc}, slopes), loc}, x);
}

Tensor GLU::forward(const Tensor& x) const {
  return glu(x, axis_, caller());
}

}  // namespace sardonyx::eager::nn
