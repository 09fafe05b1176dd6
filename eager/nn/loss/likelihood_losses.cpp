#include "eager/nn/loss/likelihood_losses.h"

#include <cmath>
#include <numbers>

#include "eager/dispatch/dispatch.h"
#include "eager/functional/functional.h"
#include "eager/nn/loss/loss_parts.h"
#include "eager/trace/frame.h"

namespace sardonyx::eager::nn {

// The least variance is put in without a gradient, as torch does.
Tensor gaussian_nll_loss(const Tensor& input, const Tensor& given, const Tensor& variance,
                         GaussianNllOptions options, Loc loc) {
  const Tensor target = of_one_shape(input, given, "gaussian_nll_loss", loc);
  require_defined(variance, "gaussian_nll_loss", "the variance", loc);
  const Tensor low = Operand(variance.detach(), loc) < options.eps;
  const Tensor raised =
      sub({where(low, {options.eps, loc}, variance.detach()), loc}, variance.detach());
  const Tensor safe = add({variance, loc}, raised);
  const Tensor errors = square(sub({input, loc}, target), loc);
  Tensor losses = mul({add({log(safe, loc), loc}, div({errors, loc}, safe)), loc}, 0.5);
  if (options.full) losses = add({losses, loc}, 0.5 * std::log(2 * std::numbers::pi));
  return reduced(losses, options.reduction, loc);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& given, PoissonNllOptions options,
                        Loc loc) {
  const Tensor target = of_one_shape(input, given, "poisson_nll_loss", loc);
  const Tensor rate = options.log_input ? exp(input, loc) : input;
  const Tensor logs = options.log_input ? input : log(add({input, loc}, options.eps), loc);
  Tensor losses = sub({rate, loc}, mul({target, loc}, logs));
  if (options.full) {
    const Tensor counts = Operand(target, loc) > 1;
    const Tensor n = where(counts, {target, loc}, 1);
    const Tensor roots = mul({log(mul({n, loc}, 2 * std::numbers::pi), loc), loc}, 0.5);
    const Tensor stirling = add({sub({mul({n, loc}, log(n, loc)), loc}, n), loc}, roots);
    losses = add({losses, loc}, where(counts, {stirling, loc}, 0));
  }
  return reduced(losses, options.reduction, loc);
}

}  // namespace sardonyx::eager::nn
