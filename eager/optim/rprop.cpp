#include "eager/optim/rprop.h"

#include <cmath>

#include "eager/create.h"
#include "eager/optim/update_terms.h"

namespace sardonyx::eager::optim {

Rprop::Rprop(const Groups& groups) : Optimizer("Rprop") {
  require_groups(groups.size());
  for (const auto& [parameters, options] : groups) {
    require_within("eta_minus", options.eta_minus, 0, 1);
    require_within("eta_plus", options.eta_plus, 1, HUGE_VAL);
    require_within("min_step", options.min_step, 0, HUGE_VAL);
    require_within("max_step", options.max_step, options.min_step, HUGE_VAL);
    add_group(parameters, options.lr,
              {{.name = "step", .kind = StateSpec::Kind::kCount}, {"prev"}, {"step_size"}});
    options_.push_back(options);
  }
}

void Rprop::update(Update& u) {
  const RpropOptions& o = options_[u.group];
  Tensor &step = u.state("step"), &previous = u.state("prev"), &size = u.state("step_size");
  const Tensor gradient = o.maximize ? -u.gradient : u.gradient;
  const Tensor agreement = sign(gradient * previous);
  const Tensor factor =
      where(agreement > 0.0, o.eta_plus, where(agreement < 0.0, o.eta_minus, ones_like(size)));
  // The rate of the first step counts, whatever a schedule has made of it by then.
  size = clamp(where(step == 0, u.lr(), size) * factor, o.min_step, o.max_step);
  // An element whose gradient changed its sign waits for the next one.
  previous = where(agreement < 0.0, 0.0, gradient);
  u.parameter = u.parameter - sign(previous) * size;
  step = step + 1;
}

ASGD::ASGD(const Groups& groups) : Optimizer("ASGD") {
  require_groups(groups.size());
  for (const auto& [parameters, options] : groups) {
    require_within("weight_decay", options.weight_decay, 0, HUGE_VAL);
    const auto number = StateSpec::Kind::kNumber;
    add_group(parameters, options.lr,
              {{.name = "step", .kind = StateSpec::Kind::kCount},
               {.name = "eta", .initial = options.lr, .kind = number},
               {.name = "mu", .initial = 1, .kind = number},
               {"ax"}});
    options_.push_back(options);
  }
}

void ASGD::update(Update& u) {
  const AsgdOptions& o = options_[u.group];
  Tensor &step = u.state("step"), &eta = u.state("eta"), &mu = u.state("mu"), &mean = u.state("ax");
  const Tensor gradient = effective_gradient(u.parameter, u.gradient, o.weight_decay, o.maximize);
  const Tensor rate = where(step == 0, u.exact_lr(), eta);
  step = step + 1;
  u.parameter =
      u.parameter * as_factor(1 - o.lambd * rate, gradient) - as_factor(rate, gradient) * gradient;
  mean = mean + (u.parameter - mean) * as_factor(mu, gradient);
  const Tensor count = step.to(DType::kDouble);
  eta = u.exact_lr() / pow(1 + o.lambd * u.exact_lr() * count, o.alpha);
  mu = 1 / maximum(count - o.t0, 1.0);
}

}  // namespace sardonyx::eager::optim
