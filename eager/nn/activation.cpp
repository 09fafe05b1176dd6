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

Tensor GLU::forward(const Tensor& x) const {
  return glu(x, axis_, caller());
}

}  // namespace sardonyx::eager::nn
